package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Serve is the whole of a worker: it takes the task from in, runs it and tells
// out. The error is of the pipes; what the task came to was told.
func Serve(ctx context.Context, in io.Reader, out io.Writer, run func(context.Context, Task, *Reporter) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &Reporter{out: out, oob: make(chan []byte, 64)}
	r.tell(&Message{Hello: &Hello{Protocol: protocol, PID: os.Getpid()}})
	buf := bufio.NewReader(in)
	first, err := Read(buf)
	if err != nil {
		return fmt.Errorf("read task: %w", err)
	}
	if first.Task == nil {
		return fmt.Errorf("read task: %w: it comes first", ErrFrame)
	}
	limit := or(first.Task.Limit, DefaultLimit)
	ctx, cancelLimit := context.WithTimeout(ctx, limit)
	defer cancelLimit()
	go r.listen(ctx, buf, cancel)
	done := &Done{}
	if err := run(ctx, *first.Task, r); err != nil {
		// A task that this build or host has no verbs for says so.
		var none interface{ Unavailable() bool }
		done.Error, done.Unavailable = err.Error(), errors.As(err, &none) && none.Unavailable()
	}
	r.tell(&Message{Done: done})
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Confine makes a process the right one to be a worker: it leaves no core, and
// the OOM killer takes it before others, since it is the one that pins memory.
func Confine() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
}

// Files are the pipes that a worker's process finds.
func Files() (in, out *os.File) { return os.NewFile(3, "task"), os.NewFile(4, "report") }

// Reporter is how a task speaks to its parent. Its methods may be called by
// many goroutines. An error of the pipe shows in Serve.
type Reporter struct {
	mu  sync.Mutex
	out io.Writer
	err error
	oob chan []byte
}

func (r *Reporter) tell(m *Message) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = Write(r.out, m)
	}
}

// listen takes what the parent says until it says no more, which ends the
// task: its parent is gone.
func (r *Reporter) listen(ctx context.Context, in io.Reader, cancel func()) {
	defer cancel()
	for {
		m, err := Read(in)
		if err != nil || m.Stop {
			return
		}
		if m.OOB != nil {
			select {
			case r.oob <- m.OOB:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Begin says that a step begins that takes at most limit, 0 for the usual.
func (r *Reporter) Begin(step string, limit time.Duration) {
	r.tell(&Message{Begun: &Begun{Step: clip(step)[:min(len(step), maxName)], Limit: limit}})
}

// Step says that a step of the ladder with this ID ended.
func (r *Reporter) Step(ladder int, refused bool, s facts.ProbeStep) {
	r.tell(&Message{Ended: &Ended{Ladder: ladder, Refused: refused, Step: s}})
}

// Ladder says what is known of a ladder, in place of what was said before.
func (r *Reporter) Ladder(id int, l *facts.Ladder) {
	r.tell(&Message{Ladder: &Ladder{ID: id, Ladder: *l}})
}

// Measurement says what was measured.
func (r *Reporter) Measurement(m *facts.Measurement) { r.tell(&Message{Measurement: m}) }

// Log says what is of use only to those who look for a fault of rdmadoctor.
func (r *Reporter) Log(format string, args ...any) {
	r.tell(&Message{Log: fmt.Sprintf(format, args...)})
}

// Send sends a blob to the other worker of the pair.
func (r *Reporter) Send(blob []byte) error {
	if blob == nil {
		blob = []byte{}
	}
	r.tell(&Message{OOB: blob})
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Receive returns the next blob of the other worker of the pair.
func (r *Reporter) Receive(ctx context.Context) ([]byte, error) {
	select {
	case b := <-r.oob:
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
