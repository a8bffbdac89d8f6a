package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var pcieRate = register(&Check{
	ID:    "pcie-rate",
	Title: "PCIe carries what the port can",
	Doc: "The narrowest PCIe link between the NIC and the processor is a ceiling for every transfer. A port faster than its " +
		"slot shows the slot's rate, and pauses the network when it receives.",
	Layer: PCIe,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Uses:  []facts.Source{facts.Links},
	Codes: []string{"pcie-below-port-rate"},
	Params: Params{
		"pcie-below-port-rate": "pci device? parent? ceiling rate",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs, facts.Links)
		p.pcieNICs(func(f *facts.PCIFunction) {
			ceiling, at := expect.PCIe(s, f)
			if at == nil {
				p.Unread(f.Address, "PCIe link")
				return
			}
			rate, source := fastestPort(s, f)
			if rate == 0 {
				p.NotApplicable("no port of %s has link", f.Address)
				return
			}
			if ceiling*1e9 >= float64(rate)*portShare {
				return
			}
			fd := Finding{
				Code: "pcie-below-port-rate", Severity: Warn, Subject: f.Address, Confidence: Likely, Where: Where{PCI: f.Address},
				Message:  fmt.Sprintf("the PCIe link at %s carries %.0f Gb/s, and the port runs at %s", at.Address, ceiling, rate),
				Evidence: append(linkEvidence(at), source),
				Params:   pcieParams(s, f, "ceiling", fmt.Sprintf("%.0f Gb/s", ceiling), "rate", rate.String()),
			}
			if d := deviceAt(s, f.Address); d != nil {
				fd.Where.Device = d.Name
			}
			p.Report(fd)
		})
	},
})

// portShare is what of a port's rate payload can be: headers take 2 to 7
// percent, and a slot that carries nine tenths is the usual pairing (a 100 Gb/s
// port on gen3 x16).
const portShare = 0.9

// fastestPort is the data rate of the fastest port of f that has link. On
// Ethernet the netdev's speed counts, never the made-up rate.
func fastestPort(s *facts.Snapshot, f *facts.PCIFunction) (best facts.BitsPerSecond, source Evidence) {
	for _, port := range ports(s) {
		if port.Device.PCI.Or("") != f.Address || port.State.Or("") == facts.StateDown {
			continue
		}
		rate, from := facts.BitsPerSecond(0), Evidence{}
		if IB(port) {
			rate = dataRate(port)
			from = Evidence{port.Path("rate"), rateText(port)}
		} else if n := s.Netdev(port.Netdev.Or("")); n != nil {
			for _, n := range s.Hardware(n) {
				if speed := n.Speed.Or(0); speed > rate {
					rate = speed
					from = Evidence{"/sys/class/net/" + n.Name + "/speed", rate.String()}
				}
			}
		}
		if rate > best {
			best, source = rate, from
		}
	}
	return best, source
}

// dataRate is an InfiniBand port's rate after line coding: what sysfs prints
// is the signalling rate for the old speeds (8b/10b, and 64b/66b for FDR).
func dataRate(port PortRef) facts.BitsPerSecond {
	if rate, ok := facts.DataRate(port.Speed.Or(""), port.Width.Or(0)); ok {
		return rate
	}
	return port.Rate.Or(0)
}
