package probes

import (
	"context"
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// loopResult is what one end's loop counted.
type loopResult struct {
	Bytes      uint64           `json:"bytes,omitempty"`
	Messages   uint64           `json:"messages,omitempty"`
	Took       time.Duration    `json:"took_nanos,omitempty"`
	CPU        time.Duration    `json:"cpu_nanos,omitempty"`
	Rates      []float64        `json:"rates,omitempty"` // bits per second, one after the other
	Checked    uint64           `json:"checked,omitempty"`
	Violations uint64           `json:"violations,omitempty"`
	Error      *facts.StepError `json:"error,omitempty"`
	Load       *facts.HostLoad  `json:"load,omitempty"`

	samples []time.Duration // of this end
}

var peerOps = map[string]verbs.Opcode{"write": verbs.OpRDMAWrite, "read": verbs.OpRDMARead, "send": verbs.OpSend}

// part is what an end does in a measurement.
type part int

const (
	passive  part = iota // nothing: its memory is written or read
	pingPong             // latency, both ends alternating
	reader               // latency, this end alone
	stream               // posts as fast as it can
	sink                 // receives
	orderOut             // writes payload and flag
	orderIn              // watches the flag
)

// partOf is what the near or far end does.
func (t *PeerTest) partOf(near bool) part {
	out := t.Direction == "out" || t.Direction == "both"
	in := t.Direction == "in" || t.Direction == "both"
	if !near {
		out, in = in, out
	}
	switch {
	case t.Probe == "ordering" && near:
		return orderOut
	case t.Probe == "ordering":
		return orderIn
	case t.Probe == "latency" && t.Op == "read" && near:
		return reader
	case t.Probe == "latency" && t.Op == "read":
		return passive
	case t.Probe == "latency":
		return pingPong
	case t.Op == "read": // The end that the payload goes to asks for it.
		out, in = in, out
		if out {
			return stream
		}
		return passive
	case out:
		return stream
	case in && t.Op == "send":
		return sink
	}
	return passive
}

// loopOf is the loop of either end, on the QPs that are connected.
func (s *side) loopOf(t *PeerTest, other *endpoint, near bool) (verbs.Loop, error) {
	op, ok := peerOps[t.Op]
	if !ok {
		return verbs.Loop{}, fmt.Errorf("%w: operation %q", errPeer, t.Op)
	}
	room := verbs.LaneBytes(t.Size)
	if 2*room*uint64(t.QPs) > peerMemory {
		return verbs.Loop{}, fmt.Errorf("%w: %d QPs with %d bytes need more memory than there is", errPeer, t.QPs, t.Size)
	}
	l := verbs.Loop{Op: op, Size: t.Size, Iterations: t.Count, Depth: min(t.Depth, peerWR/2), RxDepth: peerWR, Events: t.Mode == "event",
		Initiator: near, Limit: t.Time + loopSlack}
	if t.Mode == "few-receives" {
		l.RxDepth = fewReceives
	}
	l.RxDepth = max(min(l.RxDepth, peerCQEntries/t.QPs), 1)
	l.InlineMax = verbs.InlineWrite
	if t.Op == "send" {
		l.InlineMax = verbs.InlineSend
	}
	for i, q := range s.qps {
		at := 2 * room * uint64(i)
		l.Lanes = append(l.Lanes, verbs.Lane{QP: q, MR: s.mr, SendOffset: at, RecvOffset: at + room, RemoteAddr: other.Addr + at + room, RKey: other.RKey})
	}
	return l, nil
}

const (
	// loopSlack is what a loop may take longer than planned.
	loopSlack   = 10 * time.Second
	fewReceives = 1
)

// runLoop runs an end's part.
func runLoop(ctx context.Context, l verbs.Loop, p part) *loopResult {
	r := &loopResult{}
	var err error
	switch p {
	case pingPong, reader:
		var lat verbs.Latency
		lat, err = l.Latency(ctx)
		r.samples, r.Took, r.Messages = lat.Samples, lat.Took, uint64(len(lat.Samples))
		r.Bytes = r.Messages * uint64(l.Size)
	case stream, sink:
		var flow verbs.Flow
		if p == stream {
			flow, err = l.Stream(ctx)
		} else {
			flow, err = l.Sink(ctx)
		}
		r.Messages, r.Bytes, r.Took, r.CPU = flow.Messages, flow.Bytes, flow.Took, flow.CPU
		r.Rates = rates(flow, l.Size)
	case orderOut:
		err = l.OrderWriter(ctx)
	case orderIn:
		var o verbs.Ordering
		o, err = l.OrderReader(ctx)
		r.Checked, r.Violations = o.Checked, o.Violations
	}
	r.Error = stepError("ibv_poll_cq", err)
	return r
}

// windows is into how many pieces of time a flow is cut.
const windows = 20

// rates are the rates of the windows of a flow.
func rates(f verbs.Flow, size int) []float64 {
	if f.Took <= 0 || len(f.Marks) == 0 {
		return nil
	}
	every := f.Took / windows
	var all []float64
	var last verbs.Mark
	for _, m := range f.Marks {
		if d := m.After - last.After; d >= every && d > 0 && m.Messages >= last.Messages {
			all = append(all, float64(m.Messages-last.Messages)*float64(size)*8/d.Seconds())
			last = m
		}
	}
	return all
}

// farLoop is a loop of the far end.
type farLoop struct {
	loop   verbs.Loop
	part   part
	cancel context.CancelFunc
	done   chan *loopResult
	load   func() *facts.HostLoad
}

// prepare makes the loop of a test ready.
func (f *far) prepare(t *PeerTest) *reply {
	f.halt()
	l, err := f.side.loopOf(t, f.other, false)
	if err != nil {
		return &reply{Refused: err.Error()}
	}
	p := t.partOf(false)
	f.side.do("prepare", func(*facts.ProbeStep) error { return l.Prepare() })
	f.hide()
	f.loop = &farLoop{loop: l, part: p}
	return &reply{}
}

// begin starts the loop that is prepared.
func (f *far) begin(ctx context.Context) {
	if f.loop == nil || f.loop.done != nil {
		return
	}
	l := f.loop
	l.done, l.load = make(chan *loopResult, 1), loadFromNow()
	if l.part == passive {
		l.done <- &loopResult{}
		l.cancel = func() {}
		return
	}
	ctx, l.cancel = context.WithCancel(ctx)
	go func() { l.done <- runLoop(ctx, l.loop, l.part) }()
}

// finish waits for the loop, which has its end in itself unless the near end's
// part failed.
func (f *far) finish() *reply {
	l := f.loop
	if l == nil || l.done == nil {
		return &reply{Result: &loopResult{}}
	}
	f.loop = nil
	defer l.cancel()
	wait := finishTime
	if l.part == stream || l.part == orderIn {
		wait = l.loop.Limit // The near end may only have waited for it.
	}
	patience := time.NewTimer(wait)
	defer patience.Stop()
	var r *loopResult
	select {
	case r = <-l.done:
	case <-patience.C:
		l.cancel()
		r = <-l.done
	}
	r.Load = l.load()
	return &reply{Result: r}
}

// loadFromNow gives what the processors of this host do until it is called.
func loadFromNow() func() *facts.HostLoad {
	// A process that runs itself again is called exe.
	own := []string{"rdmadoctor", "exe"}
	before, err := ReadLoad("/proc", own...)
	return func() *facts.HostLoad {
		after, err2 := ReadLoad("/proc", own...)
		if err != nil || err2 != nil {
			return nil
		}
		h := after.Since(before)
		return &h
	}
}

// finishTime is how long the far end's loop may go on when the near end's is
// over.
const finishTime = 3 * time.Second

// halt ends a loop that nobody waits for.
func (f *far) halt() {
	if l := f.loop; l != nil && l.done != nil {
		l.cancel()
		<-l.done
	}
	f.loop = nil
}
