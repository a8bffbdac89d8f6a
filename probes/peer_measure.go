package probes

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// measureAll makes all measurements. One that fails does not keep the others
// from being tried, since each has fresh QPs.
func (n *near) measureAll(ctx context.Context) error {
	for i := range n.pair.Tests {
		if err := n.measure(ctx, &n.pair.Tests[i]); err != nil {
			return err
		}
	}
	return nil
}

// name is a test in words: "bandwidth write 65536 B out".
func (t *PeerTest) name() string {
	s := fmt.Sprintf("%s %s %d B", t.Probe, t.Op, t.Size)
	if t.Direction != "" {
		s += " " + t.Direction
	}
	if t.QPs > 1 {
		s += fmt.Sprintf(" %d QPs", t.QPs)
	}
	return s
}

// trial is the first try of a measurement, which says how many iterations fill
// its time. Its figures are warm-up.
const (
	latencyTrial = 200
	flowTrial    = 32 // messages a QP, at least a depth
)

func (n *near) measure(ctx context.Context, t *PeerTest) error {
	m := t.Measurement(n.pair)
	before := len(n.ladder.Steps)
	err := n.connect(ctx, t.QPs)
	path := n.ladder.Path
	m.Path = &path
	if err == nil {
		err = n.figures(ctx, t, m)
	}
	if _, early := err.(stopped); early {
		n.failed(m, before)
		err = nil
	}
	if m.Failed != nil {
		text := m.Failed.Text
		m.Error = &text
	}
	if err == nil || m.Failed != nil {
		n.tell.Measurement(m)
	}
	return err
}

// Measurement is that of the test before it is made.
func (t *PeerTest) Measurement(p *Peer) *facts.Measurement {
	return &facts.Measurement{Probe: t.Probe, Local: p.Local, Remote: p.Remote, Op: t.Op, SizeBytes: t.Size, Depth: t.Depth, QPs: t.QPs,
		Direction: t.Direction, Mode: t.Mode, Samples: []float64{}, Moved: []facts.CounterMove{}}
}

// failed takes why there is no figure from the steps since before.
func (n *near) failed(m *facts.Measurement, before int) {
	for _, s := range n.ladder.Steps[before:] {
		if s.Error != nil {
			m.Failed = s.Error
		}
	}
}

// unmeasured tells that nothing could be measured, and why.
func (n *near) unmeasured() {
	for i := range n.pair.Tests {
		m := n.pair.Tests[i].Measurement(n.pair)
		n.failed(m, 0)
		text := "the ports could not be opened"
		if m.Failed != nil {
			text = m.Failed.Text
		}
		m.Error = &text
		n.tell.Measurement(m)
	}
}

// figures runs the trial and then what is measured.
func (n *near) figures(ctx context.Context, t *PeerTest, m *facts.Measurement) error {
	trial := *t
	trial.Count = min(t.Count, latencyTrial)
	if t.Probe == "bandwidth" || t.Probe == "message-rate" {
		trial.Count = min(t.Count, max(flowTrial, t.Depth))
	}
	began := time.Now()
	near, far, err := n.once(ctx, &trial)
	if err != nil || n.broke(m, near, far) {
		return err
	}
	took := max(near.Took, far.Took)
	if took <= 0 {
		took = time.Since(began)
	}
	real := *t
	real.Count = int(min(float64(t.Count), max(float64(trial.Count), float64(t.Time)/float64(max(took, 1))*float64(trial.Count))))
	if err := n.connect(ctx, t.QPs); err != nil {
		return err
	}
	if near, far, err = n.once(ctx, &real); err != nil || n.broke(m, near, far) {
		return err
	}
	m.Iterations = real.Count
	n.fill(m, &real, near, far)
	return nil
}

