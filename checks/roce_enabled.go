package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var roceEnabled = register(&Check{
	ID:    "roce-enabled",
	Title: "RDMA is switched on in the drivers of RDMA NICs",
	Doc: "A function can do Ethernet only: devlink and vendors' drivers have a switch for RDMA or RoCE, which clouds and " +
		"hypervisors use to save memory. The NIC then has no RDMA device, or one without GIDs. Where most alike have it on, " +
		"or the NIC is named, it is no choice.",
	Layer: Driver,
	Needs: []facts.Source{facts.PCISysfs},
	Uses:  []facts.Source{facts.Devlink, facts.SysfsRDMA},
	Codes: []string{"roce-disabled"},
	Params: Params{
		"roce-disabled": "pci switch device? netdev?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs, facts.Devlink, facts.SysfsRDMA)
		p.Otherwise("no RDMA NIC sits on PCIe")
		for i := range s.PCI {
			f := &s.PCI[i]
			if f.RDMACapable == "" {
				continue
			}
			p.Examine(1)
			name, evidence := switchedOff(s, f)
			switch {
			case passedThrough(f.Driver.Or("")):
				p.NotApplicable("%s is given to a virtual machine (%s)", f.Address, f.Driver)
			case f.Driver.Or("") == "":
				p.NotApplicable("no driver is bound to %s", f.Address)
			case name != "":
				reportSwitchedOff(p, s, f, name, evidence)
			case f.DevlinkParams != nil || f.RoCEEnable.Known():
			case s.Has(facts.Devlink):
				p.NotApplicable("the driver of %s has no switch for RDMA", f.Address)
			default:
				p.missing(facts.Devlink, f.Address, "switch for RDMA")
			}
		}
	},
})

func reportSwitchedOff(p *Pass, s *facts.Snapshot, f *facts.PCIFunction, name string, evidence Evidence) {
	what := "RoCE"
	if name == "enable_rdma" {
		what = "RDMA"
	}
	fd := Finding{
		Code: "roce-disabled", Severity: Info, Subject: f.Address, Confidence: Proved, Where: Where{PCI: f.Address},
		Message:  fmt.Sprintf("%s is switched off for this NIC (%s)", what, name),
		Evidence: []Evidence{evidence},
		Params:   params("pci", f.Address, "switch", name),
	}
	if d := deviceAt(s, f.Address); d != nil {
		fd.Where.Device, fd.Params["device"] = d.Name, d.Name
	}
	if len(f.Netdevs) > 0 {
		fd.Where.Netdev, fd.Params["netdev"] = f.Netdevs[0], f.Netdevs[0]
	}
	switch {
	case named(p.opt, f):
		fd.Severity = Fail
	case mostAreOn(s, f):
		fd.Severity = Warn
	}
	p.Report(fd)
}

// switchedOff names the switch that keeps f from RDMA, "" where none does.
// enable_roce is off on InfiniBand ports and on NICs that run iWARP instead;
// a device that still has GIDs was started before the switch was turned.
func switchedOff(s *facts.Snapshot, f *facts.PCIFunction) (name string, evidence Evidence) {
	param := func(name string) (on, known bool) {
		on, known = f.DevlinkParams[name]
		return on, known
	}
	d := deviceAt(s, f.Address)
	if d != nil && slices.ContainsFunc(d.Ports, func(port facts.Port) bool { return len(port.GIDs) > 0 }) {
		return "", Evidence{}
	}
	shown := func(name string) Evidence {
		return Evidence{"devlink dev param show pci/" + f.Address + " name " + name, "value false"}
	}
	if on, ok := param("enable_rdma"); ok && !on && d == nil {
		return "enable_rdma", shown("enable_rdma")
	}
	if iwarp, _ := param("enable_iwarp"); iwarp || !strings.HasPrefix(f.Class.Or(""), ethernetClass) {
		return "", Evidence{}
	}
	if on, ok := param("enable_roce"); ok && !on {
		return "enable_roce", shown("enable_roce")
	}
	if on, ok := f.RoCEEnable.Get(); ok && !on {
		return "roce_enable", Evidence{pciFile(f, "roce_enable"), "0"}
	}
	return "", Evidence{}
}

// ethernetClass begins the class code of Ethernet controllers.
const ethernetClass = "0x0200"

// mostAreOn reports whether RDMA is on for most functions of the same kind and
// number, two at least.
func mostAreOn(s *facts.Snapshot, f *facts.PCIFunction) bool {
	on, all := 0, 0
	for i := range s.PCI {
		o := &s.PCI[i]
		if !alike(o, f) || o.DevlinkParams == nil && !o.RoCEEnable.Known() {
			continue
		}
		all++
		if name, _ := switchedOff(s, o); name == "" {
			on++
		}
	}
	return on >= 2 && on*2 > all
}

// alike reports whether o is another function of the same chip and function
// number as f.
func alike(o, f *facts.PCIFunction) bool {
	return o != f && f.Vendor.Known() && o.Vendor == f.Vendor && o.DeviceID == f.DeviceID && o.VF == f.VF &&
		strings.HasSuffix(o.Address, f.Address[max(0, len(f.Address)-2):])
}
