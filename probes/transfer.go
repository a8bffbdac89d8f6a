package probes

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

const smallBytes = 64

// operation is one transfer of a connected pair, with its data checked.
type operation struct {
	name  string
	bytes int
	run   func(l *ladder, p *pair, s *facts.ProbeStep) error
}

// transfers moves data every way. Each is tried small and as large as a page:
// what a network drops for its size passes the first and not the second.
func (l *ladder) transfers(p *pair, w way, s settings) bool {
	large := l.mem.page
	ops := []operation{
		{"write", smallBytes, write}, {"write", large, write},
		{"read", smallBytes, read}, {"read", large, read},
		{"send", smallBytes, send}, {"send", large, send},
	}
	switch {
	case l.par.Transport == "iWARP":
		l.skip("atomics", "iWARP has none")
	case !l.atomics():
		l.skip("atomics", "the device has none")
	default:
		ops = append(ops, operation{"fetch-add", 8, fetchAdd}, operation{"cmp-swap", 8, compareSwap})
	}
	for _, op := range ops {
		ok := l.step(op.name, func(st *facts.ProbeStep) error {
			st.Bytes = op.bytes
			return op.run(l, p, st)
		})
		if !ok {
			l.varyTransfer(w, s, op)
			return false
		}
	}
	return true
}

// post sends one request from the source page to the target page and waits for
// it.
func (l *ladder) post(p *pair, op verbs.Opcode, n int) error {
	if err := l.request(p, op, n); err != nil {
		return err
	}
	return l.completion(p.req, op.String())
}

func (l *ladder) request(p *pair, op verbs.Opcode, n int) error {
	return p.req.PostSend(verbs.WR{Op: op, MR: p.local, Offset: uint64(l.mem.page), Length: uint32(n),
		RemoteAddr: p.remote.Addr(), RKey: p.remote.RKey()})
}

func write(l *ladder, p *pair, s *facts.ProbeStep) error {
	l.mem.wipe()
	want := l.mem.source()[:s.Bytes]
	pattern(want, 1)
	if err := l.post(p, verbs.OpRDMAWrite, s.Bytes); err != nil {
		return err
	}
	return l.verify(s, l.mem.target()[:s.Bytes], want)
}

func read(l *ladder, p *pair, s *facts.ProbeStep) error {
	l.mem.wipe()
	want := l.mem.target()[:s.Bytes]
	pattern(want, 2)
	if err := l.post(p, verbs.OpRDMARead, s.Bytes); err != nil {
		return err
	}
	return l.verify(s, l.mem.source()[:s.Bytes], want)
}

func send(l *ladder, p *pair, s *facts.ProbeStep) error {
	l.mem.wipe()
	want := l.mem.source()[:s.Bytes]
	pattern(want, 3)
	if err := p.rsp.PostRecv(1, p.remote, 0, uint32(s.Bytes)); err != nil {
		return err
	}
	if err := l.post(p, verbs.OpSend, s.Bytes); err != nil {
		return err
	}
	wc, err := l.received(p.rsp, arrivalLimit)
	if err != nil {
		return err
	}
	if int(wc.ByteLen) != s.Bytes {
		return &facts.StepError{Call: "ibv_poll_cq", Text: fmt.Sprintf("the receive says %d bytes, %d were sent", wc.ByteLen, s.Bytes)}
	}
	return l.verify(s, l.mem.target()[:s.Bytes], want)
}

// verify compares what arrived with what was sent. Bytes on the way, as on
// iWARP after a write, are waited for.
func (l *ladder) verify(s *facts.ProbeStep, got, want []byte) error {
	s.Verified = facts.Some(arrives(l.ctx, got, want))
	if s.Verified.Or(false) {
		return nil
	}
	i := 0
	for i < len(want)-1 && got[i] == want[i] {
		i++
	}
	return &facts.StepError{Call: s.Name, Text: fmt.Sprintf("byte %d of %d is %#02x, %#02x was sent", i, len(want), got[i], want[i])}
}

// What the atomics work on.
const (
	initial = 0x0102030405060708
	added   = 0x1111
	swapped = 0x77665544332211
)

func fetchAdd(l *ladder, p *pair, s *facts.ProbeStep) error {
	l.mem.wipe()
	binary.NativeEndian.PutUint64(l.mem.target(), initial)
	return l.atomic(p, s, verbs.WR{Op: verbs.OpFetchAdd, CompareAdd: added}, initial+added)
}

func compareSwap(l *ladder, p *pair, s *facts.ProbeStep) error {
	l.mem.wipe()
	binary.NativeEndian.PutUint64(l.mem.target(), initial)
	return l.atomic(p, s, verbs.WR{Op: verbs.OpCompSwap, CompareAdd: initial, Swap: swapped}, swapped)
}

// atomic carries out one atomic and checks what it gave back and left.
func (l *ladder) atomic(p *pair, s *facts.ProbeStep, wr verbs.WR, after uint64) error {
	wr.MR, wr.Offset, wr.Length = p.local, uint64(l.mem.page), 8
	wr.RemoteAddr, wr.RKey = p.remote.Addr(), p.remote.RKey()
	if err := p.req.PostSend(wr); err != nil {
		return err
	}
	if err := l.completion(p.req, wr.Op.String()); err != nil {
		return err
	}
	want := binary.NativeEndian.AppendUint64(nil, initial)
	if err := l.verify(s, l.mem.source()[:8], want); err != nil {
		return err
	}
	return l.verify(s, l.mem.target()[:8], binary.NativeEndian.AppendUint64(nil, after))
}

// untouched reports whether nothing was written to the target page.
func (b *buffers) untouched() bool {
	return bytes.Count(b.target(), []byte{nothing}) == b.page
}
