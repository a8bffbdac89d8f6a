package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// flightDir is where the flight recorder writes and check --since looks, where
// nothing else is said.
const flightDir = "/var/lib/rdmadoctor/flight"

// parseSince reads a time: RFC 3339, a date and time on the clock of now's place
// (as the reports write them, too), the last HH:MM or HH:MM:SS on it, or how
// long ago.
func parseSince(word string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, word); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(word); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{"15:04", "15:04:05"} {
		if t, err := time.ParseInLocation(form, word, now.Location()); err == nil {
			at := time.Date(now.Year(), now.Month(), now.Day(), t.Hour(), t.Minute(), t.Second(), 0, now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return at, nil
		}
	}
	for _, form := range []string{"2006-01-02 15:04", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02T15:04:05", stampForm} {
		t, err := time.ParseInLocation(form, word, now.Location())
		// A zone's letters say how far it is from UTC only where it is here.
		if err == nil && (t.Location() == now.Location() || t.Location() == time.UTC) {
			return t, nil
		}
	}
	return time.Time{}, usagef("a time is written 02:00, 90m (ago), \"2026-11-29 02:00\" or 2026-11-29T02:00:00+01:00", "--since %q is no time", word)
}

// flightSource is a flight recording as what an examination reads.
func flightSource(label string) (*source, error) {
	r, err := flight.Open(label)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%q: %w", label, err), "a flight recording is made with: rdmadoctor record --every 1m -o FOLDER"}
	}
	return &source{label: label, origin: facts.Recording, flight: r, close: func() {}}, nil
}

// lookBack judges a flight recording from since on, each interval by itself.
func (s *source) lookBack(ctx context.Context, opt doctor.Options, h report.Handler) error {
	began := time.Now()
	if ended := s.flight.Ended(); s.since.After(ended) {
		return usagef(fmt.Sprintf("it goes from %s to %s", stamp(s.flight.Began()), stamp(ended)),
			"%q: nothing was recorded since %s", s.label, stamp(s.since))
	}
	period, err := doctor.NewPeriod(opt, nil)
	if err != nil {
		return err
	}
	cctx := ctx
	if opt.Timeout > 0 {
		var cancel context.CancelFunc
		cctx, cancel = context.WithTimeout(ctx, opt.Timeout)
		defer cancel()
	}
	run := &report.Run{SchemaVersion: report.SchemaVersion, Tool: report.Tool{Name: report.ToolName, Version: opt.Version},
		Host: s.flight.Header().Host, Origin: string(facts.Recording), Started: s.flight.Began(), Args: opt.Args}
	var failed error
	send := func(m report.Message) {
		if failed == nil {
			failed = m.Send(h)
		}
	}
	w := walk{period: period, every: s.flight.Header().Every}
	for sample := range s.flight.Samples(s.since) {
		if w.last == nil {
			run.Started = sample.Began
			send(report.Message{Run: run})
		}
		if cctx.Err() != nil || failed != nil {
			break
		}
		send(report.Message{Progress: &report.Progress{Step: "judge", Text: stamp(sample.Began)}})
		w.next(cctx, sample)
	}
	if w.last == nil {
		send(report.Message{Run: run})
	}
	w.end(cctx)
	if damage := s.flight.Damage(); len(damage) > 0 {
		send(report.Message{Gap: &facts.Gap{Source: facts.RecordingFile, What: strings.Join(damage, ", "), Kind: facts.Malformed,
			Detail: "cut off or damaged; what is before that was used"}})
	}
	sum := period.Close(ctx, endOf(ctx, cctx, opt.Timeout), send)
	sum.DurationSeconds = time.Since(began).Seconds()
	send(report.Message{Summary: &sum})
	return failed
}

// newest is the last examination of a flight recording.
func (s *source) newest(ctx context.Context) *facts.Snapshot {
	var last []flight.Sample
	for sample := range s.flight.Samples(s.flight.Ended()) {
		last = append(last, sample)
	}
	return flight.Snapshot(ctx, last...)
}

// endOf is why a period ended early.
func endOf(ctx, cctx context.Context, timeout time.Duration) *report.Error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &report.Error{Kind: report.InterruptedError, Message: "interrupted", Hint: "what was judged until then is in the report"}
	case cctx.Err() != nil:
		return &report.Error{Kind: report.TimeoutError, Message: fmt.Sprintf("the recording was not looked through within %v", timeout),
			Hint: "what was judged until then is in the report; give --timeout more, or a later --since"}
	}
	return nil
}

// walk goes through the samples of a host, two at a time.
type walk struct {
	period *doctor.Period
	every  time.Duration
	last   *flight.Sample
}

// next judges the interval that ends with s and gives its facts, nil at the
// begin and across a reboot, which ends what the counters counted.
func (w *walk) next(ctx context.Context, s flight.Sample) (snap *facts.Snapshot) {
	if last := w.last; last != nil {
		switch apart := s.Began.Sub(last.Began); {
		case flight.Rebooted(*last, s):
			w.period.Add(flight.Snapshot(ctx, *last))
			w.period.Note(last.Began, s.Began, "the host was started again")
		case apart <= 0: // The clock was put back.
			w.period.Note(s.Began, time.Time{}, "the clock was put back")
		default:
			if w.every > 0 && apart > 3*w.every+time.Second {
				w.period.Note(last.Began, s.Began, "no samples: the recorder or the host stood still")
			}
			snap = flight.Snapshot(ctx, *last, s)
			w.period.Add(snap)
		}
	}
	w.last = &s
	return snap
}

// end judges what the last sample shows besides its counters.
func (w *walk) end(ctx context.Context) {
	if w.last != nil && ctx.Err() == nil {
		w.period.Add(flight.Snapshot(ctx, *w.last))
	}
}

const stampForm = "2006-01-02 15:04:05 MST"

func stamp(t time.Time) string { return t.Local().Format(stampForm) }
