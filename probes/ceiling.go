package probes

import (
	"cmp"
	"slices"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// fineness is how near to the ceiling the search goes: 1/64 of it, or a page.
const fineness = 64

// ceiling registers more and more memory, until the cap or a refusal, and then
// looks for where between the two sizes it begins.
func (l *ladder) ceiling() {
	if l.par.MRMax < uint64(2*l.mem.page) {
		l.skip("registration of growing size", "no memory is to spare for it")
		return
	}
	size := uint64(l.mem.page)
	for size*2 <= l.par.MRMax {
		size *= 2
	}
	mem, err := l.lib.Alloc(size)
	if err != nil {
		l.skip("registration of growing size", "mapping %d bytes: %v", size, err)
		return
	}
	good, bad := uint64(0), uint64(0)
	for n := uint64(l.mem.page); n <= size && bad == 0; n *= 2 {
		good, bad = l.register(mem, n, good, bad)
	}
	for bad > 0 && bad-good > max(uint64(l.mem.page), good/fineness) {
		middle := (good + bad) / 2 / uint64(l.mem.page) * uint64(l.mem.page)
		good, bad = l.register(mem, middle, good, bad)
		if l.ctx.Err() != nil {
			break
		}
	}
	slices.SortStableFunc(l.out.Regions, func(a, b facts.Registration) int { return cmp.Compare(a.Bytes, b.Bytes) })
	if err := mem.Close(); err != nil {
		l.tell.Log("unmap: %v", err)
	}
}

// register tries one size and moves the bounds.
func (l *ladder) register(mem *verbs.Memory, n, good, bad uint64) (uint64, uint64) {
	l.tell.Begin("reg-mr", registerLimit)
	r := facts.Registration{Bytes: int(n)}
	mr, err := l.pd.RegMR(mem, 0, n, localWrite)
	if err == nil {
		r.Register = mr.Took()
		begun := time.Now()
		err = mr.Close()
		r.Deregist = time.Since(begun)
	}
	r.Error = stepError("ibv_reg_mr", err)
	l.out.Regions = append(l.out.Regions, r)
	if l.events(); err != nil {
		return good, n
	}
	return n, bad
}
