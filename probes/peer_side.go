package probes

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// side is one worker's end of a pair.
type side struct {
	pair *Peer
	lib  *verbs.Library
	role string
	// step takes each step when it has ended.
	step func(facts.ProbeStep)
	// begin is told before each step.
	begin func(name string)

	id         *verbs.CMID // of a connection by rdma_cm, which has opened the device
	ctx        *verbs.Context
	attr       verbs.DeviceAttr
	port       verbs.PortAttr
	pd         *verbs.PD
	send, recv *verbs.CQ
	mem        *verbs.Memory
	mr         *verbs.MR
	qps        []*verbs.QP
	psn        uint32
}

const (
	peerCQEntries = 4096
	peerWR        = 256 // posted on a QP
	// peerTimeout is the local ACK timeout: 4.096 us * 2^14 is 67 ms, so silence is
	// known after half a second.
	peerTimeout = 14
	peerRetries = 7
)

// do makes a step and reports it. It returns whether it succeeded.
func (s *side) do(name string, f func(*facts.ProbeStep) error) bool {
	s.begin(name)
	st := peerStep(name, f)
	st.Role = s.role
	s.step(st)
	return st.Error == nil
}

// open makes all that does not depend on the other end.
func (s *side) open() bool {
	return s.do("open", func(*facts.ProbeStep) (err error) {
		s.ctx, err = s.lib.Open(s.pair.Device)
		return err
	}) && s.objects()
}

// objects makes what does not depend on the other end, on an open device.
func (s *side) objects() bool {
	return s.do("query-device", func(st *facts.ProbeStep) (err error) {
		s.attr, err = s.ctx.QueryDevice()
		return err
	}) && s.do("query-port", func(st *facts.ProbeStep) (err error) {
		s.port, err = s.ctx.QueryPort(s.pair.Port)
		st.Detail = fmt.Sprintf("state %d, active MTU %d", s.port.State, s.port.ActiveMTU)
		return err
	}) && s.do("alloc-pd", func(*facts.ProbeStep) (err error) {
		s.pd, err = s.ctx.AllocPD()
		return err
	}) && s.do("create-cq", func(*facts.ProbeStep) error {
		entries := min(peerCQEntries, max(s.attr.MaxCQE, 1))
		// Loops that sleep wait on one channel for both.
		ch, err := s.ctx.CreateCompChannel()
		if err != nil {
			return err
		}
		if s.send, err = s.ctx.CreateCQ(entries, ch); err == nil {
			s.recv, err = s.ctx.CreateCQ(entries, ch)
		}
		return err
	}) && s.do("reg-mr", func(st *facts.ProbeStep) (err error) {
		st.Bytes = peerMemory
		if s.mem, err = s.lib.Alloc(peerMemory); err != nil {
			return err
		}
		s.mr, err = s.pd.RegMR(s.mem, 0, s.mem.Len(), s.access())
		return err
	})
}

// close gives everything back.
func (s *side) close() {
	switch {
	case s.id != nil:
		_ = s.id.Close()
	case s.ctx != nil:
		_ = s.ctx.Close()
	}
	if s.mem != nil {
		_ = s.mem.Close()
	}
}

// create makes n QPs in INIT, in place of those before.
func (s *side) create(n int) bool {
	for _, q := range s.qps {
		_ = q.Close()
	}
	s.qps = nil
	s.drain()
	var b [4]byte
	_, _ = rand.Read(b[:])
	s.psn = binary.LittleEndian.Uint32(b[:]) & 0xffffff
	return s.do("create-qp", func(st *facts.ProbeStep) error {
		for range n {
			q, err := s.createOne()
			if err != nil {
				return err
			}
			s.qps = append(s.qps, q)
		}
		c := s.qps[0].Caps()
		st.Detail = fmt.Sprintf("max_send_wr %d, max_recv_wr %d, max_inline_data %d", c.MaxSendWR, c.MaxRecvWR, c.MaxInlineData)
		return nil
	}) && s.do("init", func(*facts.ProbeStep) error {
		return s.each(func(q *verbs.QP) error {
			return q.ToInit(verbs.InitAttr{Port: s.pair.Port, PKeyIndex: s.pair.PKeyIndex, Access: s.access()})
		})
	})
}

// createOne makes a QP that sends inline what perftest does, where the provider
// has room for that.
func (s *side) createOne() (*verbs.QP, error) {
	n := min(peerWR, max(s.attr.MaxQPWR, 1))
	init := verbs.QPInit{Type: verbs.RC, SendCQ: s.send, RecvCQ: s.recv, Caps: verbs.QPCaps{MaxSendWR: n, MaxRecvWR: n, MaxInlineData: verbs.InlineSend}}
	q, err := s.pd.CreateQP(init)
	if err != nil {
		init.Caps.MaxInlineData = 0
		q, err = s.pd.CreateQP(init)
	}
	return q, err
}

