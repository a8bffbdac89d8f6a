package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/compare"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/peer"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
	"github.com/rdmadoctor/rdmadoctor/probes"
)

// pairRun is one probe of this host against another.
type pairRun struct {
	program         *program
	flags           *hostFlags
	near            *farHost // this host, as its peer would see it
	askNear, askFar probes.Ask
	ticket          *peer.Ticket

	far   *peer.Peer
	name  string // of the far host
	snap  *facts.Snapshot
	match *probes.Match
	send  func(report.Message)
}

func (r *pairRun) close() {
	if r.far != nil {
		_ = r.far.Close()
	}
}

func (r *pairRun) say(format string, args ...any) {
	r.send(report.Message{Progress: &report.Progress{Step: "probe", Text: fmt.Sprintf(format, args...)}})
}

// probe is what doctor runs between reading this host and judging it.
func (r *pairRun) probe(ctx context.Context, snap *facts.Snapshot, send func(report.Message)) {
	r.snap, r.send = snap, send
	r.name = hostOf(r.flags.host)
	switch {
	case r.flags.plan:
		l := r.ladder(facts.ProbeEnd{Outcome: facts.NotRun, Detail: "--plan: nothing was run"})
		l.Planned = probes.PeerLadderParts()
		for _, t := range r.tests() {
			l.Planned = append(l.Planned, t.Load())
		}
		snap.Ladders = append(snap.Ladders, l)
		return
	case !verbs.Supported:
		snap.Ladders = append(snap.Ladders, r.ladder(facts.ProbeEnd{Outcome: facts.Unavailable, Detail: verbs.ErrUnsupported.Error()}))
		return
	}
	if err := r.meet(ctx); err != nil {
		if ctx.Err() == nil {
			r.explain(err)
		}
		snap.Ladders = append(snap.Ladders, r.ladder(failedEnd(ctx, err)))
		return
	}
	var err error
	if r.match, err = probes.MatchPorts(snap, snap.Peer, r.askNear, r.askFar); err != nil {
		snap.Ladders = append(snap.Ladders, r.ladder(facts.ProbeEnd{Outcome: facts.NotRun, Detail: err.Error()}))
		return
	}
	for _, p := range []probes.Planned{r.match.Near, r.match.Far} {
		if p.Skip != "" {
			snap.Ladders = append(snap.Ladders, r.ladder(facts.ProbeEnd{Outcome: facts.NotRun,
				Detail: facts.LinkName(p.Params.Device, p.Params.Port) + ": " + p.Skip}))
			return
		}
	}
	r.say("%s against %s: %s", r.local(), r.remote(), r.match.Why)
	connected := false
	if r.match.Near.Params.Transport != "iWARP" { // It has no way but rdma_cm.
		connected = r.climb(ctx, false)
	}
	if ctx.Err() == nil && r.match.NearAddress().IsValid() && r.match.PeerAddress().IsValid() && !r.gone() {
		r.climb(ctx, true)
	}
	if connected && !r.flags.ladderOnly {
		r.measure(ctx)
	}
}

// gone reports whether the connection to the far end has ended.
func (r *pairRun) gone() bool {
	select {
	case <-r.far.Gone():
		return true
	default:
		return false
	}
}

// hostOf is the host in the words of ssh.
func hostOf(s string) string {
	s = strings.TrimPrefix(s, "ssh://")
	if _, host, ok := strings.Cut(s, "@"); ok {
		s = host
	}
	return s
}

// failedEnd is how a pair ends that never met.
func failedEnd(ctx context.Context, err error) facts.ProbeEnd {
	end := facts.ProbeEnd{Outcome: facts.Unavailable, Step: "start", Detail: "the far end was not reached: " + err.Error()}
	if ctx.Err() != nil {
		end = facts.ProbeEnd{Outcome: facts.Stopped, Detail: "before the far end was there"}
	}
	return end
}

// explain says at once what a person at the terminal can do.
func (r *pairRun) explain(err error) {
	e := &report.Error{Message: err.Error()}
	var start *peer.StartError
	if errors.As(err, &start) {
		e.Hint = start.Hint
	}
	r.program.complain(e)
}

// meet reaches the far end and reads the far host.
func (r *pairRun) meet(ctx context.Context) (err error) {
	r.say("start the far end on %s", r.name)
	var notes []string
	if r.far, notes, err = r.reach(ctx); err != nil {
		return err
	}
	r.name = cmp.Or(r.far.Hello.Hostname, r.name)
	for _, n := range append(notes, r.far.Hello.Notes...) {
		r.say("%s: %s", r.name, n)
	}
	r.say("read %s", r.name)
	r.snap.Peer, err = r.far.Snapshot(ctx, nil, time.Second)
	return err
}

// compared judges both hosts side by side.
func (r *pairRun) compared() ([]checks.Result, knowledge.Relations) { return besidePeer(r.snap) }

// besidePeer compares a host with the peer that it was probed against.
func besidePeer(s *facts.Snapshot) ([]checks.Result, knowledge.Relations) {
	if s == nil || s.Peer == nil {
		return nil, nil
	}
	return compare.Judge([]compare.Host{{Snapshot: s}, {Snapshot: s.Peer}})
}