// once runs both ends' parts one time.
func (n *near) once(ctx context.Context, t *PeerTest) (near, far *loopResult, err error) {
	l, err := n.side.loopOf(t, n.other, true)
	if err != nil {
		return nil, nil, err
	}
	if err := l.Prepare(); err != nil {
		return &loopResult{Error: stepError("ibv_post_recv", err)}, &loopResult{}, nil
	}
	if _, err := n.ask(ctx, &request{Prepare: t}, askTime); err != nil {
		return nil, nil, err
	}
	n.tell.Begin(t.name(), t.Time+2*loopSlack)
	if err := n.send(&request{Go: true}); err != nil {
		return nil, nil, err
	}
	near = &loopResult{}
	load := loadFromNow()
	if p := t.partOf(true); p != passive {
		near = runLoop(ctx, l, p)
	}
	// A far end that works alone has its end in itself.
	a, err := ask(ctx, n.tell, &request{Finish: true}, t.Time+2*loopSlack)
	if err != nil {
		return nil, nil, err
	}
	near.Load = load()
	if a.Result == nil {
		return nil, nil, fmt.Errorf("answer of the far worker: %w: no result", errPeer)
	}
	n.ladder.Events = append(n.ladder.Events, a.Events...)
	return near, a.Result, nil
}

// broke keeps why a loop ended early. This end's own error counts first: it
// is the requester's, or the far end only waited in vain.
func (n *near) broke(m *facts.Measurement, near, far *loopResult) bool {
	switch {
	case near.Error != nil && !near.Error.TimedOut:
		m.Failed = near.Error
	case far.Error != nil:
		m.Failed = far.Error
		m.Failed.Text = "at the far end: " + m.Failed.Text
	case near.Error != nil:
		m.Failed = near.Error
	}
	m.Events = n.side.events(n.began)
	m.Load = nil
	if near.Load != nil {
		m.Load = append(m.Load, *near.Load)
	}
	if far.Load != nil {
		h := *far.Load
		h.Host, _, _ = strings.Cut(n.pair.Remote, " ")
		m.Load = append(m.Load, h)
	}
	return m.Failed != nil
}

// fill puts figures into a measurement. The first tenth is warm-up.
func (n *near) fill(m *facts.Measurement, t *PeerTest, near, far *loopResult) {
	m.Bytes, m.Messages, m.Time, m.CPU = near.Bytes, near.Messages, near.Took, near.CPU
	samples := near.Rates
	switch {
	case t.Probe == "ordering":
		m.Unit, m.Violations, m.Messages = "violations", facts.Some(far.Violations), far.Checked
		return
	case t.Probe == "latency":
		m.Unit, samples = "ns", make([]float64, len(near.samples))
		for i, s := range near.samples {
			samples[i] = float64(s)
		}
	case t.partOf(true) == passive || t.partOf(true) == sink:
		// The end that posts knows when it was done.
		m.Bytes, m.Messages, m.Time, samples = far.Bytes, far.Messages, far.Took, far.Rates
	case t.Direction == "both":
		m.Bytes += far.Bytes
		m.Messages += far.Messages
		m.Time = max(near.Took, far.Took)
		for i := range min(len(samples), len(far.Rates)) {
			samples[i] += far.Rates[i]
		}
		samples = samples[:min(len(samples), len(far.Rates))]
	}
	if t.Probe == "bandwidth" {
		m.Unit = "bit/s"
	}
	if t.Probe == "message-rate" {
		m.Unit = "messages/s"
		for i := range samples {
			samples[i] /= float64(t.Size) * 8
		}
	}
	m.WarmUp = len(samples) / 10
	m.Samples = samples[m.WarmUp:]
	if len(m.Samples) == 0 && m.Time > 0 && t.Probe != "latency" {
		// Too short to be cut into windows: the whole is one sample.
		whole := float64(m.Bytes) * 8 / m.Time.Seconds()
		if t.Probe == "message-rate" {
			whole = float64(m.Messages) / m.Time.Seconds()
		}
		m.Samples, m.WarmUp = []float64{whole}, 0
	}
	m.Quantiles = Summarize(m.Samples)
}
