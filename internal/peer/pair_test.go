package peer

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

func pairOf(probe string, near func(context.Context, worker.Task, *worker.Reporter) error) Pair {
	return Pair{Near: worker.Options{Task: worker.Task{Probe: "near", Limit: 20 * time.Second}},
		Far: worker.Task{Probe: probe, Limit: 20 * time.Second}, Start: start(near), Grace: 300 * time.Millisecond}
}

func TestSnapshot(t *testing.T) {
	p, _ := connected(t, testFar("far"))
	if p.Hello.Hostname != "far" || p.Hello.Version != "test" || len(p.Hello.Notes) != 1 {
		t.Errorf("it says %+v of itself", p.Hello)
	}
	s, err := p.Snapshot(within(t, 10*time.Second), []facts.Source{facts.Links}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if s.Host.Hostname != "far" || s.Interval != time.Second || len(s.Sources) != 1 || s.Sources[0] != facts.Links {
		t.Errorf("read %+v", s)
	}
	if s.Measured != nil {
		t.Error("a snapshot brought measurements with it")
	}
}

func TestPairExchanges(t *testing.T) {
	p, _ := connected(t, testFar("far"))
	for range 3 { // One after another over the same connection.
		var steps []string
		pair := pairOf("far", exchange)
		pair.FarStep = func(s string) { steps = append(steps, s) }
		r := p.Run(within(t, 20*time.Second), pair)
		for _, end := range []worker.Result{r.Near, r.Far} {
			if end.End.Outcome != facts.Completed || len(end.Measurements) != 1 {
				t.Fatalf("near %+v, far %+v", r.Near.End, r.Far.End)
			}
		}
		if near, far := r.Near.Measurements[0], r.Far.Measurements[0]; near.Op != "far" || far.Op != "near" {
			t.Errorf("the near worker got %q, the far one %q", near.Op, far.Op)
		}
		if len(steps) != 1 || steps[0] != "swap" {
			t.Errorf("the far worker's steps were %q", steps)
		}
	}
}

func waits(ctx context.Context, _ worker.Task, r *worker.Reporter) error {
	r.Begin("wait", time.Minute)
	_, err := r.Receive(ctx)
	return err
}

func TestFarWorkerCrashes(t *testing.T) {
	far := testFar("far")
	far.Start = start(func(_ context.Context, _ worker.Task, r *worker.Reporter) error {
		r.Begin("rtr", 0)
		panic("a provider library")
	})
	p, _ := connected(t, far)
	r := p.Run(within(t, 20*time.Second), pairOf("far", waits))
	if r.Far.End.Outcome != facts.Crashed || r.Far.End.Step != "rtr" {
		t.Errorf("the far worker ended %+v", r.Far.End)
	}
	if e := r.Near.End; e.Outcome != facts.PeerGone || e.Step != "wait" || !strings.Contains(e.Detail, "crashed in rtr") {
		t.Errorf("the near worker ended %+v", e)
	}
}

func TestNearWorkerCrashes(t *testing.T) {
	far := testFar("far")
	far.Start = start(waits)
	p, _ := connected(t, far)
	r := p.Run(within(t, 20*time.Second), pairOf("far", func(context.Context, worker.Task, *worker.Reporter) error { panic("here") }))
	if r.Near.End.Outcome != facts.Crashed || r.Far.End.Outcome != facts.Stopped {
		t.Errorf("near %+v, far %+v", r.Near.End, r.Far.End)
	}
}

// Each way in which a connection can end under a running pair.
func TestFarEndGoes(t *testing.T) {
	for name, breaks := range map[string]func(near *Peer, far net.Conn){
		"the far end ends":      func(_ *Peer, far net.Conn) { _ = far.Close() },
		"the connection breaks": func(near *Peer, _ net.Conn) { _ = near.conn.Conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			far := testFar("far")
			far.Start = start(waits)
			p, conn := connected(t, far)
			pair := pairOf("far", func(ctx context.Context, task worker.Task, r *worker.Reporter) error {
				r.Measurement(&facts.Measurement{Probe: "first"})
				return waits(ctx, task, r)
			})
			pair.FarStep = func(string) { breaks(p, conn) }
			r := p.Run(within(t, 20*time.Second), pair)
			if e := r.Near.End; e.Outcome != facts.PeerGone || e.Step != "wait" {
				t.Errorf("the near worker ended %+v", e)
			}
			if e := r.Far.End; e.Outcome != facts.PeerGone || e.Step != "wait" {
				t.Errorf("the far worker ended %+v", e)
			}
			if len(r.Near.Measurements) != 1 {
				t.Errorf("%d measurements are left of what was done before", len(r.Near.Measurements))
			}
		})
	}
}

func TestInterrupted(t *testing.T) {
	far := testFar("far")
	far.Start = start(waits)
	p, _ := connected(t, far)
	ctx, cancel := context.WithCancel(within(t, 20*time.Second))
	pair := pairOf("far", waits)
	pair.FarStep = func(string) { cancel() }
	r := p.Run(ctx, pair)
	if r.Near.End.Outcome != facts.Stopped || r.Far.End.Outcome != facts.Stopped {
		t.Errorf("near %+v, far %+v", r.Near.End, r.Far.End)
	}
}
