package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var infinibandFlow = register(&Check{
	ID:    "infiniband-flow",
	Title: "InfiniBand ports send without discarding",
	Doc: "InfiniBand is lossless: a port waits for credits, and waiting alone is how a loaded fabric works. Packets that are " +
		"discarded after waiting too long mean a far end that takes nothing for long.",
	Layer: Counters,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"ib-backpressure"},
	Params: Params{
		"ib-backpressure": "device port netdev? pci? counter",
	},
	Run: func(p *Pass) {
		const wait, discards = "port_xmit_wait", "port_xmit_discards"
		for port := range p.Ports(IB) {
			waited, ok1 := port.Counters[wait].Delta()
			lost, ok2 := port.Counters[discards].Delta()
			if !ok2 {
				p.Unread(port.String(), discards)
				continue
			}
			if lost == 0 {
				if idle(port, nil) {
					p.Idle(port.String())
				}
				continue
			}
			f := Finding{
				Code: "ib-backpressure", Severity: Warn, Subject: port.String(), Confidence: Likely, Where: port.Where(),
				Message:  fmt.Sprintf("the port discarded %d packets between the samples", lost),
				Evidence: []Evidence{moved(port.Path("counters/"+discards), port.Counters[discards], lost, p.snap.Between(facts.SysfsRDMA))},
				Params:   port.Params("counter", discards),
			}
			if ok1 && waited > 0 {
				f.Message += fmt.Sprintf(" after waiting for credits (%d ticks)", waited)
				f.Evidence = append(f.Evidence, moved(port.Path("counters/"+wait), port.Counters[wait], waited, p.snap.Between(facts.SysfsRDMA)))
			}
			p.Report(f)
		}
	},
})
