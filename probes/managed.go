package probes

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// managed is the ladder of a connection that rdma_cm makes, the only way on
// iWARP: a listener on the netdev's own address, and a connection to it.
func (l *ladder) managed() {
	l.out.Path.ByCM = true
	if !l.opened() || !l.queued() || !l.registered() {
		return
	}
	l.ceiling()
	if l.port.State != verbs.PortActive {
		l.skip("connections", "the port is %s, not ACTIVE", portState(l.port.State))
		return
	}
	if l.par.Address == "" {
		l.skip("connections", "the netdev has no address that a listener could be bound to")
		return
	}
	s := l.usual(verbs.RC)
	p, err := l.joined(way{}, s, l.told)
	if err != nil {
		return
	}
	if !l.transfers(p, way{}, s) {
		p.close()
		return
	}
	l.messages(p)
	l.step("disconnect", func(*facts.ProbeStep) error {
		p.close()
		return nil
	})
	l.refusals(way{}, p)
	l.step("dereg-mr", func(*facts.ProbeStep) error { return l.mem.mr.Close() })
}

// connectLimit is for each step of rdma_cm.
const connectLimit = 5 * time.Second

// half is one end of a connection of rdma_cm, which opens the device itself.
type half struct {
	id *verbs.CMID
	pd *verbs.PD
	cq *verbs.CQ
	mr *verbs.MR
	qp *verbs.QP
}

// equip makes what a queue pair of the ID needs, and the queue pair. Both ends
// do it at once: it changes nothing of the ladder.
func (l *ladder) equip(h *half, channel bool) (err error) {
	dev := h.id.Context()
	if dev == nil {
		return &facts.StepError{Call: "rdma_create_qp", Text: "rdma_cm has bound the connection to no device"}
	}
	if h.pd, err = dev.AllocPD(); err != nil {
		return err
	}
	var ch *verbs.CompChannel
	if channel {
		if ch, err = dev.CreateCompChannel(); err != nil {
			return err
		}
	}
	if h.cq, err = dev.CreateCQ(queueDepth, ch); err != nil {
		return err
	}
	if h.mr, err = h.pd.RegMR(l.mem.mem, uint64(l.mem.page), uint64(2*l.mem.page), l.access()); err != nil {
		return err
	}
	n := queueDepth / 2
	h.qp, err = h.id.CreateQP(h.pd, verbs.QPInit{Type: verbs.RC, SendCQ: h.cq, RecvCQ: h.cq, SignalAll: true,
		Caps: verbs.QPCaps{MaxSendWR: n, MaxRecvWR: n, MaxSendSGE: 1, MaxRecvSGE: 1}})
	return err
}

// joined makes a pair by rdma_cm.
func (l *ladder) joined(_ way, _ settings, do making) (*pair, error) {
	var ear *verbs.CMListener
	req, rsp := &half{}, &half{}
	cq, rq, managers := l.cq, l.rq, l.managers
	undo := func() {
		l.events()
		for _, h := range []*half{req, rsp} {
			if h.id != nil {
				_ = h.id.Close()
			}
		}
		if ear != nil {
			_ = ear.Close()
		}
		l.cq, l.rq, l.managers = cq, rq, managers
	}
	if err := l.join(&ear, req, rsp, do); err != nil {
		undo()
		return nil, err
	}
	l.cq, l.rq = req.cq, rsp.cq
	return &pair{req: req.qp, rsp: rsp.qp, local: req.mr, remote: rsp.mr, pd: rsp.pd, undo: undo}, nil
}

// join makes the steps of a connection to ourselves.
func (l *ladder) join(ear **verbs.CMListener, req, rsp *half, do making) error {
	at, err := netip.ParseAddr(l.par.Address)
	if err != nil {
		return do("listen", "responder", func(*facts.ProbeStep) error { return err })
	}
	if err := do("listen", "responder", func(s *facts.ProbeStep) (err error) {
		if err := l.lib.CMErr(); err != nil {
			return err
		}
		if *ear, err = l.lib.CMListen(netip.AddrPortFrom(at, 0)); err == nil {
			s.Detail = fmt.Sprintf("%s port %d", at, (*ear).Port())
		}
		return err
	}); err != nil {
		return err
	}
	if err := do("resolve-addr", "requester", func(s *facts.ProbeStep) (err error) {
		if req.id, err = l.lib.NewCMID(); err != nil {
			return err
		}
		if err := req.id.ResolveAddr(l.ctx, connectLimit, at, netip.AddrPortFrom(at, (*ear).Port())); err != nil {
			return err
		}
		if dev := req.id.Context(); dev != nil {
			l.managers = append(l.managers, dev)
			s.Detail = "on " + facts.LinkName(dev.Name(), req.id.Port())
		}
		return nil
	}); err != nil {
		return err
	}
	if err := do("resolve-route", "requester", func(*facts.ProbeStep) error {
		return req.id.ResolveRoute(l.ctx, connectLimit)
	}); err != nil {
		return err
	}
	if err := do("create-qp", "requester", func(*facts.ProbeStep) error { return l.equip(req, true) }); err != nil {
		return err
	}
	return l.meet(*ear, req, rsp, do)
}

// meet connects while the other end accepts. Its steps are told after those of
// the end that connects, since they overlap.
func (l *ladder) meet(ear *verbs.CMListener, req, rsp *half, do making) error {
	type late struct {
		name string
		step facts.ProbeStep
		err  error
	}
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	var accepted []late
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, s := range []struct {
			name string
			run  func() error
		}{
			{"connect-request", func() (err error) { rsp.id, err = ear.Request(ctx, connectLimit); return err }},
			{"create-qp", func() error { return l.equip(rsp, false) }},
			{"accept", func() error {
				return rsp.id.Accept(ctx, connectLimit, verbs.CMParam{ResponderResources: 1, InitiatorDepth: 1, RNRRetryCount: 7})
			}},
		} {
			begun := time.Now()
			err := s.run()
			accepted = append(accepted, late{s.name, facts.ProbeStep{Time: time.Since(begun)}, err})
			if err != nil {
				return
			}
		}
	}()
	err := do("connect", "requester", func(*facts.ProbeStep) error {
		err := req.id.Connect(l.ctx, connectLimit, verbs.CMParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 7, RNRRetryCount: 7})
		if err != nil {
			cancel() // Nobody comes any more.
		}
		<-done
		return err
	})
	<-done
	if rsp.id != nil && rsp.id.Context() != nil {
		l.managers = append(l.managers, rsp.id.Context())
	}
	for _, a := range accepted {
		if e := do(a.name, "responder", func(s *facts.ProbeStep) error {
			s.Time = a.step.Time
			return a.err
		}); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// terminated waits for how an iWARP peer refuses: the connection is ended, which
// shows as an event or as the queue pair's state, after the request completed.
func (l *ladder) terminated(p *pair) error {
	for end := time.Now().Add(arrivalLimit / 4); time.Now().Before(end) && l.ctx.Err() == nil; time.Sleep(time.Millisecond) {
		names := l.events()
		state := p.req.State()
		if len(names) == 0 && state != verbs.QPStateErr {
			continue
		}
		e := &facts.StepError{Call: "ibv_query_qp", Text: "the peer ended the connection"}
		if state != verbs.QPStateUnknown {
			e.QPState = state.String()
		}
		if len(names) > 0 {
			e.Call, e.Event = "ibv_get_async_event", names[0]
		}
		return e
	}
	return nil // What became of the memory tells.
}
