package probes

import (
	"cmp"
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// way is how a queue pair reaches the port: what may be varied when it does
// not.
type way struct {
	gid    int
	global bool
	mtu    int
	pkey   int
}

// pair are two queue pairs of one port, connected to each other, with the
// regions that they use. The regions are the same where both ends are of one
// protection domain, as they are unless rdma_cm made them.
type pair struct {
	req, rsp      *verbs.QP
	local, remote *verbs.MR
	pd            *verbs.PD // of the responder
	undo          func()    // closes what rdma_cm has made; nil without it
}

func (p *pair) close() {
	if p.undo != nil {
		p.undo()
		return
	}
	for _, q := range []*verbs.QP{p.req, p.rsp} {
		if q != nil {
			_ = q.Close()
		}
	}
}

// making says how the steps of a pair are made: told one by one, or silently.
type making func(name, role string, f func(*facts.ProbeStep) error) error

// told makes each step one of the ladder.
func (l *ladder) told(name, role string, f func(*facts.ProbeStep) error) error {
	if !l.stepFor(name, role, transferLimit+arrivalLimit, f) {
		if l.ctx.Err() != nil {
			return l.ctx.Err()
		}
		return l.out.Steps[len(l.out.Steps)-1].Error
	}
	return nil
}

// silent makes the steps of a try that is one step in itself. The error says
// which of them failed.
func silent(failed *string) making {
	return func(name, _ string, f func(*facts.ProbeStep) error) error {
		err := f(&facts.ProbeStep{})
		if err != nil {
			*failed = name
		}
		return err
	}
}

// settings are what a pair has beside its way.
type settings struct {
	service  verbs.QPType
	timeout  int // local ACK timeout, 4.096 us * 2^n
	retry    int
	rnrRetry int
	rnrTimer int
	access   verbs.Access // of the responder's queue pair
}

// usual is what perftest takes: 67 ms and seven retries.
func (l *ladder) usual(service verbs.QPType) settings {
	return settings{service: service, timeout: 14, retry: 7, rnrRetry: 7, rnrTimer: 12, access: l.access()}
}

// connect makes a pair. What was made of it is closed when it fails.
func (l *ladder) connect(w way, s settings, do making) (*pair, error) {
	p := &pair{local: l.mem.mr, remote: l.mem.mr, pd: l.pd}
	if err := l.connectPair(p, w, s, do); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (l *ladder) connectPair(p *pair, w way, s settings, do making) error {
	roles := []struct {
		name string
		qp   **verbs.QP
		cq   *verbs.CQ
	}{{"requester", &p.req, l.cq}, {"responder", &p.rsp, l.rq}}
	for _, r := range roles {
		if err := do("create-qp", r.name, func(st *facts.ProbeStep) (err error) {
			*r.qp, err = l.createQP(s.service, r.cq, 0)
			if err == nil {
				st.Detail = fmt.Sprintf("QPN %#x", (*r.qp).Num())
			}
			return err
		}); err != nil {
			return err
		}
	}
	for _, r := range roles {
		if err := do("init", r.name, func(*facts.ProbeStep) error {
			return (*r.qp).ToInit(verbs.InitAttr{Port: l.par.Port, PKeyIndex: w.pkey, Access: s.access, QKey: qkey})
		}); err != nil {
			return err
		}
	}
	gid, err := l.dev.QueryGID(l.par.Port, w.gid)
	if err != nil {
		gid = verbs.GID{} // The move to RTR says what is wrong with it.
	}
	others := map[*verbs.QP]*verbs.QP{p.req: p.rsp, p.rsp: p.req}
	for _, r := range []int{1, 0} { // The responder must be ready before anyone sends.
		q := *roles[r].qp
		if err := do("rtr", roles[r].name, func(*facts.ProbeStep) error {
			return q.ToRTR(verbs.RTRAttr{AH: l.address(w, gid), PathMTU: w.mtu, DestQPN: others[q].Num(), RQPSN: psn,
				MaxDestRdAtomic: 1, MinRNRTimer: s.rnrTimer})
		}); err != nil {
			return err
		}
	}
	for _, r := range []int{1, 0} {
		q := *roles[r].qp
		if err := do("rts", roles[r].name, func(*facts.ProbeStep) error {
			return q.ToRTS(verbs.RTSAttr{SQPSN: psn, Timeout: s.timeout, RetryCnt: s.retry, RNRRetry: s.rnrRetry, MaxRdAtomic: 1})
		}); err != nil {
			return err
		}
	}
	return nil
}

const (
	psn  = 0x424242
	qkey = 0x11111111
)

func (l *ladder) createQP(service verbs.QPType, cq *verbs.CQ, inline int) (*verbs.QP, error) {
	n := queueDepth / 2
	if l.attr.MaxQPWR > 0 {
		n = min(n, l.attr.MaxQPWR)
	}
	return l.pd.CreateQP(verbs.QPInit{Type: service, SendCQ: cq, RecvCQ: cq, SignalAll: true,
		Caps: verbs.QPCaps{MaxSendWR: n, MaxRecvWR: n, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: inline}})
}

// address is the way to the port itself.
func (l *ladder) address(w way, gid verbs.GID) verbs.AHAttr {
	a := verbs.AHAttr{Port: l.par.Port, SL: uint8(l.par.SL), Global: w.global, HopLimit: 64}
	if l.port.LinkLayer != verbs.LinkLayerEthernet {
		a.DLID = l.port.LID
	}
	if w.global {
		a.DGID, a.SGIDIndex, a.TrafficClass = gid, w.gid, uint8(l.par.TClass)
	}
	return a
}

// firstWay is the way that was asked for.
func (l *ladder) firstWay() way {
	return way{gid: l.par.GIDIndex, global: l.par.Transport != "InfiniBand", mtu: cmp.Or(l.par.PathMTU, l.port.ActiveMTU), pkey: l.par.PkeyIndex}
}

// describe notes the way that the ladder takes.
func (l *ladder) describe(w way, s settings) {
	p := &l.out.Path
	p.PathMTU, p.PkeyIndex, p.ServiceLevel = w.mtu, facts.Some(w.pkey), facts.Some(l.par.SL)
	if s.service == verbs.RC {
		p.Timeout, p.RetryCount = facts.Some(s.timeout), facts.Some(s.retry)
	}
	if l.port.LinkLayer != verbs.LinkLayerEthernet {
		p.DLID = facts.Some(int(l.port.LID))
	}
	if w.global {
		p.SGIDIndex, p.TrafficClass = facts.Some(w.gid), facts.Some(l.par.TClass)
		if gid, err := l.dev.QueryGID(l.par.Port, w.gid); err == nil && gid != (verbs.GID{}) {
			p.SGID, p.DGID = gid.String(), gid.String()
		}
	}
}

// completion waits for what the requester posted. A completion without its
// event is an interrupt that never came.
func (l *ladder) completion(q *verbs.QP, op string) error {
	wc, err := l.cq.WaitEvent(l.ctx, transferLimit)
	if err != nil {
		late, ok, perr := l.cq.Poll()
		if perr != nil || !ok {
			return err
		}
		return &facts.StepError{Call: "ibv_get_cq_event", TimedOut: true,
			Text: fmt.Sprintf("%s: the completion is there (status %d) and its event never came: interrupts of the device do not arrive", op, int(late.Status))}
	}
	return l.ofWC(q, wc, op)
}

func (l *ladder) ofWC(q *verbs.QP, wc verbs.WC, op string) error {
	if wc.Status == verbs.WCSuccess {
		return nil
	}
	return &verbs.WCError{Op: op, Status: wc.Status, VendorErr: wc.VendorErr, QPN: wc.QPN, QPState: q.State()}
}

// received waits for what the responder receives.
func (l *ladder) received(q *verbs.QP, limit time.Duration) (verbs.WC, error) {
	wc, err := l.rq.Wait(l.ctx, limit)
	if err != nil {
		return wc, err
	}
	return wc, l.ofWC(q, wc, "receive")
}

// drain forgets what is left in the completion queues.
func (l *ladder) drain() {
	for _, cq := range []*verbs.CQ{l.cq, l.rq} {
		for range 4 * queueDepth {
			if _, ok, err := cq.Poll(); !ok || err != nil {
				break
			}
		}
	}
}
