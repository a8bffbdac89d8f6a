package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var countersReadable = register(&Check{
	ID:    "counters-readable",
	Title: "error counters can still grow",
	Doc: "The port counters of InfiniBand stick at their maximum. A counter that stands there hides every new error until " +
		"it is cleared (perfquery -R), so that no growth says nothing.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"counters-saturated"},
	Params: Params{
		"counters-saturated": "device port netdev? pci? counter ethernet?",
	},
	Run: func(p *Pass) {
		for port := range p.Ports(nil) {
			if there, _ := sampled(counters.Port, port.Counters, errorClasses...); !there {
				if len(port.Counters) == 0 {
					p.NotApplicable("%s has no port counters", port)
				} else {
					p.Unread(port.String(), "error counters")
				}
				continue
			}
			f := Finding{Code: "counters-saturated", Severity: Info, Subject: port.String(), Confidence: Proved, Where: port.Where()}
			var stuck []string
			for _, name := range slices.Sorted(maps.Keys(port.Counters)) {
				c, _, ok := counters.Lookup(counters.Port, name)
				// Transmit wait counts load, and saturates on every busy port.
				if !ok || name == "port_xmit_wait" || !c.Saturated(port.Counters[name]) {
					continue
				}
				stuck = append(stuck, name)
				value, _ := port.Counters[name].Value()
				f.Evidence = append(f.Evidence, Evidence{port.Path("counters/" + name), fmt.Sprint(value)})
			}
			if stuck == nil {
				continue
			}
			f.Message = strings.Join(stuck, ", ") + " stands at its maximum and cannot show new errors"
			if len(stuck) > 1 {
				f.Message = strings.Join(stuck, ", ") + " stand at their maximum and cannot show new errors"
			}
			f.Params = port.Params("counter", stuck[0])
			if OnEthernet(port) { // Without a LID, perfquery does not reach it.
				f.Params["ethernet"] = "yes"
			}
			p.Report(f)
		}
	},
})

// errorClasses are the classes of the PMA counters that count harm.
var errorClasses = []counters.Class{counters.Physical, counters.PhysicalUpstream, counters.LinkDown, counters.Buffer,
	counters.Partition, counters.CongestionTX}
