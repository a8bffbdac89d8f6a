package probes

import (
	"context"
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// near is the worker that asks.
type near struct {
	pair *Peer
	lib  *verbs.Library
	tell Reporter

	side   side
	other  *endpoint
	ladder facts.Ladder
	began  time.Time
	mtu    int // of the path
	gid    int // index in use
	seed   byte
	// trying is set while attributes are varied: its steps are no ladder's.
	trying bool
	last   *facts.StepError // of what was tried
}

const peerLadder = 1 // the ID of the ladder

// stopped is the error of a ladder that goes no further; why is in its steps.
type stopped struct{}

func (stopped) Error() string { return "the ladder ended early" }

func (n *near) run(ctx context.Context) error {
	n.began = time.Now()
	n.ladder = facts.Ladder{Probe: "pair", Local: n.pair.Local, Remote: n.pair.Remote,
		Path: facts.Path{Transport: n.pair.Transport, Service: "RC", Netdev: n.pair.Netdev,
			Timeout: facts.Some(peerTimeout), RetryCount: facts.Some(peerRetries), PkeyIndex: facts.Some(n.pair.PKeyIndex)}}
	if n.pair.Global {
		n.ladder.Path.TrafficClass = facts.Some(n.pair.TrafficClass)
	} else {
		n.ladder.Path.ServiceLevel = facts.Some(n.pair.SL)
	}
	n.show()
	n.side = side{pair: n.pair, lib: n.lib, role: "requester",
		step: func(s facts.ProbeStep) {
			if n.trying {
				if s.Error != nil {
					n.last = s.Error
				}
				return
			}
			n.ladder.Steps = append(n.ladder.Steps, s)
			if n.pair.Ladder {
				n.tell.Step(peerLadder, false, s)
			}
		},
		begin: func(name string) { n.tell.Begin(name, openTime) }}
	defer n.side.close()
	err := n.climb(ctx)
	n.ladder.Events = append(n.ladder.Events, n.side.events(n.began)...)
	n.ladder.Time = time.Since(n.began)
	_, early := err.(stopped)
	if early || err == nil {
		n.ladder.End.Outcome = facts.Completed
	}
	n.show()
	switch {
	case early && !n.pair.Ladder:
		n.unmeasured()
		err = nil
	case early:
		err = nil
	case err == nil:
		err = n.measureAll(ctx)
	}
	// The far worker must not wait for more, whatever became of this.
	if ctx.Err() == nil {
		_, end := ask(ctx, n.tell, &request{End: true}, askTime)
		if err == nil {
			err = end
		}
	}
	return err
}

// ask puts a request and keeps the steps that were made for it.
func (n *near) ask(ctx context.Context, r *request, limit time.Duration) (*reply, error) {
	n.tell.Begin("the far worker's part", limit+time.Second)
	a, err := ask(ctx, n.tell, r, limit)
	if err != nil {
		return nil, err
	}
	for _, s := range a.Steps {
		s.Role = "responder"
		n.side.step(s)
	}
	n.ladder.Events = append(n.ladder.Events, a.Events...)
	if a.Failed {
		return a, stopped{}
	}
	return a, nil
}

// climb makes the ladder.
func (n *near) climb(ctx context.Context) error {
	if n.pair.CM {
		return n.climbCM(ctx)
	}
	if !n.side.open() {
		return stopped{}
	}
	n.limits()
	a, err := n.ask(ctx, &request{Open: &openRequest{}}, openTime)
	if err != nil {
		return err
	}
	n.gid, n.mtu = n.pair.GIDIndex, n.pair.PathMTU
	if n.mtu == 0 {
		n.mtu = n.side.port.ActiveMTU
		if isMTU(a.MTU) {
			n.mtu = min(n.mtu, a.MTU)
		}
	}
	if !n.pair.Ladder {
		return nil
	}
	switch err := n.connect(ctx, 1); err.(type) {
	case nil:
	case stopped:
		return n.varyConnect(ctx, err)
	default:
		return err
	}
	for _, t := range n.transfers() {
		switch err := n.transfer(ctx, t); err.(type) {
		case nil:
		case stopped:
			return n.varyTransfer(ctx, t, err)
		default:
			return err
		}
	}
	return nil
}

func (n *near) limits() {
	a := n.side.attr
	names := []string{"IBV_ATOMIC_NONE", "IBV_ATOMIC_HCA", "IBV_ATOMIC_GLOB"}
	n.ladder.Limits = facts.DeviceLimits{MaxQP: a.MaxQP, MaxQPWR: a.MaxQPWR, MaxCQ: a.MaxCQ, MaxCQE: a.MaxCQE, MaxMR: a.MaxMR,
		MaxMRBytes: a.MaxMRSize, MaxPD: a.MaxPD, MaxQPRDAtom: a.MaxQPRdAtom}
	if a.AtomicCap >= 0 && a.AtomicCap < len(names) {
		n.ladder.Limits.AtomicCap = names[a.AtomicCap]
	}
}

// connect connects fresh QPs of both ends, with the path MTU and GID index in
// use.
func (n *near) connect(ctx context.Context, qps int) error {
	if !n.side.create(qps) {
		return stopped{}
	}
	e := n.side.endpoint(n.gid)
	n.path(e)
	a, err := n.ask(ctx, &request{Connect: &connectRequest{Near: e, PathMTU: n.mtu, Other: n.gid != n.pair.GIDIndex}}, openTime)
	if err != nil {
		return err
	}
	if a.Far == nil || !a.Far.inRange() || a.Far.Length < peerMemory || len(a.Far.QPNs) != qps {
		return fmt.Errorf("answer of the far worker: %w: no endpoint", errPeer)
	}
	n.other = a.Far
	n.path(e)
	if !n.side.connectTo(n.other, n.mtu, n.gid) {
		return stopped{}
	}
	return nil
}

// path says how the packets go. What is tried afterwards is no longer the path.
func (n *near) path(e endpoint) {
	if n.trying {
		return
	}
	p := &n.ladder.Path
	p.PathMTU = n.mtu
	if n.pair.Global {
		p.SGIDIndex, p.SGID = facts.Some(n.gid), e.GID.String()
		if n.other != nil {
			p.DGID = n.other.GID.String()
		}
	}
	if n.other != nil && n.other.LID != 0 {
		p.DLID = facts.Some(int(n.other.LID))
	}
	n.show()
}

// show tells the ladder as far as it is known, where one is asked for.
func (n *near) show() {
	if n.pair.Ladder {
		n.tell.Ladder(peerLadder, &n.ladder)
	}
}
