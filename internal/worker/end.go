package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// ending is why the parent stopped listening.
type ending struct {
	outcome facts.Outcome // "": the process decides by how it exits
	detail  string
	done    *Done
}

// run listens to the end and brings the process to its own.
func (w *Worker) run(ctx context.Context) {
	why := w.listen(ctx)
	end := facts.ProbeEnd{Outcome: why.outcome, Detail: why.detail, Step: w.kept.step}
	switch {
	case why.done != nil:
		end = w.completed(why.done)
	case why.outcome == "":
		// Its pipe is closed, so it is ending.
		if w.await(w.opt.Grace); w.gone == nil {
			end.Outcome, end.Detail = facts.Hung, "it closed its pipe and went on"
			w.end(false, &end)
			break
		}
		w.died(&end)
	default:
		w.end(why.outcome != facts.Garbled, &end)
	}
	w.result.End = end
	w.result.Said = w.tail.text()
	w.kept.close(end)
	w.result.Ladders, w.result.Measurements = w.kept.ladders(), w.kept.measured
}

// listen takes messages until the process is done, ends, hangs or is to stop.
func (w *Worker) listen(ctx context.Context) ending {
	total := time.NewTimer(w.opt.Task.Limit + greeting)
	defer total.Stop()
	limit := greeting
	phase := time.NewTimer(limit)
	defer phase.Stop()
	for {
		select {
		case in := <-w.in:
			if in.err != nil {
				w.in = nil // There are no more.
			}
			switch {
			case errors.Is(in.err, io.EOF):
				return ending{}
			case in.err != nil:
				return ending{outcome: facts.Garbled, detail: in.err.Error()}
			}
			w.take(in.m)
			if in.m.Done != nil {
				return ending{done: in.m.Done}
			}
			switch {
			case in.m.Begun != nil:
				limit = or(in.m.Begun.Limit, w.opt.Phase)
			case in.m.Ended != nil, in.m.Measurement != nil, in.m.Hello != nil:
				limit = w.opt.Phase
			}
			phase.Reset(limit)
		case <-phase.C:
			return ending{outcome: facts.Hung, detail: "no answer in time"}
		case <-total.C:
			return ending{outcome: facts.Hung, detail: fmt.Sprintf("not done within %v", w.opt.Task.Limit)}
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ending{outcome: facts.Stopped, detail: "the time of the whole run was over"}
			}
			return ending{outcome: facts.Stopped, detail: "interrupted"}
		case <-w.stop:
			return ending{outcome: facts.Stopped, detail: "it was told to"}
		}
	}
}

// take keeps what a message says and passes it on.
func (w *Worker) take(m *Message) {
	w.kept.take(m)
	if w.opt.Tell != nil {
		w.opt.Tell(m)
	}
}

// completed waits for the end of a process that has told everything.
func (w *Worker) completed(d *Done) facts.ProbeEnd {
	end := facts.ProbeEnd{Outcome: facts.Completed, Detail: d.Error}
	if d.Unavailable {
		end.Outcome = facts.Unavailable
	}
	if w.await(w.opt.Grace); w.gone == nil {
		// Closing a device can hang as well as using it.
		hung := facts.ProbeEnd{Outcome: facts.Hung, Step: "exit", Detail: "it was done and did not end"}
		w.end(false, &hung)
		return hung
	}
	if w.gone.Signal != 0 {
		end.Step = "exit"
		w.died(&end)
	}
	return end
}

// died says what a process died of that nobody here killed.
func (w *Worker) died(end *facts.ProbeEnd) {
	exit, said := *w.gone, w.tail.text()
	end.Outcome = facts.Crashed
	switch {
	case exit.Signal == syscall.SIGKILL && w.host.OOMKills().grew(w.oom):
		end.Outcome, end.Signal, end.Detail = facts.OOMKilled, "SIGKILL", "the kernel counted an OOM kill meanwhile"
	case exit.Signal == syscall.SIGKILL:
		end.Signal, end.Detail = "SIGKILL", "somebody killed it; the kernel counted no OOM kill"
	case goSignal(said) != "":
		// The Go runtime catches the signal, says so, and aborts or exits.
		end.Signal = goSignal(said)
		if strings.Contains(said, "during cgo execution") {
			end.Detail = "in the code of a library"
		}
	case exit.byItself():
		end.Signal = SignalName(exit.Signal)
	case exit.Signal != 0:
		end.Signal, end.Detail = SignalName(exit.Signal), "somebody sent it a signal"
	default:
		end.Detail = fmt.Sprintf("it ended with exit code %d before it was done", exit.Code)
	}
	if words := lastWords(said); words != "" {
		end.Detail = strings.TrimPrefix(end.Detail+"; its last words: "+words, "; ")
	}
}

// end brings a process to its end: it is asked, then terminated, then killed,
// then left behind. What it tells meanwhile is kept.
func (w *Worker) end(ask bool, end *facts.ProbeEnd) {
	if ask {
		select {
		case w.send <- &Message{Stop: true}:
		default: // It does not read.
		}
		w.await(w.opt.Grace)
	}
	asleep := w.host.Asleep(w.proc.PID())
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if w.gone != nil {
			break
		}
		w.signal(s)
		if s == syscall.SIGKILL {
			w.await(w.opt.Reap)
		} else {
			w.await(w.opt.Grace)
		}
	}
	if w.gone == nil {
		end.Outcome = facts.Stuck
		asleep = w.host.Asleep(w.proc.PID())
		end.Detail = fmt.Sprintf("process %d was killed and does not end", w.proc.PID())
	}
	if asleep != "" && (end.Outcome == facts.Stuck || end.Outcome == facts.Hung) {
		end.Detail += ": " + asleep
	}
}

// await takes messages until the process has ended and has no more, or for d.
func (w *Worker) await(d time.Duration) {
	over := time.NewTimer(d)
	defer over.Stop()
	for w.gone == nil || w.in != nil {
		select {
		case m := <-w.in:
			if m.err != nil {
				w.in = nil
				continue
			}
			w.take(m.m)
		case exit := <-w.exited:
			w.gone = &exit
		case <-over.C:
			return
		}
	}
}

// dump matches how the Go runtime begins to say why it ends the process.
var dump = regexp.MustCompile(`(?m)^(?:panic: |fatal error: |(SIG[A-Z]+): |\[signal (SIG[A-Z]+))`)

// goSignal is the signal that the Go runtime says it caught, "" for none.
func goSignal(said string) string {
	for _, m := range dump.FindAllStringSubmatch(said, -1) {
		if name := m[1] + m[2]; name != "" {
			return name
		}
	}
	return ""
}

// lastWords is the last line before the Go runtime's own words, or the first
// of those.
func lastWords(said string) string {
	before, after := said, ""
	if i := dump.FindStringIndex(said); i != nil {
		before, after = said[:i[0]], said[i[0]:]
	}
	lines := strings.Split(strings.TrimSpace(before), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	first, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(first)
}
