package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// movesShown is how many counters a line of a measurement names.
const movesShown = 4

// measurements shows what probes measured, the ends of a pair once, and what
// the figures mean for what people move.
func (p *page) measurements(d *Document) {
	if len(d.Measurements) == 0 {
		return
	}
	p.blank()
	p.heading("Measured")
	for _, ms := range byEnds(d.Measurements) {
		p.para("  ", 2, endNames(ms[0]))
		for _, m := range ms {
			p.para("    ", 6, measured(m))
			if text := movedText(m.Moved); text != "" {
				p.para("      ", 8, "meanwhile "+text)
			}
			if text := loadText(m.Load); text != "" {
				p.para("      ", 8, text)
			}
			if m.Reproduce != "" {
				p.para("      $ ", 8, m.Reproduce)
			}
		}
		for _, line := range expect.Terms(ms) {
			p.para("    = ", 6, line)
		}
		if text := scale(d, ms[0].Local); text != "" {
			p.para("    = ", 6, text)
		}
	}
}

// byEnds groups measurements by their two ports, in the order of the first of
// each.
func byEnds(all []facts.Measurement) [][]*facts.Measurement {
	at := map[string]int{}
	var groups [][]*facts.Measurement
	for i := range all {
		m := &all[i]
		key := m.Local + "\x00" + m.Remote
		g, ok := at[key]
		if !ok {
			g = len(groups)
			at[key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], m)
	}
	return groups
}

func endNames(m *facts.Measurement) string {
	switch m.Remote {
	case "":
		return m.Local
	case m.Local:
		return m.Local + " to itself"
	}
	return m.Local + " -> " + m.Remote
}

// measured is one measurement in one line: what was done, and its figures in
// the units that people use.
func measured(m *facts.Measurement) string {
	what := strings.Join(nonEmpty(m.Probe, m.Op), " ")
	if m.SizeBytes > 0 {
		what += fmt.Sprintf(" %d B", m.SizeBytes)
	}
	if m.QPs > 1 {
		what += fmt.Sprintf(" x %d QPs", m.QPs)
	}
	what = strings.Join(nonEmpty(what, m.Direction, m.Mode), ", ")
	if m.Error != nil {
		return what + ": " + *m.Error
	}
	if n, ok := m.Violations.Get(); ok {
		return fmt.Sprintf("%s: %d violations in %d rounds", what, n, m.Iterations)
	}
	figures := figures(m)
	if figures == "" {
		return fmt.Sprintf("%s: %d samples", what, len(m.Samples))
	}
	return what + ": " + figures
}

func figures(m *facts.Measurement) string {
	v, ok := m.Figure()
	if !ok {
		return ""
	}
	switch m.Unit {
	case "bit/s":
		return expect.Rate(v)
	case "messages/s":
		return expect.Messages(v)
	case "ns":
	default:
		return ""
	}
	var parts []string
	for _, q := range []struct {
		name string
		at   float64
	}{{"min", 0}, {"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}} {
		if v, ok := m.Quantile(q.at); ok {
			parts = append(parts, q.name+" "+expect.Time(v))
		}
	}
	return strings.Join(parts, ", ")
}

// movedText names the counters that moved most. Traffic moves always, and
// comes last.
func movedText(all []facts.CounterMove) string {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b facts.CounterMove) int { return plainTraffic(a.Name) - plainTraffic(b.Name) })
	var parts []string
	for i, m := range all {
		if i == movesShown {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-movesShown))
			break
		}
		parts = append(parts, strings.Join(nonEmpty(m.Host, m.Subject, m.Name), " ")+fmt.Sprintf(" +%d", m.Delta))
	}
	return strings.Join(parts, ", ")
}

// plainTraffic is 1 for counters of traffic, which say nothing by moving.
func plainTraffic(name string) int {
	for _, place := range counters.Places() {
		if c, _, ok := counters.Lookup(place, name); ok {
			if c.Class == counters.Traffic {
				return 1
			}
			return 0
		}
	}
	return 0
}

// loadText says how busy the processors of each end were.
func loadText(all []facts.HostLoad) string {
	var parts []string
	for _, l := range all {
		if l.Processors <= 0 || l.Elapsed <= 0 {
			continue
		}
		host := l.Host
		if host == "" {
			host = "here"
		}
		text := fmt.Sprintf("%s %.0f %% of %d processors busy", host, 100*float64(l.Busy)/float64(l.Elapsed)/float64(l.Processors), l.Processors)
		if l.Top != "" {
			text += fmt.Sprintf(", %s %.0f %% of one", l.Top, 100*float64(l.TopTime)/float64(l.Elapsed))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// scale says how far the queue pairs of the device reach, where a ladder read
// its limits.
func scale(d *Document, local string) string {
	for _, l := range d.Ladders {
		if l.Local == local {
			if text := expect.Scale(l.Limits); text != "" {
				return text
			}
		}
	}
	return ""
}
