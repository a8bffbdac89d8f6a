package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var messageRate = register(&Check{
	ID:    "message-rate",
	Title: "small messages go at the rate of the hardware",
	Doc: "Below 4 KiB the messages a second decide, not the link. One QP on one core does some millions a second on hardware; less " +
		"is a slow core, a small queue or messages that do not go inline. Software, guests and cloud adapters are held against a " +
		"baseline only.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Codes: []string{"message-rate-low"},
	Params: Params{
		"message-rate-low": figureParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA, facts.PCISysfs)
		for _, ms := range p.pairs("message-rate") {
			p.Examine(1)
			m, v := best(ms, func(m *facts.Measurement) bool { return m.SizeBytes <= smallMessage && m.Mode == "" })
			if m == nil {
				p.Examine(-1)
				p.unmeasured(ms, "message rate")
				continue
			}
			if _, ok := p.judgeable(m); !ok || v >= slowMessages {
				continue
			}
			at := endOfMeasurement(s, m)
			f := Finding{
				Code: "message-rate-low", Severity: Warn, Subject: at.Subject, Confidence: Likely, Where: at.Where,
				Message:  fmt.Sprintf("%s goes at %s; hardware does some millions a second", title(m), shown(m, v)),
				Evidence: []Evidence{figureEvidence(m, v)},
				Params:   at.figureOf(m, "figure", shown(m, v), "expected", expect.Messages(slowMessages)),
			}
			if why := reasons(ms); why != "" {
				f.Message += "; meanwhile " + why
			}
			p.Report(f)
		}
	},
})

// slowMessages is a rate that every RNIC of the last decade exceeds several
// times, with one queue pair and one core.
const slowMessages = 1e6