func (r *pairRun) local() string {
	if r.match == nil {
		if ps := probes.Plan(r.snap, r.askNear); len(ps) > 0 {
			return facts.LinkName(ps[0].Params.Device, ps[0].Params.Port)
		}
		return "no port"
	}
	return facts.LinkName(r.match.Near.Params.Device, r.match.Near.Params.Port)
}

func (r *pairRun) remote() string {
	if r.match == nil {
		return r.name + " its port"
	}
	return r.name + " " + facts.LinkName(r.match.Far.Params.Device, r.match.Far.Params.Port)
}

// ladder is one that was not run.
func (r *pairRun) ladder(end facts.ProbeEnd) facts.Ladder {
	l := facts.Ladder{Probe: "pair", Local: r.local(), Remote: r.remote(), End: end, Path: facts.Path{Service: "RC"}}
	if r.match != nil {
		l.Path.Transport, l.Path.Netdev = r.match.Near.Params.Transport, r.match.Near.Params.Netdev
	}
	return l
}

func (r *pairRun) busy() string {
	if r.match == nil || r.flags.busyOK {
		return ""
	}
	return cmp.Or(r.match.Near.Busy, r.match.Far.Busy)
}

func (r *pairRun) tests() []probes.PeerTest { return probes.PeerTests(r.flags.each, r.busy() != "") }

// pairTask is what both ends of a probe are to do.
type pairTask struct {
	ladder, cm bool
	tests      []probes.PeerTest
	limit      time.Duration
}

// task is one end's part of a probe.
func (r *pairRun) task(near bool, h pairTask) (worker.Task, error) {
	mine, own, other := r.match.Near.Params, r.match.NearAddress(), r.match.PeerAddress()
	if !near {
		mine, own, other = r.match.Far.Params, other, own
		h.tests, h.limit = nil, h.limit+time.Minute
	}
	p := probes.Peer{Near: near, Device: mine.Device, Port: mine.Port, Local: r.local(), Remote: r.remote(), Transport: mine.Transport,
		Netdev: mine.Netdev, Global: mine.Transport != "InfiniBand", GIDIndex: mine.GIDIndex, PKeyIndex: mine.PkeyIndex, SL: mine.SL,
		TrafficClass: mine.TClass, PathMTU: mine.PathMTU, Ladder: h.ladder, CM: h.cm, Tests: h.tests}
	if h.cm {
		p.Address, p.PeerAddress = own.String(), other.String()
	}
	if strings.HasPrefix(mine.Transport, "RoCE") {
		p.Others = r.otherGIDs(near)
	}
	params, err := json.Marshal(p)
	return worker.Task{Probe: probes.PeerProbe, Params: params, Limit: h.limit}, err
}

// otherGIDs are what programs would take by themselves where the user asks for
// something else.
func (r *pairRun) otherGIDs(near bool) []int {
	snap, ask, have := r.snap, r.askNear, r.match.Near.Params
	if !near {
		snap, ask, have = r.snap.Peer, r.askFar, r.match.Far.Params
	}
	ask.Device, ask.Port, ask.GIDIndex = have.Device, have.Port, nil
	for _, p := range probes.Plan(snap, ask) {
		if p.Params.GIDIndex != have.GIDIndex && p.Params.GID != "" {
			return []int{p.Params.GIDIndex}
		}
	}
	return nil
}

// run runs both halves.
func (r *pairRun) run(ctx context.Context, h pairTask) peer.PairResult {
	near, err1 := r.task(true, h)
	far, err2 := r.task(false, h)
	if err := errors.Join(err1, err2); err != nil {
		end := facts.ProbeEnd{Outcome: facts.Unavailable, Step: "start", Detail: err.Error()}
		return peer.PairResult{Near: worker.Result{End: end}, Far: worker.Result{End: end}}
	}
	told := make(chan string, 64)
	say := func(s string) {
		select {
		case told <- s:
		default: // Progress may be dropped without loss.
		}
	}
	done := make(chan peer.PairResult, 1)
	go func() {
		done <- r.far.Run(ctx, peer.Pair{Far: far, FarStep: func(s string) { say(r.name + ": " + s) }, Start: r.near.start,
			Near: worker.Options{Task: near, CPUs: r.match.Near.CPUs, Phase: 30 * time.Second, Tell: func(m *worker.Message) {
				if m.Begun != nil {
					say(m.Begun.Step)
				}
			}}})
	}()
	for {
		select {
		case s := <-told:
			r.say("%s against %s: %s", r.local(), r.remote(), s)
		case res := <-done:
			return res
		}
	}
}

