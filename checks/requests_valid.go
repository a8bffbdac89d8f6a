package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var requestsValid = register(&Check{
	ID:    "requests-valid",
	Title: "requests are accepted and undamaged",
	Doc: "Refused keys and ranges, operations the responder's QP does not allow, failures inside the responder and lengths " +
		"that do not fit are errors of programs, each ending a QP. Checksum errors are data damaged on the way without a " +
		"link noticing.",
	Layer: Counters,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool},
	Codes: []string{"access-errors", "remote-invalid-request", "remote-operation-error", "local-length-error", "corruption"},
	Params: Params{
		"access-errors":          requestParams,
		"remote-invalid-request": requestParams,
		"remote-operation-error": requestParams,
		"local-length-error":     requestParams,
		"corruption":             requestParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Ethtool)
		for port := range p.Ports(nil) {
			n := s.Netdev(port.Netdev.Or(""))
			found := false
			for _, r := range refusals {
				moves := grew(counters.Device, port.HWCounters, r.class)
				if len(moves) == 0 {
					continue
				}
				found = true
				most := biggest(moves)
				f := Finding{
					Code: r.code, Severity: r.severity, Subject: port.String(), Confidence: Proved, Where: port.Where(),
					Message: fmt.Sprintf("%s: %s grew by %d", r.message, most.Name, most.Delta),
					Params:  port.Params("counter", most.Name, "side", string(most.Direction)),
				}
				for _, g := range moves {
					f.Evidence = append(f.Evidence, g.evidence(port.Path("hw_counters/"), s.Between(facts.SysfsRDMA)))
				}
				p.Report(f)
			}
			if !found {
				p.quiet(port, n, counters.Access, counters.InvalidRequest, counters.RemoteOperation, counters.Length, counters.Corruption)
			}
		}
	},
})

// requestParams: side is tx where this host's requests were refused, rx where
// it refused a peer's.
const requestParams = "device port netdev? pci? counter? side?"

var refusals = []struct {
	class    counters.Class
	code     string
	severity Severity
	message  string
}{
	{counters.Access, "access-errors", Warn, "accesses were refused for their key, range or rights"},
	{counters.InvalidRequest, "remote-invalid-request", Warn, "requests were refused as invalid"},
	{counters.RemoteOperation, "remote-operation-error", Warn, "a responder failed inside"},
	{counters.Length, "local-length-error", Warn, "messages did not fit"},
	{counters.Corruption, "corruption", Fail, "data was damaged on the way"},
}
