package tui

import (
	"context"
	"errors"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

const (
	// feedDepth bounds the messages on their way to the screen. A whole report
	// of a host with 64 devices is some 200 messages.
	feedDepth = 512
	// batchMost bounds one batch, so that a flood still leaves time for keys.
	batchMost = 2 * feedDepth
	// batchFor is how long messages are collected before they are shown. The
	// whole frame is laid out after every message that the program gets, so one
	// message for each would cost a core.
	batchFor = 100 * time.Millisecond
)

// ErrClosed is what a Feed's methods return once nobody watches it.
var ErrClosed = errors.New("feed messages: the screen is closed")

// Feed takes a run's messages to the screen. It is a report.Handler. A method
// waits while the queue is full and returns an error when the context of
// NewFeed ends or the screen closes, so a run never waits for ever. Messages
// are kept, not copied: the sender leaves them alone afterwards.
//
// Several runs may go through one Feed, one after another: each starts with a
// report.Run message and is closed with End.
type Feed struct {
	ctx   context.Context
	stop  context.CancelCauseFunc
	queue chan item
}

var _ report.Handler = (*Feed)(nil)

// item is what travels through a Feed: a message or the end of a run.
type item struct {
	msg report.Message
	end bool
	err error
}

// NewFeed returns a Feed that works until ctx ends or the screen is closed.
func NewFeed(ctx context.Context) *Feed {
	ctx, stop := context.WithCancelCause(ctx)
	return &Feed{ctx: ctx, stop: stop, queue: make(chan item, feedDepth)}
}

// Close lets the senders go: their methods return ErrClosed from now on.
func (f *Feed) Close() { f.stop(ErrClosed) }

// End says that the run is over, whether it got as far as a summary or not.
// err, where it is not nil, is shown.
func (f *Feed) End(err error) error { return f.send(item{end: true, err: err}) }

func (f *Feed) send(it item) error {
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	select {
	case f.queue <- it:
		return nil
	case <-f.ctx.Done():
		return context.Cause(f.ctx)
	}
}

func (f *Feed) put(m report.Message) error { return f.send(item{msg: m}) }

// Run takes the message that opens a run.
func (f *Feed) Run(r *report.Run) error { return f.put(report.Message{Run: r}) }

// Progress takes what the run is doing. It is dropped while the queue is full.
func (f *Feed) Progress(p *report.Progress) error {
	if f.ctx.Err() != nil {
		return context.Cause(f.ctx)
	}
	select {
	case f.queue <- item{msg: report.Message{Progress: p}}:
	default:
	}
	return nil
}

// Gap takes what could not be read.
func (f *Feed) Gap(g *facts.Gap) error { return f.put(report.Message{Gap: g}) }

// Snapshot takes the facts, which must not change any more.
func (f *Feed) Snapshot(s *facts.Snapshot) error { return f.put(report.Message{Snapshot: s}) }

// Measurement takes what a probe saw.
func (f *Feed) Measurement(m *facts.Measurement) error {
	return f.put(report.Message{Measurement: m})
}

// Ladder takes the steps of a probe.
func (f *Feed) Ladder(l *facts.Ladder) error {
	return f.put(report.Message{Ladder: l})
}

// Rates are not shown.
func (f *Feed) Rates(*report.Rates) error { return nil }

// Event takes one line of a timeline.
func (f *Feed) Event(e *report.Event) error { return f.put(report.Message{Event: e}) }

// Result takes what became of one check.
func (f *Feed) Result(r *checks.Result) error { return f.put(report.Message{Result: r}) }

// Diagnosis takes one cause. They come ranked, the answer first.
func (f *Feed) Diagnosis(d *knowledge.Diagnosis) error { return f.put(report.Message{Diagnosis: d}) }

// Host takes one row of a comparison.
func (f *Feed) Host(h *report.HostRow) error { return f.put(report.Message{Host: h}) }

// Error takes why a run ended early.
func (f *Feed) Error(e *report.Error) error { return f.put(report.Message{Error: e}) }

// Summary takes the message that closes a run.
func (f *Feed) Summary(s *report.Summary) error { return f.put(report.Message{Summary: s}) }

// batch is what one trip to the Feed brings back.
type batch struct {
	items  []item
	closed bool // nothing more will come
}

// take waits for a message, collects what follows it for the given time and
// returns early when a run is over, so that the answer is never held back.
func (f *Feed) take(during time.Duration) batch {
	var b batch
	select {
	case it := <-f.queue:
		b.items = append(b.items, it)
		if it.last() {
			return b
		}
	case <-f.ctx.Done():
		return f.rest(b)
	}
	timer := time.NewTimer(during)
	defer timer.Stop()
	for len(b.items) < batchMost {
		select {
		case it := <-f.queue:
			b.items = append(b.items, it)
			if it.last() {
				return b
			}
		case <-timer.C:
			return b
		case <-f.ctx.Done():
			return f.rest(b)
		}
	}
	return b
}

// rest empties the queue of a feed that has ended.
func (f *Feed) rest(b batch) batch {
	b.closed = true
	for {
		select {
		case it := <-f.queue:
			b.items = append(b.items, it)
		default:
			return b
		}
	}
}

// last tells an item that is worth showing at once.
func (it item) last() bool { return it.end || it.msg.Summary != nil }
