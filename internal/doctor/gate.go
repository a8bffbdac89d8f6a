package doctor

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// judgeGate answers whether a scheduler has to drain the node: only for a
// failure that is proved and at a port that something wants.
func judgeGate(s *facts.Snapshot, opt checks.Options, results []checks.Result) *report.Gate {
	g := &report.Gate{Reason: "no proved failure on a wanted port"}
	for _, r := range results {
		for _, f := range r.Findings {
			if f.Severity != checks.Fail || knowledge.ConfidenceOf(f) != checks.Proved {
				continue
			}
			// A device that is gone has no port here any more.
			if d := f.Where.Device; d != "" && s.Device(d) == nil && slices.Contains(opt.Wanted, d) {
				return &report.Gate{Drain: true, Port: d, Code: f.Code, Reason: fmt.Sprintf("%s: %s", f.Subject, f.Message)}
			}
			if port, ok := checks.OnWantedPort(s, opt, f); ok {
				return &report.Gate{Drain: true, Port: port, Code: f.Code, Reason: fmt.Sprintf("%s: %s", f.Subject, f.Message)}
			}
		}
	}
	return g
}
