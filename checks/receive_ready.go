package checks

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var receiveReady = register(&Check{
	ID:    "receive-ready",
	Title: "receivers have buffers posted",
	Doc: "A SEND needs a receive that the peer posted before. Without one the responder answers RNR NAK and the requester " +
		"waits, up to 655 ms a time, until its retries are used up. It is the application's fault, not the network's.",
	Layer: Counters,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool},
	Codes: []string{"receive-not-ready"},
	Params: Params{
		"receive-not-ready": "device port netdev? pci? counter",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Ethtool)
		for port := range p.Ports(nil) {
			n := s.Netdev(port.Netdev.Or(""))
			moves := grew(counters.Device, port.HWCounters, counters.ReceiveNotReady)
			if len(moves) == 0 {
				p.quiet(port, n, counters.ReceiveNotReady)
				continue
			}
			most := biggest(moves)
			f := Finding{
				Code: "receive-not-ready", Subject: port.String(), Confidence: Proved, Where: port.Where(),
				Message: fmt.Sprintf("receivers were not ready: %s grew by %d", most.Name, most.Delta),
				Params:  port.Params("counter", most.Name),
			}
			for _, g := range moves {
				f.Evidence = append(f.Evidence, g.evidence(port.Path("hw_counters/"), s.Between(facts.SysfsRDMA)))
			}
			// Every one costs a wait, yet programs that bound their receives see some.
			if f.Severity = lossSeverity(&f, most.Delta, port, n); f.Severity == Fail {
				f.Severity = Warn
			}
			if slices.ContainsFunc(moves, func(g grown) bool { return g.Unit == "QPs" }) {
				f.Severity = Fail
				f.Message += "; QPs gave up and went to ERROR"
			}
			p.Report(f)
		}
	},
})

// quiet settles a port none of whose hw_counters of the classes moved: it was
// not counted, not read twice, idle, or is well.
func (p *Pass) quiet(port PortRef, n *facts.Netdev, classes ...counters.Class) {
	switch there, twice := sampled(counters.Device, port.HWCounters, classes...); {
	case !there:
		p.NotApplicable("%s does not count this", port)
	case !twice:
		p.Unread(port.String(), "second sample of hw_counters")
	case idle(port, n):
		p.Idle(port.String())
	}
}
