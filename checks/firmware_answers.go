package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var firmwareAnswers = register(&Check{
	ID:    "firmware-answers",
	Title: "the devices answer when asked",
	Doc: "Counters and settings of a NIC come from its firmware. A read that gets no answer in time, or a command that " +
		"the kernel log reports as timed out, is a NIC whose firmware or interrupts stopped: its QPs hang next.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.KernelLog, facts.Links, facts.ProcessList, facts.RDMANetlink, facts.Ethtool, facts.DCBNetlink},
	Codes: []string{"firmware-command-timeout"},
	Params: Params{
		"firmware-command-timeout": "pci? device? port? netdev? count? detail? path?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.KernelLog, facts.RDMANetlink, facts.Ethtool, facts.DCBNetlink)
		for d := range p.Devices(nil) {
			if g, ok := timedOut(s, d, facts.NoAnswer); ok {
				p.Report(Finding{
					Code: "firmware-command-timeout", Severity: Fail, Subject: d.Name, Confidence: Likely,
					Where:    Where{Device: d.Name, PCI: d.PCI.Or("")},
					Message:  fmt.Sprintf("reading %s got no answer within the deadline", g.What),
					Evidence: []Evidence{{g.What, "no answer: " + g.Detail}},
					Params:   params("device", d.Name, "pci", d.PCI.Or(""), "path", g.What),
				})
			} else if g, ok := timedOut(s, d, facts.NotAsked); ok {
				p.Unread(d.Name, g.What)
			} else if len(d.Ports) == 0 { // Nothing that it answered was read.
				p.Unread(d.Name, "ports")
			}
		}
		for _, h := range logHits(s) {
			if h.code == "firmware-command-timeout" {
				p.Report(h.finding(p, Fail))
			}
		}
	},
})

// timedOut finds a read of the device, or of its netdevs, that timed out in the
// way that detail says. What was never asked is no word of the device.
func timedOut(s *facts.Snapshot, d *facts.Device, detail string) (facts.Gap, bool) {
	names := []string{d.Name}
	for _, port := range d.Ports {
		if n := s.Netdev(port.Netdev.Or("")); n != nil {
			names = append(names, n.Name)
		}
	}
	for _, g := range s.Gaps {
		if g.Kind != facts.Timeout || g.Detail != detail {
			continue
		}
		for _, name := range names {
			if hasWord(g.What, name) {
				return g, true
			}
		}
	}
	return facts.Gap{}, false
}
