package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// timeline gathers what happened between the moments of a period.
type timeline struct {
	live   func(report.Message)
	events []report.Event
	left   int // events beyond mostEvents
	// open are events that go on: a counter that keeps growing, a finding that
	// stays. The gap that still makes one of two is graceIntervals.
	open  map[eventKey]*running
	grace time.Duration
	boot  time.Time     // of the log below
	until time.Duration // the newest record told, since boot
	begun bool
	was   map[fact]string // the settings of the last moment
}

type eventKey struct {
	kind          report.EventKind
	subject, name string
}

type running struct {
	report.Event
	name  string
	grown uint64 // of a counter
	times int
}

const (
	mostEvents     = 5000
	graceIntervals = 5
)

func compareKeys(a, b findingKey) int {
	return cmp.Or(cmp.Compare(a.subject, b.subject), cmp.Compare(a.code, b.code))
}

// put adds an event and tells it at once where someone listens.
func (l *timeline) put(e report.Event) {
	if len(l.events) == mostEvents {
		l.left++
		return
	}
	if l.live != nil {
		l.live(report.Message{Event: &e})
	}
	l.events = append(l.events, e)
}

// add compares a moment with the one before. judged is the part of it that the
// user asked for.
func (l *timeline) add(before, now, judged *facts.Snapshot) {
	l.grace = graceIntervals * now.Interval
	if before != nil {
		l.changes(before, now)
	}
	l.within(judged)
	l.log(now)
	l.begun = true
}

// within tells what changed between the two samples of a snapshot.
func (l *timeline) within(s *facts.Snapshot) {
	to := s.Taken.Add(s.Interval)
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			port := &d.Ports[j]
			name := facts.LinkName(d.Name, port.Number)
			was, ok1 := port.State.Get()
			is, ok2 := port.StateLast.Get()
			if ok1 && ok2 && was != is {
				l.put(report.Event{Time: s.Taken, Until: to, Kind: report.LinkEvent, Subject: name, Text: fmt.Sprintf("state %s -> %s", was, is)})
			}
			l.counters(s, name, "", counters.Port, port.Counters)
			l.counters(s, name, "", counters.Device, port.HWCounters)
			l.counters(s, name, "", counters.CM, port.CM)
			if n := s.Netdev(port.Netdev.Or("")); n != nil {
				n = s.Beneath(n)
				l.counters(s, name, n.Name+" ", counters.Ethtool, n.Ethtool)
				l.grew(s, n.Name, "carrier_changes", n.CarrierChanges)
			}
		}
	}
}

// counters tells of those that grew and count trouble.
func (l *timeline) counters(s *facts.Snapshot, subject, prefix string, place counters.Place, m map[string]facts.Counter) {
	for name, v := range m {
		if c, _, ok := counters.Lookup(place, name); ok && c.Class != counters.Traffic {
			if d, ok := c.Delta(v); ok && d > 0 {
				l.running(report.CounterEvent, subject, prefix+name, s.Taken, s.Taken.Add(s.Interval)).grown += d
			}
		}
	}
}

func (l *timeline) grew(s *facts.Snapshot, subject, name string, v facts.Counter) {
	if d, ok := v.Delta(); ok && d > 0 {
		l.running(report.LinkEvent, subject, name, s.Taken, s.Taken.Add(s.Interval)).grown += d
	}
}

// found notes a finding at one moment.
func (l *timeline) found(f checks.Finding, from, to time.Time) {
	if f.Severity == checks.Info {
		return
	}
	r := l.running(report.FindingEvent, f.Subject, f.Code, from, to)
	if r.Text == "" || rank(f.Severity) > rank(r.Severity) {
		r.Code, r.Severity, r.Text = f.Code, f.Severity, f.Message
	}
	if r.times == 1 && l.live != nil {
		e := r.Event
		e.Until = time.Time{} // It goes on.
		l.live(report.Message{Event: &e})
	}
}

// running is the event of that name which still goes on, or a new one.
func (l *timeline) running(kind report.EventKind, subject, name string, from, to time.Time) *running {
	key := eventKey{kind, subject, name}
	r := l.open[key]
	if r != nil && from.Sub(r.Until) > l.grace {
		l.end(r)
		r = nil
	}
	if r == nil {
		r = &running{Event: report.Event{Time: from, Kind: kind, Subject: subject}, name: name}
		if l.open == nil {
			l.open = map[eventKey]*running{}
		}
		l.open[key] = r
	}
	r.Until = to
	r.times++
	return r
}

// end puts an event that went on into its final form. A finding was told when
// it began.
func (l *timeline) end(r *running) {
	switch {
	case r.grown > 0:
		r.Text = fmt.Sprintf("%s +%d", r.name, r.grown)
	case r.times > 1:
		r.Text += fmt.Sprintf(" (in %d intervals)", r.times)
	}
	if r.Kind == report.FindingEvent && l.live != nil {
		return
	}
	live := l.live
	l.live = nil // Nobody waits for what is over.
	l.put(r.Event)
	l.live = live
}

// close ends what goes on and gives the events that were not told yet, by time.
func (l *timeline) close() []report.Event {
	told := 0
	if l.live != nil {
		told = len(l.events)
	}
	for _, key := range slices.SortedFunc(maps.Keys(l.open), func(a, b eventKey) int {
		return cmp.Or(cmp.Compare(a.subject, b.subject), cmp.Compare(a.name, b.name), cmp.Compare(a.kind, b.kind))
	}) {
		l.end(l.open[key])
	}
	events := l.events[told:]
	slices.SortStableFunc(events, func(a, b report.Event) int { return a.Time.Compare(b.Time) })
	if l.left > 0 && len(events) > 0 {
		last := events[len(events)-1]
		events = append(events, report.Event{Time: last.Time, Kind: report.HostEvent, Subject: "host",
			Text: fmt.Sprintf("%d further events are left out", l.left)})
	}
	return events
}

// log tells the records that are new. What was logged before the period began
// is not of it.
func (l *timeline) log(s *facts.Snapshot) {
	up, ok := s.Host.Uptime.Get()
	if !ok {
		return
	}
	boot := s.Taken.Add(-up)
	if !l.begun || boot.Sub(l.boot) > time.Minute {
		l.until = 0
		if !l.begun {
			l.until = up
		}
		l.boot = boot
	}
	for _, rec := range s.Log {
		if rec.SinceBoot > l.until {
			l.put(report.Event{Time: l.boot.Add(rec.SinceBoot), Kind: report.LogEvent, Subject: "kernel", Text: rec.Text})
			l.until = rec.SinceBoot
		}
	}
}
