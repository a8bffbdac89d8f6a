package main

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// counterMeanings are the counters called name, by where they are read.
func counterMeanings(name string) []report.CounterMeaning {
	var found []report.CounterMeaning
	for _, place := range counters.Places() {
		c, _, ok := counters.Lookup(place, name)
		if !ok {
			continue
		}
		m, _ := place.Describe(name)
		e := report.CounterMeaning{
			Name: name, Place: place.String(), Meaning: m.Text, Cause: m.Cause, Class: string(c.Class),
			Direction: string(c.Direction), Unit: c.Unit, WidthBits: c.Width, Saturates: c.Saturates,
		}
		if t, ok := place.Threshold(name); ok {
			e.Threshold = fmt.Sprintf("%d %s (%s)", t.Value, t.Per, t.Authority)
		}
		found = append(found, e)
	}
	return found
}

// sides say whom a counter speaks of.
var sides = map[string]string{"tx": "this host as sender", "rx": "this host as receiver", "both": "both directions"}

func counterText(cs []report.CounterMeaning, width int) string {
	var b strings.Builder
	for i, c := range cs {
		if i > 0 {
			b.WriteByte('\n')
		}
		about := []string{c.Place, c.Unit, c.Class}
		if side := sides[c.Direction]; side != "" {
			about = append(about, side)
		}
		end := "wraps"
		if c.Saturates {
			end = "stops at its maximum"
		}
		about = append(about, fmt.Sprintf("%d bits, %s", c.WidthBits, end))
		b.WriteString(knowledge.Reflow(c.Name+": "+c.Meaning, width))
		b.WriteString(knowledge.Reflow(strings.Join(about, "; "), width))
		if c.Cause != "" {
			b.WriteString("\n" + knowledge.Reflow("Cause: "+c.Cause, width))
		}
		if c.Threshold != "" {
			b.WriteString("\n" + knowledge.Reflow("Threshold: "+c.Threshold+". Growth now says more than a total.", width))
		}
	}
	return b.String()
}
