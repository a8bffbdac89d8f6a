package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// cmTime is for each step of a connection by rdma_cm. The kernel asks for a
// neighbour three times, a second apart.
const cmTime = 8 * time.Second

// climbCM makes the ladder of a connection by rdma_cm: the far end listens on
// the address of its port, for this connection alone.
func (n *near) climbCM(ctx context.Context) error {
	n.ladder.Path.ByCM = true
	a, err := n.ask(ctx, &request{Listen: true}, askTime)
	if err != nil {
		return err
	}
	src, _ := netip.ParseAddr(n.pair.Address)
	dst, err := netip.ParseAddr(n.pair.PeerAddress)
	if err != nil || a.Port == 0 {
		return fmt.Errorf("%w: no address to connect to", errPeer)
	}
	s := &n.side
	if !s.do("resolve-addr", func(st *facts.ProbeStep) (err error) {
		if s.id, err = n.lib.NewCMID(); err != nil {
			return err
		}
		if err = s.id.ResolveAddr(ctx, cmTime, src, netip.AddrPortFrom(dst, a.Port)); err == nil && s.id.Context() != nil {
			st.Detail = "on " + facts.LinkName(s.id.Context().Name(), s.id.Port())
		}
		return err
	}) || !s.do("resolve-route", func(*facts.ProbeStep) error { return s.id.ResolveRoute(ctx, cmTime) }) || !s.equip() {
		return stopped{}
	}
	if err := n.send(&request{Accept: true}); err != nil {
		return err
	}
	connected := s.do("connect", func(*facts.ProbeStep) error { return s.id.Connect(ctx, cmTime, s.param()) })
	// The far end has its own limit, so its answer comes in any case.
	rctx, cancel := context.WithTimeout(ctx, 3*cmTime)
	defer cancel()
	text, err := n.tell.Receive(rctx)
	if err != nil {
		return fmt.Errorf("wait for the far worker: %w", err)
	}
	var far reply
	if err := json.Unmarshal(text, &far); err != nil || len(text) > maxReply {
		return fmt.Errorf("answer of the far worker: %w", errPeer)
	}
	for _, st := range far.Steps {
		st.Role = "responder"
		s.step(st)
	}
	if !connected || far.Failed {
		return stopped{}
	}
	if far.Far == nil || !far.Far.inRange() || far.Far.Length < peerMemory {
		return fmt.Errorf("answer of the far worker: %w: no endpoint", errPeer)
	}
	n.other = far.Far
	if q, err := s.qps[0].Query(); err == nil && n.pair.Transport != "iWARP" {
		n.ladder.Path.PathMTU = q.PathMTU
	}
	n.show()
	for _, t := range n.transfers() {
		if err := n.transfer(ctx, t); err != nil {
			return err
		}
	}
	if !s.do("disconnect", func(*facts.ProbeStep) error { return s.id.Disconnect(ctx, cmTime) }) {
		return stopped{}
	}
	return nil
}

// param is what an end asks of a connection.
func (s *side) param() verbs.CMParam {
	return verbs.CMParam{ResponderResources: readDepth(s.attr.MaxQPRdAtom), InitiatorDepth: readDepth(s.attr.MaxQPInitRdAtom),
		RetryCount: peerRetries, RNRRetryCount: 6}
}

// equip makes what the QP of a connection by rdma_cm needs on the device that
// rdma_cm has chosen, and the QP.
func (s *side) equip() bool {
	s.ctx = s.id.Context()
	if s.ctx == nil {
		return s.do("open", func(*facts.ProbeStep) error {
			return &facts.StepError{Call: "rdma_create_qp", Text: "rdma_cm has bound the connection to no device"}
		})
	}
	return s.objects() && s.do("create-qp", func(*facts.ProbeStep) error {
		n := min(peerWR, max(s.attr.MaxQPWR, 1))
		q, err := s.id.CreateQP(s.pd, verbs.QPInit{Type: verbs.RC, SendCQ: s.send, RecvCQ: s.recv, Caps: verbs.QPCaps{MaxSendWR: n, MaxRecvWR: n}})
		if err == nil {
			s.qps = []*verbs.QP{q}
		}
		return err
	})
}

// listen waits for connections at the address of the far port.
func (f *far) listen() *reply {
	if f.ear != nil || f.side.ctx != nil {
		return &reply{Refused: "it listens, or is open"}
	}
	at, err := netip.ParseAddr(f.pair.Address)
	if !f.side.do("listen", func(st *facts.ProbeStep) error {
		if err != nil {
			return &facts.StepError{Call: "rdma_bind_addr", Text: "the far port's netdev has no address to listen on"}
		}
		if f.ear, err = f.lib.CMListen(netip.AddrPortFrom(at, 0)); err == nil {
			st.Detail = fmt.Sprintf("%v port %d", at, f.ear.Port())
		}
		return err
	}) {
		return &reply{}
	}
	return &reply{Port: f.ear.Port()}
}

// accept waits for the near end's connection and takes it.
func (f *far) accept(ctx context.Context) *reply {
	s := &f.side
	if f.ear == nil || s.id != nil {
		return &reply{Refused: "nothing listens"}
	}
	ok := s.do("connect-request", func(*facts.ProbeStep) (err error) {
		s.id, err = f.ear.Request(ctx, cmTime)
		return err
	}) && s.equip() && s.do("accept", func(*facts.ProbeStep) error { return s.id.Accept(ctx, cmTime, s.param()) })
	if !ok {
		return &reply{}
	}
	e := s.endpoint(f.pair.GIDIndex)
	return &reply{Far: &e}
}
