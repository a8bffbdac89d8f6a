package checks

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var orderingKept = register(&Check{
	ID:    "ordering-kept",
	Title: "a flag written after its payload is seen after it",
	Doc: "A completed WRITE says that the responder's NIC has the bytes, not that its processors see them in order. A probe writes " +
		"payload, then a flag, and the reader looks at the payload once it sees the flag. Relaxed ordering, out-of-order placement " +
		"and SRD promise no order; without them a violation is a fault.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA},
	Codes: []string{"out-of-order-visibility"},
	Params: Params{
		"out-of-order-visibility": figureParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA)
		for m := range p.Measurements("ordering") {
			p.Examine(1)
			at := endOfMeasurement(s, m)
			seen, ok := m.Violations.Get()
			if !ok {
				p.Unread(m.Local, "order of payload and flag")
				continue
			}
			if seen == 0 {
				continue
			}
			f := Finding{
				Code: "out-of-order-visibility", Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where,
				Message:  fmt.Sprintf("a reader saw the flag before the payload %d times in %d", seen, m.Iterations),
				Evidence: []Evidence{{"probe ordering, " + title(m), fmt.Sprintf("%d violations in %d rounds", seen, m.Iterations)}},
				Params:   at.figureOf(m),
			}
			if why := unordered(m, at); why != "" {
				f.Severity = Info
				f.Message += ", which " + why + " allows: write with immediate, or fence"
				f.Evidence = append(f.Evidence, Evidence{"mode of the probe", why})
			}
			p.Report(f)
		}
	},
})

// unordered is what about the path promises no order, "" where nothing does.
func unordered(m *facts.Measurement, at end) string {
	switch {
	case strings.Contains(m.Mode, "relaxed-ordering"):
		return "relaxed ordering"
	case strings.Contains(m.Mode, "out-of-order"):
		return "out-of-order placement"
	case m.Path != nil && m.Path.Service == "SRD", at.Port != nil && at.Port.Device.Provider.Or("") == "efa":
		return "SRD"
	}
	return ""
}
