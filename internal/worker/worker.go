package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Defaults of Options.
const (
	DefaultLimit = 2 * time.Minute
	DefaultPhase = 10 * time.Second
	defaultGrace = 2 * time.Second
	defaultReap  = 10 * time.Second
	greeting     = 20 * time.Second // a loaded host takes long to load a program
)

// Options say what to run and how long it may take.
type Options struct {
	Task    Task
	Starter Starter // nil: Exec{}
	// Tell gets each message of the process in order, from one goroutine, which
	// also watches the time: it should not wait for long. It may be nil.
	Tell func(*Message)
	CPUs []int // the process may run on only these; empty: on any
	// Phase is how long a step that names no limit of its own may take.
	Phase time.Duration
	// Grace is how long asking and SIGTERM are given, Reap SIGKILL: a busy host
	// takes its time to end a process that no one holds.
	Grace, Reap time.Duration
	// Host looks at processes and at the OOM killer; nil is this host.
	Host Observer
}

// Result is what a process told and how it ended.
type Result struct {
	End          facts.ProbeEnd
	Ladders      []facts.Ladder // each with its own End; what is known of them where the process ended early
	Measurements []facts.Measurement
	Said         string // the last of standard output and error, of the libraries
	PID          int
}

// Worker is a process that was started.
type Worker struct {
	opt  Options
	proc Process
	host Observer
	oom  oomCount

	to   *os.File
	send chan *Message // to the process

	in     chan incoming // nil once there are no more
	exited chan Exit
	quit   chan struct{} // closed when nobody listens any more
	tail   *tail

	done   chan struct{}
	stop   chan struct{}
	once   sync.Once
	result Result
	kept   keeper
	gone   *Exit // once known
}

// incoming is what the reading goroutine hands over: a message, or why there
// are no more.
type incoming struct {
	m   *Message
	err error
}

// ErrEnded is the error of what is said to a process that has ended.
var ErrEnded = errors.New("the worker has ended")

// Run starts a worker and waits for its end.
func Run(ctx context.Context, opt Options) Result {
	w, err := Start(ctx, opt)
	if err != nil {
		return Result{End: facts.ProbeEnd{Outcome: facts.Unavailable, Step: "start", Detail: err.Error()}}
	}
	return w.Wait()
}

// Start starts a worker. When ctx ends, the process is stopped. Wait must be
// called.
func Start(ctx context.Context, opt Options) (*Worker, error) {
	if opt.Starter == nil {
		opt.Starter = Exec{}
	}
	if opt.Host == nil {
		opt.Host = liveHost{}
	}
	opt.Phase, opt.Grace = or(opt.Phase, DefaultPhase), or(opt.Grace, defaultGrace)
	opt.Reap = or(opt.Reap, defaultReap)
	opt.Task.Limit = or(opt.Task.Limit, DefaultLimit)
	if err := (&Message{Task: &opt.Task}).check(); err != nil {
		return nil, err
	}
	w := &Worker{opt: opt, host: opt.Host, send: make(chan *Message, 16), in: make(chan incoming),
		exited: make(chan Exit, 1), quit: make(chan struct{}), done: make(chan struct{}), stop: make(chan struct{}),
		tail: &tail{}}
	p, err := makePipes()
	if err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	w.oom = w.host.OOMKills()
	w.proc, err = opt.Starter.Start(ctx, Launch{In: p.childIn, Out: p.childOut, Log: p.childLog, CPUs: opt.CPUs})
	p.closeChild()
	if err != nil {
		p.closeParent()
		return nil, fmt.Errorf("start worker: %w", err)
	}
	w.to, w.result.PID = p.in, w.proc.PID()
	w.send <- &Message{Task: &w.opt.Task} // Before anyone else can speak.
	go w.write()
	go w.read(p.out, w.in)
	go w.tail.read(p.log)
	go func() {
		exit, err := w.proc.Wait()
		if err != nil {
			exit = Exit{Code: -1}
		}
		w.exited <- exit
	}()
	go func() {
		defer close(w.done)
		w.run(ctx)
		close(w.quit)
		p.closeParent()
	}()
	return w, nil
}

func or(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Wait returns when the process has ended or was left behind.
func (w *Worker) Wait() Result {
	<-w.done
	return w.result
}

// Done is closed when the process has ended or was left behind.
func (w *Worker) Done() <-chan struct{} { return w.done }

// Stop asks the process to end early, and ends it where it does not.
func (w *Worker) Stop() { w.once.Do(func() { close(w.stop) }) }

// OOB gives the process a blob of the other worker of its pair.
func (w *Worker) OOB(blob []byte) error {
	if blob == nil {
		blob = []byte{}
	}
	if err := (&Message{OOB: blob}).check(); err != nil {
		return err
	}
	select {
	case w.send <- &Message{OOB: blob}:
		return nil
	case <-w.done:
		return ErrEnded
	}
}

// write sends messages. A process that does not read fills its pipe, and this
// goroutine waits until the pipe is closed.
func (w *Worker) write() {
	for {
		select {
		case m := <-w.send:
			if Write(w.to, m) != nil {
				return
			}
		case <-w.quit:
			return
		}
	}
}

// read hands over messages until they end or are out of bounds.
func (w *Worker) read(f *os.File, in chan<- incoming) {
	r, total := newReader(f), 0
	for n := 0; ; n++ {
		m, size, err := read(r)
		total += size
		switch {
		case err == nil && (n >= maxMessages || total > maxTotal):
			err = fmt.Errorf("%w: more than a process may say", ErrFrame)
		case err == nil && (n == 0) != (m.Hello != nil):
			err = fmt.Errorf("%w: the greeting comes first, once", ErrFrame)
		case err == nil && (m.Task != nil || m.Stop):
			err = fmt.Errorf("%w: what only a parent says", ErrFrame)
		case err == nil && n == 0 && m.Hello.Protocol != protocol:
			err = fmt.Errorf("%w: protocol %d, want %d", ErrFrame, m.Hello.Protocol, protocol)
		case err != nil && !errors.Is(err, ErrFrame):
			err = io.EOF
		}
		select {
		case in <- incoming{m, err}:
		case <-w.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// signal sends a signal to a process that has not ended.
func (w *Worker) signal(s syscall.Signal) {
	if w.gone == nil {
		_ = w.proc.Signal(s)
	}
}
