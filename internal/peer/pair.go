package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/peer/peerpb"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// Pair is one probe of two workers, one at each end.
type Pair struct {
	Near worker.Options
	Far  worker.Task
	// FarStep is told which step the far worker begins. It may be nil, and is
	// called from another goroutine than Near.Tell.
	FarStep func(step string)
	// Start starts the near worker; nil is worker.Start.
	Start func(context.Context, worker.Options) (*worker.Worker, error)
	// Grace is how long one worker may go on alone when the other has ended.
	Grace time.Duration
}

// PairResult is what the two workers told and how they ended.
type PairResult struct{ Near, Far worker.Result }

const defaultGrace = 10 * time.Second

// Run runs a probe of both ends. It returns when both workers have ended, or
// the near one has and nothing is to be expected from the far one. Where the
// far end is gone, the near worker's outcome is PeerGone.
func (p *Peer) Run(ctx context.Context, pair Pair) PairResult {
	if pair.Start == nil {
		pair.Start = worker.Start
	}
	if pair.Grace <= 0 {
		pair.Grace = defaultGrace
	}
	if pair.Far.Limit <= 0 || pair.Far.Limit > MaxTask {
		pair.Far.Limit = worker.DefaultLimit
	}
	sctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pair.Far.Limit+3*pair.Grace)
	defer cancel()
	far, err := p.open(sctx, pair)
	if err != nil {
		end := facts.ProbeEnd{Outcome: facts.PeerGone, Step: "start", Detail: err.Error()}
		return PairResult{Near: worker.Result{End: end}, Far: worker.Result{End: end}}
	}
	opt := pair.Near
	opt.Tell = func(m *worker.Message) {
		if m.OOB != nil {
			far.say(&peerpb.ProbeInput{Kind: &peerpb.ProbeInput_Oob{Oob: m.OOB}})
		} else if pair.Near.Tell != nil {
			pair.Near.Tell(m)
		}
	}
	near, err := pair.Start(ctx, opt)
	if err != nil {
		cancel()
		return PairResult{Near: worker.Result{End: facts.ProbeEnd{Outcome: facts.Unavailable, Step: "start", Detail: err.Error()}},
			Far: worker.Result{End: facts.ProbeEnd{Outcome: facts.Stopped, Detail: "the near worker was not started"}}}
	}
	go far.listen(near)
	return far.both(near, pair.Grace, cancel)
}

// farWork is the worker at the far end.
type farWork struct {
	peer   *Peer
	ctx    context.Context
	stream grpc.BidiStreamingClient[peerpb.ProbeInput, peerpb.ProbeOutput]
	queue  chan *peerpb.ProbeInput
	tell   func(step string)
	done   chan struct{} // closed when result is known
	result worker.Result
	step   string // begun and not ended
}

// open starts the far worker.
func (p *Peer) open(ctx context.Context, pair Pair) (*farWork, error) {
	const what = "start the far worker"
	task, err := json.Marshal(&pair.Far)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	stream, err := p.rpc.Probe(ctx)
	if err != nil {
		return nil, p.failed(ctx, what, err)
	}
	if err := stream.Send(&peerpb.ProbeInput{Kind: &peerpb.ProbeInput_Task{Task: task}}); err != nil {
		return nil, p.failed(ctx, what, err)
	}
	f := &farWork{peer: p, ctx: ctx, stream: stream, queue: make(chan *peerpb.ProbeInput, maxQueue), tell: pair.FarStep, done: make(chan struct{})}
	go f.send()
	return f, nil
}

// say is for the goroutines that tell for the near worker and end the pair.
// What finds no place is lost, and the far worker waits in vain.
func (f *farWork) say(m *peerpb.ProbeInput) {
	select {
	case f.queue <- m:
	default:
	}
}

func (f *farWork) send() {
	for {
		select {
		case m := <-f.queue:
			if f.stream.Send(m) != nil {
				return // Why is what Recv says.
			}
		case <-f.done:
			_ = f.stream.CloseSend()
			return
		case <-f.ctx.Done():
			return
		}
	}
}