func (s *side) access() verbs.Access {
	a := verbs.AccessLocalWrite | verbs.AccessRemoteWrite | verbs.AccessRemoteRead
	if s.attr.AtomicCap > 0 {
		a |= verbs.AccessRemoteAtomic
	}
	return a
}

// each does the same with all QPs.
func (s *side) each(f func(*verbs.QP) error) error {
	for _, q := range s.qps {
		if err := f(q); err != nil {
			return err
		}
	}
	return nil
}

// drain throws completions of a QP that is gone away.
func (s *side) drain() {
	for _, cq := range []*verbs.CQ{s.send, s.recv} {
		for range 2 * peerCQEntries {
			if _, ok, err := cq.Poll(); !ok || err != nil {
				break
			}
		}
	}
}

// endpoint is what the other end must know.
func (s *side) endpoint(gidIndex int) endpoint {
	e := endpoint{PSN: s.psn, LID: s.port.LID, ActiveMTU: s.port.ActiveMTU, ReadDepth: readDepth(s.attr.MaxQPRdAtom),
		Addr: s.mr.Addr(), RKey: s.mr.RKey(), Length: s.mr.Len(), Atomics: s.attr.AtomicCap > 0}
	for _, q := range s.qps {
		e.QPNs = append(e.QPNs, q.Num())
	}
	e.GID, _ = s.ctx.QueryGID(s.pair.Port, gidIndex) // An empty one fails when it is used.
	return e
}

func readDepth(most int) int { return min(max(most, 1), 16) }

// connectTo brings the QPs from INIT to RTS with the other end's.
func (s *side) connectTo(other *endpoint, mtu, gidIndex int) bool {
	return s.do("rtr", func(*facts.ProbeStep) error { return s.toRTR(other, mtu, gidIndex) }) &&
		s.do("rts", func(*facts.ProbeStep) error { return s.toRTS(other) })
}

func (s *side) toRTR(other *endpoint, mtu, gidIndex int) error {
	ah := verbs.AHAttr{Port: s.pair.Port, DLID: other.LID, SL: uint8(s.pair.SL)}
	if s.pair.Global {
		ah.Global, ah.DGID, ah.SGIDIndex, ah.HopLimit, ah.TrafficClass = true, other.GID, gidIndex, 64, uint8(s.pair.TrafficClass)
	}
	for i, q := range s.qps {
		if err := q.ToRTR(verbs.RTRAttr{AH: ah, PathMTU: mtu, DestQPN: other.QPNs[i], RQPSN: other.PSN,
			MaxDestRdAtomic: readDepth(s.attr.MaxQPRdAtom), MinRNRTimer: 12}); err != nil {
			return err
		}
	}
	return nil
}

func (s *side) toRTS(other *endpoint) error {
	// What finds no receive is tried again for ever where rates are measured, as
	// perftest does, and is an error where a single message is.
	rnr := 7
	if s.pair.Ladder {
		rnr = 6
	}
	rts := verbs.RTSAttr{SQPSN: s.psn, Timeout: peerTimeout, RetryCnt: peerRetries, RNRRetry: rnr,
		MaxRdAtomic: min(readDepth(s.attr.MaxQPInitRdAtom), max(other.ReadDepth, 1))}
	return s.each(func(q *verbs.QP) error { return q.ToRTS(rts) })
}

// transfer posts a work request and waits for its completion.
func (s *side) transfer(ctx context.Context, w verbs.WR) error {
	if err := s.qps[0].PostSend(w); err != nil {
		return err
	}
	wc, err := s.send.Wait(ctx, transferTime)
	if err != nil {
		return err
	}
	return s.completed(wc, w.Op.String())
}

// completed is nil or what a completion says, with the state that the QP is in
// then.
func (s *side) completed(wc verbs.WC, op string) error {
	if wc.Status == verbs.WCSuccess {
		return nil
	}
	return &verbs.WCError{Op: op, Status: wc.Status, VendorErr: wc.VendorErr, QPN: wc.QPN, QPState: s.qps[0].State()}
}

// events takes the asynchronous events that are waiting.
func (s *side) events(since time.Time) []facts.AsyncEvent {
	if s.ctx == nil {
		return nil
	}
	var all []facts.AsyncEvent
	for range 64 {
		e, err := s.ctx.AsyncEvent()
		if err != nil {
			break
		}
		subject := s.pair.Device
		switch {
		case e.Type.OfPort():
			subject = facts.LinkName(s.pair.Device, e.Port)
		case e.Type.OfQP():
			subject = fmt.Sprintf("qp %#x", e.QPN)
		}
		if e.Type == verbs.EventCommEst || e.Type == verbs.EventLastWQEReach {
			continue // Of every connection.
		}
		all = append(all, facts.AsyncEvent{Name: "IBV_EVENT_" + e.Type.String(), Subject: subject, After: time.Since(since)})
	}
	return all
}

// How long the parts of a pair may take. A transfer that gets no answer is
// retried for 8 times 4 times the timeout at most before it fails by itself.
const (
	transferTime = 8 * time.Second
	askTime      = 10 * time.Second
	openTime     = 20 * time.Second
)
