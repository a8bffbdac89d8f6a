package probes

import (
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// refusal is an access that must not succeed.
type refusal struct {
	name string
	op   verbs.Opcode
	// region makes the region that the responder gives out; nil takes the
	// ladder's own.
	region verbs.Access
	stale  bool // deregister it before it is used
	wrong  bool // use another key than its own
	beyond bool // begin in it and end outside
}

const (
	localWrite  = verbs.AccessLocalWrite
	remoteWrite = localWrite | verbs.AccessRemoteWrite
	remoteRead  = localWrite | verbs.AccessRemoteRead
	remoteBoth  = remoteWrite | verbs.AccessRemoteRead
)

var refusals = []refusal{
	{name: "wrong-rkey", op: verbs.OpRDMAWrite, region: remoteBoth, wrong: true},
	{name: "wrong-rkey", op: verbs.OpRDMARead, region: remoteBoth, wrong: true},
	{name: "stale-rkey", op: verbs.OpRDMAWrite, region: remoteBoth, stale: true},
	{name: "stale-rkey", op: verbs.OpRDMARead, region: remoteBoth, stale: true},
	{name: "out-of-range", op: verbs.OpRDMAWrite, region: remoteBoth, beyond: true},
	{name: "out-of-range", op: verbs.OpRDMARead, region: remoteBoth, beyond: true},
	{name: "no-remote-write", op: verbs.OpRDMAWrite, region: remoteRead},
	{name: "no-remote-read", op: verbs.OpRDMARead, region: remoteWrite},
	{name: "no-remote-atomic", op: verbs.OpFetchAdd, region: remoteBoth},
	{name: "no-receive", op: verbs.OpSend},
}

// opNames are how a step names an operation.
var opNames = map[verbs.Opcode]string{verbs.OpRDMAWrite: "write", verbs.OpRDMARead: "read", verbs.OpFetchAdd: "fetch-add", verbs.OpSend: "send"}

// refusals tries what must be refused, each with a pair of its own, since a
// refusal ends it. Where they were not asked for, that is said.
func (l *ladder) refusals(w way, _ *pair) {
	if !l.par.Refusals {
		l.skip("refusals", "the port is busy, or nobody asked: they raise error counters that alarms watch")
		return
	}
	l.out.Canary = facts.Some(false)
	for _, r := range refusals {
		switch {
		case r.op == verbs.OpFetchAdd && (!l.atomics() || l.iWARP()):
			continue
		case r.op == verbs.OpSend && l.iWARP():
			l.skip(r.name, "iWARP has no receiver-not-ready")
			continue
		}
		s := l.refused(r, func(s *facts.ProbeStep) error { return l.attempt(w, r, s) })
		if l.ctx.Err() != nil {
			return
		}
		if s.Error != nil && s.Error.TimedOut {
			l.skip("more refusals", "%s got no answer at all", s.Name)
			return
		}
	}
}

// refused makes and tells one step of those that must fail.
func (l *ladder) refused(r refusal, f func(*facts.ProbeStep) error) facts.ProbeStep {
	l.mem.wipe()
	pattern(l.mem.source(), 5) // What a write would leave behind.
	s := l.made(r.name, "", 2*transferLimit, func(s *facts.ProbeStep) error {
		s.Op = opNames[r.op]
		return f(s)
	})
	if l.ctx.Err() != nil {
		return s
	}
	if r.op != verbs.OpSend && !(l.mem.untouched() && l.mem.canaries()) {
		l.out.Canary = facts.Some(true)
		s.Detail = "memory was written that no access was allowed to"
	}
	l.out.Refused = append(l.out.Refused, s)
	l.tell.Step(l.id, true, s)
	return s
}

// attempt tries one access over a pair of its own. Its error is the refusal.
func (l *ladder) attempt(w way, r refusal, s *facts.ProbeStep) error {
	set := l.usual(verbs.RC)
	set.rnrRetry, set.rnrTimer = 1, 1 // Once more after 10 us, not for ever.
	var failed string
	join := l.connect
	if l.iWARP() {
		join = l.joined
	}
	p, err := join(w, set, silent(&failed))
	if err != nil {
		return fmt.Errorf("make a queue pair (%s): %w", failed, err)
	}
	defer p.close()
	defer l.drain()
	wr, done, err := l.aim(p, r, s)
	if err != nil {
		return err
	}
	defer done()
	begun := time.Now()
	defer func() { s.Time = time.Since(begun) }()
	if err := p.req.PostSend(wr); err != nil {
		return err
	}
	if err := l.completion(p.req, wr.Op.String()); err != nil || !l.iWARP() {
		return err
	}
	return l.terminated(p)
}

// aim makes the request, and the region that it aims at.
func (l *ladder) aim(p *pair, r refusal, s *facts.ProbeStep) (verbs.WR, func(), error) {
	s.Bytes = smallBytes
	if r.op == verbs.OpFetchAdd {
		s.Bytes = 8
	}
	wr := verbs.WR{Op: r.op, MR: p.local, Offset: uint64(l.mem.page), Length: uint32(s.Bytes), CompareAdd: 1}
	if r.op == verbs.OpSend {
		return wr, func() {}, nil
	}
	length := l.mem.page
	if r.beyond {
		length /= 2 // The rest of the page is where it must not get to.
	}
	mr, err := p.pd.RegMR(l.mem.mem, uint64(l.mem.page), uint64(length), r.region)
	if err != nil {
		return wr, nil, err
	}
	wr.RemoteAddr, wr.RKey = mr.Addr(), mr.RKey()
	if r.beyond {
		wr.RemoteAddr += uint64(length) - 8
	}
	if r.wrong {
		wr.RKey ^= 0x5a // The low byte is the key's own part on every device.
	}
	if r.stale {
		return wr, func() {}, mr.Close()
	}
	return wr, func() { _ = mr.Close() }, nil
}
