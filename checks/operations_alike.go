package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var operationsAlike = register(&Check{
	ID:    "operations-alike",
	Title: "READ and SEND are as fast as WRITE",
	Doc: "The three share link and PCIe. A READ that is far slower waits for requests outstanding (max_rd_atomic) or for PCIe reads " +
		"at the responder, not for the cable. A SEND that is far slower waits for receives.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.Links, facts.PCISysfs},
	Codes: []string{"read-slow", "send-slower-than-write"},
	Params: Params{
		"read-slow": figureParams, "send-slower-than-write": figureParams,
	},
	Run: func(p *Pass) {
		p.Read(facts.Probes, facts.SysfsRDMA, facts.Links, facts.PCISysfs)
		for _, ms := range p.pairs("bandwidth") {
			compared := false
			for _, op := range []string{"read", "send"} {
				m, v := best(ms, func(m *facts.Measurement) bool { return plainLarge(m) && m.Op == op })
				if m == nil {
					continue
				}
				// The same as a WRITE. The payload of a READ that goes in is written in.
				write, fast := best(ms, func(w *facts.Measurement) bool {
					return plainLarge(w) && w.Op == "write" && w.SizeBytes == m.SizeBytes && w.QPs == m.QPs && w.Direction == m.Direction
				})
				if write != nil {
					p.Examine(1)
					compared = true
					judgeOperation(p, m, v, write, fast)
				}
			}
			if !compared {
				p.unmeasured(ms, "READ or SEND beside the same WRITE")
			}
		}
	},
})

// Shares of WRITE's rate. Without a counter that tells why, hardware alone is
// judged, where the three are alike within a few percent.
const (
	operationShare = 0.8
	starvedShare   = 0.5
)

func judgeOperation(p *Pass, m *facts.Measurement, v float64, write *facts.Measurement, fast float64) {
	at := endOfMeasurement(p.snap, m)
	waited := false
	f := Finding{
		Severity: Warn, Subject: at.Subject, Confidence: Likely, Where: at.Where,
		Message:  fmt.Sprintf("%s reaches %s, a write of the same size %s", title(m), expect.Rate(v), expect.Rate(fast)),
		Evidence: []Evidence{figureEvidence(m, v), figureEvidence(write, fast)},
		Params:   at.figureOf(m, "figure", expect.Rate(v), "expected", expect.Rate(fast)),
	}
	for _, st := range stirs([]*facts.Measurement{m}) {
		if st.class == counters.ReceiveNotReady {
			waited = true
			f.Evidence = append(f.Evidence, moveEvidence(st.most))
		}
	}
	all, missing := bothEnds(p.snap, m)
	hardware := missing == ""
	for _, e := range all {
		_, ok := expect.Judgeable(e)
		hardware = hardware && ok
	}
	switch {
	case m.Op == "send" && waited && (v < starvedShare*fast || hardware && v < operationShare*fast):
		f.Code, f.Confidence = "send-slower-than-write", Proved
		f.Message += ", and it waited for receives"
		if v < starvedShare*fast {
			f.Severity = Fail
		}
	case !hardware || v >= operationShare*fast:
		return
	case m.Op == "send":
		f.Code = "send-slower-than-write"
	default:
		f.Code = "read-slow"
		if w := window(p.snap, m); w.Rate > 0 && v > 0.7*float64(w.Rate) {
			f.Confidence = Proved
			f.Message += ": too few READs are outstanding"
			f.Evidence = append(f.Evidence, Evidence{"expected, ceiling of the window", w.String()})
			f.Params["reason"] = "window"
		}
	}
	p.Report(f)
}