// ended is how a probe of two workers ended, as this end reports it.
func (r *pairRun) ended(res peer.PairResult) facts.ProbeEnd {
	end := res.Near.End
	there := func(o facts.Outcome) facts.ProbeEnd {
		return facts.ProbeEnd{Outcome: o, Step: res.Far.End.Step, Signal: res.Far.End.Signal,
			Detail: fmt.Sprintf("at %s: %s: %s", r.name, res.Far.End.Outcome, cmp.Or(res.Far.End.Detail, "it said nothing"))}
	}
	switch far := res.Far.End.Outcome; {
	case end.Outcome == facts.Completed && end.Detail == "":
		return end
	case end.Outcome == facts.Crashed || end.Outcome == facts.OOMKilled || end.Outcome == facts.Stuck || end.Outcome == facts.Unavailable:
		return end
	case far == facts.Unavailable:
		return there(facts.Unavailable)
	case far != facts.Completed && far != facts.Stopped && end.Outcome != facts.PeerGone:
		return there(facts.PeerGone)
	}
	return end
}

// sample is the counters of both ends.
type sample struct{ near, far *facts.Snapshot }

// sampleTime bounds reading the counters.
const sampleTime = 20 * time.Second

func (r *pairRun) sample(ctx context.Context) sample {
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	var s sample
	var both sync.WaitGroup
	both.Go(func() { s.near = r.near.read(ctx, probes.CounterSources, 0) })
	s.far, _ = r.far.Snapshot(ctx, probes.CounterSources, 0) // Without it nothing is known to have moved there.
	both.Wait()
	return s
}

// moves are the counters of both ports that grew.
func (r *pairRun) moves(before, after sample) []facts.CounterMove {
	m := []facts.CounterMove{}
	near, far := r.match.Near.Params, r.match.Far.Params
	if before.near != nil && after.near != nil {
		m = append(m, probes.Moves(before.near, after.near, near.Device, near.Port, "")...)
	}
	if before.far != nil && after.far != nil {
		m = append(m, probes.Moves(before.far, after.far, far.Device, far.Port, r.name)...)
	}
	return m
}

// ladderTime bounds the ladder of a pair.
const ladderTime = 2 * time.Minute

// climb runs the ladder, of QP data that is exchanged or of rdma_cm, and reports whether all of it passed.
func (r *pairRun) climb(ctx context.Context, cm bool) bool {
	before := r.sample(ctx)
	res := r.run(ctx, pairTask{ladder: true, cm: cm, limit: ladderTime})
	after := r.sample(ctx)
	end := r.ended(res)
	if len(res.Near.Ladders) == 0 {
		l := r.ladder(end)
		l.Path.ByCM = cm
		r.snap.Ladders = append(r.snap.Ladders, l)
		return false
	}
	l := res.Near.Ladders[0]
	if end.Outcome != facts.Completed || l.End.Outcome == "" {
		l.End = end
	}
	l.Moved = r.moves(before, after)
	r.snap.Ladders = append(r.snap.Ladders, l)
	for _, s := range l.Steps {
		if s.Error != nil {
			return false
		}
	}
	return l.End.Outcome == facts.Completed
}

// measure makes the measurements, each with workers of its own, so that one
// that crashes costs itself.
func (r *pairRun) measure(ctx context.Context) {
	tests := r.tests()
	saturating := r.mayStart(tests)
	before := r.sample(ctx)
	for i := range tests {
		t := &tests[i]
		peerAddr := r.name
		if a := r.match.PeerAddress(); a.IsValid() {
			peerAddr = a.String()
		}
		if t.Saturates() && !saturating {
			r.notRun(t, "it saturates the port: --yes runs it")
			continue
		}
		if ctx.Err() != nil {
			return
		}
		res := r.run(ctx, pairTask{tests: []probes.PeerTest{*t}, limit: 3*t.Time + time.Minute})
		after := r.sample(ctx)
		end := r.ended(res)
		m := t.Measurement(&probes.Peer{Local: r.local(), Remote: r.remote()})
		if len(res.Near.Measurements) > 0 {
			*m = res.Near.Measurements[0]
		}
		if end.Outcome != facts.Completed || len(res.Near.Measurements) == 0 {
			text := cmp.Or(end.Detail, string(end.Outcome))
			m.End, m.Error = &end, &text
		}
		m.Moved = r.moves(before, after)
		m.Reproduce = probes.Reproduce(m, peerAddr)
		r.snap.Measured = append(r.snap.Measured, *m)
		before = after
		if r.gone() {
			return
		}
	}
}

func (r *pairRun) notRun(t *probes.PeerTest, why string) {
	m := t.Measurement(&probes.Peer{Local: r.local(), Remote: r.remote()})
	m.End, m.Error = &facts.ProbeEnd{Outcome: facts.NotRun, Detail: why}, &why
	r.snap.Measured = append(r.snap.Measured, *m)
}

// mayStart asks whether saturating measurements may be run.
func (r *pairRun) mayStart(tests []probes.PeerTest) bool {
	n := 0
	for i := range tests {
		if tests[i].Saturates() {
			n++
		}
	}
	p := r.program
	if n == 0 || r.flags.yes {
		return true
	}
	if !isTerminal(p.in) || !isTerminal(p.err) {
		return false
	}
	fmt.Fprintf(p.err, "\n%d measurements saturate %s and %s for about %v. Run them? [y/N] ", n, r.local(),
		report.Clean(r.remote()), time.Duration(n)*2*r.flags.each)
	answer, _ := bufio.NewReader(p.in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