// listen takes what the far worker says to its end.
func (f *farWork) listen(near *worker.Worker) {
	defer close(f.done)
	told, result := joiner{limit: maxTold}, joiner{limit: maxAllTold}
	ended := false
	for total := 0; ; {
		m, err := f.stream.Recv()
		if errors.Is(err, io.EOF) && ended {
			return
		}
		if err != nil {
			f.gone(err)
			return
		}
		switch k := m.GetKind().(type) {
		case *peerpb.ProbeOutput_Oob:
			total += len(k.Oob)
			_ = near.OOB(k.Oob) // It may have ended, and says so itself.
		case *peerpb.ProbeOutput_Told:
			total += len(k.Told.GetData())
			if err = told.add(k.Told.GetData()); err == nil && !k.Told.GetMore() {
				err = f.told(told.take())
			}
		case *peerpb.ProbeOutput_Result:
			total += len(k.Result.GetData())
			if err = result.add(k.Result.GetData()); err == nil && !k.Result.GetMore() {
				err, ended = f.ended(result.take()), true
			}
		}
		if err == nil && total > maxAllTold {
			err = ErrTooMuch
		}
		if err != nil {
			f.result.End = facts.ProbeEnd{Outcome: facts.Garbled, Step: f.step, Detail: err.Error()}
			return
		}
	}
}

func (f *farWork) told(text []byte) error {
	m, err := worker.Parse(text)
	if err != nil {
		return err
	}
	if m.Begun != nil {
		f.step = m.Begun.Step
		if f.tell != nil {
			f.tell(m.Begun.Step)
		}
	}
	return nil
}

func (f *farWork) ended(text []byte) error {
	var r worker.Result
	if err := parseResult(text, &r); err != nil {
		return err
	}
	if !known(r.End.Outcome) {
		return fmt.Errorf("result not in form: outcome %q", clip(string(r.End.Outcome), maxWords))
	}
	f.result = r
	return nil
}

// known reports whether a worker can end so.
func known(o facts.Outcome) bool {
	switch o {
	case facts.Completed, facts.Crashed, facts.OOMKilled, facts.Hung, facts.Stuck, facts.Garbled, facts.Unavailable, facts.Stopped:
		return true
	}
	return false
}

// gone says that the stream broke.
func (f *farWork) gone(err error) {
	end := facts.ProbeEnd{Outcome: facts.PeerGone, Step: f.step}
	err = f.peer.failed(f.ctx, "wait for the far worker", err)
	switch {
	case errors.Is(err, context.Canceled):
		end.Outcome, end.Detail = facts.Stopped, "it was told to"
	default:
		end.Detail = err.Error()
	}
	f.result.End = end
}

// both waits for the ends of both workers. A worker whose other one has ended
// early waits in vain, so it is stopped after a while in which it may find out
// by itself.
func (f *farWork) both(near *worker.Worker, grace time.Duration, cancel func()) PairResult {
	var over <-chan time.Time
	alone := ""
	select {
	case <-near.Done():
		if near.Wait().End.Outcome != facts.Completed {
			f.say(&peerpb.ProbeInput{Kind: &peerpb.ProbeInput_Stop{Stop: true}})
		}
		over = time.After(2 * grace)
		select {
		case <-f.done:
		case <-over:
			cancel()
			<-f.done
		}
	case <-f.done:
		if f.result.End.Outcome != facts.Completed {
			alone = "the far worker ended: " + endWords(f.result.End)
		}
		select {
		case <-near.Done():
			alone = "" // It knew itself.
		case <-time.After(grace):
			near.Stop()
			<-near.Done()
		}
	}
	r := PairResult{Near: near.Wait(), Far: f.result}
	// Where the far end is gone, a near worker that was stopped or gave up was
	// not at fault.
	if f.result.End.Outcome == facts.PeerGone && r.Near.End.Outcome != facts.Crashed && r.Near.End.Outcome != facts.OOMKilled {
		alone = endWords(f.result.End)
	}
	if alone != "" && (r.Near.End.Outcome == facts.Stopped || f.result.End.Outcome == facts.PeerGone) {
		gone(&r.Near, alone)
	}
	return r
}

func endWords(e facts.ProbeEnd) string {
	s := string(e.Outcome)
	if e.Signal != "" {
		s += " (" + e.Signal + ")"
	}
	if e.Step != "" {
		s += " in " + e.Step
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// gone makes a result one whose other end is gone.
func gone(r *worker.Result, detail string) {
	r.End.Outcome, r.End.Detail = facts.PeerGone, detail
	for i := range r.Ladders {
		if l := &r.Ladders[i]; l.End.Outcome == facts.Stopped || l.End.Outcome == facts.Hung {
			l.End.Outcome, l.End.Detail = facts.PeerGone, detail
		}
	}
}
