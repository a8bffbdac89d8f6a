package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// linkFacts are the facts that tell a link's state.
var linkFacts = []string{"phys_state", "operstate", "carrier", "admin_up", "link_ext_state", "rate_bits_per_second",
	"speed_bits_per_second", "width_lanes", "speed", "fec_active"}

// A fact is one setting of one thing.
type fact struct{ subject, name string }

// changes tells which facts that stand still are not what they were. What was
// not read at one of the two moments is no change.
func (l *timeline) changes(before, now *facts.Snapshot) {
	if l.was == nil {
		l.was = standing(before)
	}
	was, is := l.was, standing(now)
	l.was = is
	names := slices.Collect(maps.Keys(is))
	for f := range was {
		if _, has := is[f]; !has {
			names = append(names, f)
		}
	}
	slices.SortFunc(names, func(a, b fact) int {
		if a.subject != b.subject {
			return strings.Compare(a.subject, b.subject)
		}
		return settings.Compare(a.name, b.name)
	})
	for _, f := range names {
		old, had := was[f]
		value, has := is[f]
		list := strings.Contains(f.name, "[") // What comes and goes is in a list.
		switch {
		case had && has && old == value, had != has && !list && f.name != "":
			continue
		case !had:
			old = "nothing"
		case !has:
			value = "nothing"
		}
		kind := report.FactEvent
		if slices.Contains(linkFacts, f.name) {
			kind = report.LinkEvent
		}
		text := fmt.Sprintf("%s: %s -> %s", f.name, old, value)
		if f.name == "" {
			text = fmt.Sprintf("%s -> %s", old, value)
		}
		l.put(report.Event{Time: before.Taken, Until: now.Taken, Kind: kind, Subject: f.subject, Text: text})
	}
}

// standing are the facts of a host that stand still, and that the things are
// there. A port's state is told by its two readings.
func standing(s *facts.Snapshot) map[fact]string {
	all := map[fact]string{}
	for _, t := range settings.Things(s) {
		all[fact{subject: t.String()}] = "there"
		for name, value := range t.Fields {
			if t.Kind != settings.Port || name != "state" {
				all[fact{t.String(), name}] = value
			}
		}
	}
	return all
}
