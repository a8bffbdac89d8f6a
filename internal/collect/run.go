package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// Options shape a run.
type Options struct {
	Origin   facts.Origin
	Interval time.Duration // between the samples; 0 takes one sample only
	// Progress is told what happens; it may be nil.
	Progress func(step, text string)
	// Only names the sources to read; empty reads all.
	Only []facts.Source
}

// Run reads the host. It always returns a snapshot: what could not be read
// within ctx, or at all, is in its gaps.
func Run(ctx context.Context, h hostio.Host, opt Options) *facts.Snapshot {
	say := opt.Progress
	if say == nil {
		say = func(string, string) {}
	}
	s := &facts.Snapshot{Schema: facts.SchemaVersion, Origin: opt.Origin, Sources: []facts.Source{}}
	began := map[facts.Source]time.Time{}
	s.Taken = time.Now()
	var times []time.Time
	if r, ok := h.(hostio.Replayed); ok {
		if times = r.Times(); len(times) > 0 {
			s.Taken = times[0]
		}
	}
	cs := All()
	asked := &once{host: h, answers: map[string]hostio.Result{}}
	for _, c := range cs {
		if len(opt.Only) > 0 && !slices.Contains(opt.Only, c.Source) {
			continue
		}
		say("collect", string(c.Source))
		if c.Again != nil {
			began[c.Source] = time.Now()
		}
		(&Reader{ctx: ctx, host: asked, src: c.Source, Snap: s}).run(c.Read)
	}
	if second(ctx, h, s, times, opt.Interval, say) {
		asked.next()
		s.Elapsed = map[facts.Source]time.Duration{}
		if r, ok := h.(interface {
			Elapsed() map[facts.Source]time.Duration
		}); ok {
			maps.Copy(s.Elapsed, r.Elapsed())
		}
		for _, c := range cs {
			if c.Again == nil || !s.Has(c.Source) {
				continue
			}
			say("sample", string(c.Source))
			if times == nil {
				s.Elapsed[c.Source] = time.Since(began[c.Source])
			}
			(&Reader{ctx: ctx, host: asked, src: c.Source, Snap: s}).run(c.Again)
		}
	}
	order(s)
	eachPort(s, func(d *facts.Device, p *facts.Port) {
		if c := facts.ChooseGIDs(p); facts.RoCE(d, p) && c != (facts.GIDChoice{}) {
			p.Choice = facts.Some(c)
		}
	})
	return s
}

// Details of the gap that a collector leaves which had no turn any more.
const (
	RunTimeOver    = "the time of the run was over"
	RunInterrupted = "the run was interrupted"
)

// Hostname is the name in a uname answer, "" where there is none.
func Hostname(res hostio.Result) string {
	var u hostio.Uname
	if res.Err() != nil || json.Unmarshal(res.Data, &u) != nil {
		return ""
	}
	return u.Nodename
}

// run calls one half of a collector unless the run's time is over.
func (r *Reader) run(f func(*Reader)) {
	if err := r.ctx.Err(); err != nil {
		detail := RunInterrupted
		if errors.Is(err, context.DeadlineExceeded) {
			detail = RunTimeOver
		}
		r.gap(string(r.src), facts.Timeout, detail)
		return
	}
	f(r)
}

// second waits for the second sample and reports whether there is one.
func second(ctx context.Context, h hostio.Host, s *facts.Snapshot, times []time.Time, interval time.Duration, say func(string, string)) bool {
	sampler, sampled := h.(hostio.Sampler)
	if times != nil {
		if len(times) < 2 || !sampler.NextSample() {
			return false
		}
		s.Interval = times[1].Sub(times[0])
		return s.Interval > 0
	}
	if interval <= 0 || s.Origin == facts.Tree {
		return false
	}
	say("wait", "for the second sample, "+interval.String())
	t := time.NewTimer(interval)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
	}
	if sampled && !sampler.NextSample() {
		return false
	}
	s.Interval = time.Since(s.Taken)
	return true
}

// order makes equal hosts give equal snapshots.
func order(s *facts.Snapshot) {
	slices.Sort(s.Sources)
	slices.SortFunc(s.Devices, func(a, b facts.Device) int { return cmp.Compare(a.Name, b.Name) })
	for i := range s.Devices {
		slices.SortFunc(s.Devices[i].Ports, func(a, b facts.Port) int { return cmp.Compare(a.Number, b.Number) })
	}
	slices.SortFunc(s.Netdevs, func(a, b facts.Netdev) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(s.CharDevs, func(a, b facts.CharDev) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(s.PCI, func(a, b facts.PCIFunction) int { return cmp.Compare(a.Address, b.Address) })
	slices.SortFunc(s.Modules, func(a, b facts.Module) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortStableFunc(s.Gaps, func(a, b facts.Gap) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.What, b.What))
	})
}
