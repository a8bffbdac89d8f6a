package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var directionsAlike = register(&Check{
	ID:    "directions-alike",
	Title: "both directions carry the same, also at once",
	Doc: "A link carries its rate in both directions at the same time. One that is slower points to the host that receives (PCIe " +
		"writes, pause) or to the one that sends (PCIe reads); with roles swapped the fault stays with the host or with the " +
		"direction.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.Links, facts.PCISysfs},
	Codes: []string{"bandwidth-one-direction"},
	Params: Params{
		"bandwidth-one-direction": figureParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA, facts.Links, facts.PCISysfs)
		for _, ms := range p.pairs("bandwidth") {
			in, b := best(ms, func(m *facts.Measurement) bool { return plainLarge(m) && m.Op == "write" && m.Direction == "in" })
			// The same in the other direction: more queue pairs would not be.
			as := func(direction string) (*facts.Measurement, float64) {
				return best(ms, func(m *facts.Measurement) bool {
					return in != nil && m.SizeBytes == in.SizeBytes && m.QPs == in.QPs && m.Mode == "" && m.Op == "write" && m.Direction == direction
				})
			}
			out, a := as("out")
			both, sum := as("both")
			p.Examine(1)
			if out == nil || in == nil {
				p.NotApplicable("%s was not measured in both directions", ms[0].Local)
				continue
			}
			if _, ok := p.judgeable(out); !ok {
				continue
			}
			at := endOfMeasurement(s, out)
			f := Finding{
				Code: "bandwidth-one-direction", Severity: Warn, Subject: at.Subject, Confidence: Proved, Where: at.Where,
				Evidence: []Evidence{figureEvidence(out, a), figureEvidence(in, b)},
				Params:   at.figureOf(out, "figure", expect.Rate(min(a, b)), "expected", expect.Rate(max(a, b))),
			}
			slow, fast := "from here", "towards here"
			if b < a {
				slow, fast = fast, slow
			}
			switch {
			case min(a, b) < expect.BandwidthFail*max(a, b):
				f.Message = fmt.Sprintf("%s %s passes, %s %s", slow, expect.Rate(min(a, b)), fast, expect.Rate(max(a, b)))
			case both != nil && sum < expect.BothFail*min(a, b):
				f.Message = fmt.Sprintf("both directions at once carry %s together, one alone %s", expect.Rate(sum), expect.Rate(min(a, b)))
				f.Evidence = append(f.Evidence, figureEvidence(both, sum))
				f.Confidence = Likely
			default:
				continue
			}
			if why := reasons(ms); why != "" {
				f.Message += "; meanwhile " + why
			}
			p.Report(f)
		}
	},
})
