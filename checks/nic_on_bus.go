package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var nicOnBus = register(&Check{
	ID:    "nic-on-bus",
	Title: "RDMA NICs answer on the PCIe bus",
	Doc: "A NIC that lost its PCIe link or its power stays in the kernel's lists, and every register of it reads as ones. " +
		"Nothing on the host reaches it any more, and what waits for it hangs.",
	Layer: PCIe,
	Needs: []facts.Source{facts.PCISysfs},
	Uses:  []facts.Source{facts.SysfsRDMA},
	Codes: []string{"device-lost"},
	Params: Params{
		"device-lost": "pci device? parent? netdev?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs, facts.SysfsRDMA)
		p.Otherwise("no RDMA device sits on PCIe")
		for i := range s.PCI {
			f := &s.PCI[i]
			if f.RDMACapable == "" && len(f.RDMADevices) == 0 && deviceAt(s, f.Address) == nil {
				continue
			}
			p.Examine(1)
			c, ok := f.Config.Get()
			switch {
			case passedThrough(f.Driver.Or("")):
				p.NotApplicable("%s is given to a virtual machine (%s)", f.Address, f.Driver)
			case f.Power.Or("") == "suspended":
				p.NotApplicable("%s is suspended, and reading it would wake it", f.Address)
			case !ok:
				p.Unread(f.Address, "configuration space")
			case c.AllOnes:
				reportLost(p, s, f, c)
			}
		}
	},
})

func reportLost(p *Pass, s *facts.Snapshot, f *facts.PCIFunction, c facts.PCIConfig) {
	fd := Finding{
		Code: "device-lost", Severity: Fail, Subject: f.Address, Confidence: Proved, Where: Where{PCI: f.Address},
		Message:  "the NIC does not answer: its configuration space reads as ones",
		Evidence: []Evidence{{pciFile(f, "config"), fmt.Sprintf("%d bytes of ff", c.Bytes)}},
		Params:   pcieParams(s, f),
	}
	if d := deviceAt(s, f.Address); d != nil {
		fd.Where.Device = d.Name
	}
	if len(f.Netdevs) > 0 {
		fd.Where.Netdev, fd.Params["netdev"] = f.Netdevs[0], f.Netdevs[0]
	}
	p.Report(fd)
}
