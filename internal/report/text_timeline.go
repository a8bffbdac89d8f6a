package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// eventsShown is how many events a text has; JSON has them all.
const eventsShown = 80

// timeline shows what happened, oldest first.
func (p *page) timeline(d *Document) {
	if len(d.Timeline) == 0 {
		return
	}
	shown := weightiest(d.Timeline)
	p.blank()
	p.heading("Timeline")
	day := ""
	for _, e := range shown {
		at := e.Time.UTC()
		if today := at.Format("2006-01-02"); today != day {
			day = today
			p.line("  " + p.paint(day+" UTC", faint))
		}
		clock := at.Format("15:04:05")
		if e.Until.Sub(e.Time).Seconds() >= 1 {
			clock += "-" + e.Until.UTC().Format("15:04:05")
		}
		mark := "  "
		if e.Kind == FindingEvent {
			mark = p.severityMark(e.Severity)
		}
		text := e.Subject + ": " + e.Text
		if e.Code != "" {
			text += " [" + e.Code + "]"
		}
		p.para(fmt.Sprintf("  %-17s %s %-8s ", clock, mark, Clean(string(e.Kind))), 32, text)
	}
	if left := len(d.Timeline) - len(shown); left > 0 {
		p.para("  ", 2, fmt.Sprintf("and %d more: --json has them all", left))
	}
}

// weightiest are the events that fit, by what they weigh, in the order of time.
func weightiest(events []Event) []Event {
	if len(events) <= eventsShown {
		return events
	}
	weight := func(e Event) int {
		if e.Severity == checks.Fail {
			return 0
		}
		return 1 + slices.Index([]EventKind{HostEvent, FindingEvent, LinkEvent, FactEvent, CounterEvent, LogEvent}, e.Kind)
	}
	kept := slices.Clone(events)
	slices.SortStableFunc(kept, func(a, b Event) int { return cmp.Compare(weight(a), weight(b)) })
	kept = kept[:eventsShown]
	slices.SortStableFunc(kept, func(a, b Event) int { return a.Time.Compare(b.Time) })
	return kept
}
