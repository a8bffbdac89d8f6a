package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// far is the worker that does what the near one asks.
type far struct {
	pair *Peer
	lib  *verbs.Library
	tell Reporter

	side  side
	other *endpoint
	steps []facts.ProbeStep // of this request
	began time.Time
	loop  *farLoop
	ear   *verbs.CMListener
}

// idle is how long the near worker may say nothing: as long as a measurement
// of its own takes.
const idle = maxPeerTime + 30*time.Second

func (f *far) run(ctx context.Context) error {
	f.began = time.Now()
	f.side = side{pair: f.pair, lib: f.lib, role: "responder",
		step:  func(s facts.ProbeStep) { f.steps = append(f.steps, s) },
		begin: func(name string) { f.tell.Begin(name, idle) }}
	defer f.side.close()
	defer f.halt()
	defer func() {
		if f.ear != nil {
			_ = f.ear.Close()
		}
	}()
	for {
		f.tell.Begin("wait for the near worker", idle)
		rctx, cancel := context.WithTimeout(ctx, idle)
		text, err := f.tell.Receive(rctx)
		cancel()
		if err != nil {
			return fmt.Errorf("wait for the near worker: %w", err)
		}
		var r request
		if err := json.Unmarshal(text, &r); err != nil {
			return fmt.Errorf("request of the near worker: %w: %w", errPeer, err)
		}
		f.steps = nil
		if r.Go {
			f.begin(ctx)
			continue
		}
		a := f.answer(ctx, &r)
		a.Steps, a.Events = f.steps, f.side.events(f.began)
		for _, s := range a.Steps {
			a.Failed = a.Failed || s.Error != nil
		}
		if text, err = json.Marshal(a); err != nil {
			return err
		}
		if err := f.tell.Send(text); err != nil {
			return fmt.Errorf("answer the near worker: %w", err)
		}
		if r.End {
			return nil
		}
	}
}

func (f *far) answer(ctx context.Context, r *request) *reply {
	refuse := func(format string, args ...any) *reply { return &reply{Refused: fmt.Sprintf(format, args...)} }
	s := &f.side
	switch {
	case r.Listen:
		return f.listen()
	case r.Accept:
		return f.accept(ctx)
	case r.Open == nil && !r.End && s.mr == nil:
		return refuse("nothing is open")
	case r.Connect != nil && s.id != nil:
		return refuse("it is connected by rdma_cm")
	case r.End:
		return &reply{}
	case r.Open != nil:
		if s.ctx != nil {
			return refuse("it is open")
		}
		s.open()
		return &reply{MTU: s.port.ActiveMTU}
	case r.Connect != nil:
		c := r.Connect
		if !isMTU(c.PathMTU) || !c.Near.inRange() {
			return refuse("a connection like that is none")
		}
		index := f.pair.GIDIndex
		if c.Other && len(f.pair.Others) > 0 {
			index = f.pair.Others[0]
		}
		f.other = &c.Near
		if !s.create(len(c.Near.QPNs)) || !s.connectTo(f.other, c.PathMTU, index) {
			return &reply{}
		}
		e := s.endpoint(index)
		return &reply{Far: &e}
	case r.Fill != nil:
		if r.Fill.Bytes < 0 || r.Fill.Bytes > peerMemory {
			return refuse("%d bytes", r.Fill.Bytes)
		}
		b := s.mem.Bytes()[:r.Fill.Bytes]
		if r.Fill.Compare {
			return &reply{Same: holdsPattern(b, r.Fill.Seed)}
		}
		fillPattern(b, r.Fill.Seed)
		return &reply{Same: true}
	case s.qps == nil:
		return refuse("nothing is connected")
	case r.Receive != nil:
		if r.Receive.Count < 1 || r.Receive.Count > peerWR || r.Receive.Bytes < 1 || r.Receive.Bytes > peerMemory {
			return refuse("%d receives of %d bytes", r.Receive.Count, r.Receive.Bytes)
		}
		s.do("post-recv", func(st *facts.ProbeStep) error {
			st.Bytes = r.Receive.Bytes
			for i := range r.Receive.Count {
				if err := s.qps[0].PostRecv(uint64(i), s.mr, 0, uint32(r.Receive.Bytes)); err != nil {
					return err
				}
			}
			return nil
		})
		f.hide()
		return &reply{}
	case r.Await != nil:
		s.do("recv", func(st *facts.ProbeStep) error {
			wc, err := s.recv.Wait(ctx, min(max(r.Await.Time, 0), transferTime))
			if err != nil {
				return err
			}
			st.Bytes = int(wc.ByteLen)
			return s.completed(wc, "receive")
		})
		return &reply{}
	case r.Prepare != nil:
		if err := r.Prepare.check(); err != nil {
			return refuse("%v", err)
		}
		if len(s.qps) != r.Prepare.QPs {
			return refuse("%d QPs are connected, not %d", len(s.qps), r.Prepare.QPs)
		}
		return f.prepare(r.Prepare)
	case r.Finish:
		return f.finish()
	}
	return refuse("nothing is asked")
}

// hide leaves a step out that no ladder lists, unless it failed.
func (f *far) hide() {
	if n := len(f.steps); n > 0 && f.steps[n-1].Error == nil {
		f.steps = f.steps[:n-1]
	}
}

// inRange reports whether numbers of the other end fit where they go.
func (e *endpoint) inRange() bool {
	for _, n := range e.QPNs {
		if n > 0xffffff {
			return false
		}
	}
	return len(e.QPNs) > 0 && len(e.QPNs) <= maxPeerQPs && e.PSN <= 0xffffff && e.ReadDepth >= 0 && e.ReadDepth <= 255
}
