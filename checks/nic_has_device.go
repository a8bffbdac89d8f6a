package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var nicHasDevice = register(&Check{
	ID:    "nic-has-device",
	Title: "every RDMA NIC on the bus has its RDMA device",
	Doc: "An RDMA NIC is of use when a driver is bound to its PCI function and the driver's RDMA half made a device. " +
		"Functions given to virtual machines, the second function of a RoCE LAG and devices of other namespaces have " +
		"none here rightly. A NIC that serves as an Ethernet NIC only is information.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Uses:  []facts.Source{facts.ModuleList, facts.ModuleIndex, facts.Links, facts.Namespaces, facts.RDMANetlink, facts.Devlink},
	Codes: []string{"rnic-without-driver"},
	Params: Params{
		"rnic-without-driver": "pci module driver? netdev? reason",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.PCISysfs, facts.ModuleList, facts.ModuleIndex, facts.Links, facts.Namespaces, facts.RDMANetlink, facts.Devlink)
		for i := range s.PCI {
			f := &s.PCI[i]
			if f.RDMACapable == "" {
				continue
			}
			p.Examine(1)
			switch {
			case len(f.RDMADevices) > 0 || deviceAt(s, f.Address) != nil:
			case !f.Driver.Known():
				p.Unread(f.Address, "driver")
			case passedThrough(f.Driver.Or("")):
				p.NotApplicable("%s is given to a virtual machine (%s)", f.Address, f.Driver)
			case off(s, f):
				p.NotApplicable("RDMA is switched off for %s", f.Address)
			case s.RDMA.NetnsMode.Or("") == "exclusive" && !inInitNetns(s.Host):
				p.NotApplicable("the device of %s may be in another network namespace", f.Address)
			case lagPartner(s, f):
				p.NotApplicable("%s is the second function of a RoCE LAG", f.Address)
			default:
				reportWithoutDevice(p, s, f)
			}
		}
	},
})

// off reports whether the driver is told to do without RDMA.
func off(s *facts.Snapshot, f *facts.PCIFunction) bool {
	name, _ := switchedOff(s, f)
	return name != ""
}

func reportWithoutDevice(p *Pass, s *facts.Snapshot, f *facts.PCIFunction) {
	driver := f.Driver.Or("")
	netdev := ""
	if len(f.Netdevs) > 0 {
		netdev = f.Netdevs[0]
	}
	fd := Finding{
		Code: "rnic-without-driver", Severity: Info, Subject: f.Address, Confidence: Likely,
		Where:    Where{PCI: f.Address, Netdev: netdev},
		Evidence: []Evidence{{"/sys/bus/pci/devices/" + f.Address + "/infiniband", "absent"}},
		Params:   params("pci", f.Address, "module", f.RDMACapable, "driver", driver, "netdev", netdev),
	}
	switch {
	case driver == "":
		fd.Severity, fd.Confidence = Warn, Proved
		fd.Message = "no kernel driver is bound to this RDMA NIC"
		fd.Params["reason"] = "unbound"
		fd.Evidence = append(fd.Evidence, Evidence{"/sys/bus/pci/devices/" + f.Address + "/driver", "absent"})
	case s.Module(f.RDMACapable) == nil && !s.Kernel.Builtin[f.RDMACapable]:
		fd.Message = fmt.Sprintf("driver %s is bound and %s, which makes its RDMA device, is not loaded", driver, f.RDMACapable)
		fd.Params["reason"] = "not-loaded"
		if s.Kernel.IndexRead && !s.Kernel.Available[f.RDMACapable] {
			fd.Message = fmt.Sprintf("driver %s is bound and this kernel has no module %s, which makes its RDMA device", driver, f.RDMACapable)
			fd.Params["reason"] = "no-module"
			fd.Evidence = append(fd.Evidence, Evidence{moduleDir(s) + "modules.dep", "no " + f.RDMACapable})
		}
		fd.Evidence = append(fd.Evidence, Evidence{"/proc/modules", "no " + f.RDMACapable})
	default:
		fd.Message = fmt.Sprintf("%s is loaded and made no RDMA device: RDMA may be switched off in the NIC or by devlink", f.RDMACapable)
		fd.Params["reason"] = "no-device"
		fd.Evidence = append(fd.Evidence, Evidence{"/proc/modules", f.RDMACapable})
	}
	if named(p.opt, f) || mostHaveDevices(s, f) {
		fd.Severity = Fail
	}
	p.Report(fd)
}

// named reports whether the user names the function or its netdev.
func named(opt Options, f *facts.PCIFunction) bool {
	return slices.ContainsFunc(opt.Wanted, func(w string) bool { return w == f.Address || slices.Contains(f.Netdevs, w) })
}

// mostHaveDevices reports whether most functions of the same kind and number
// have an RDMA device, two at least.
func mostHaveDevices(s *facts.Snapshot, f *facts.PCIFunction) bool {
	have, all := 0, 0
	for i := range s.PCI {
		o := &s.PCI[i]
		if !alike(o, f) {
			continue
		}
		all++
		if len(o.RDMADevices) > 0 {
			have++
		}
	}
	return have >= 2 && have*2 > all
}

// deviceAt is the RDMA device of a PCI function, or nil.
func deviceAt(s *facts.Snapshot, pci string) *facts.Device {
	for i := range s.Devices {
		if at, ok := s.Devices[i].PCI.Get(); ok && at == pci {
			return &s.Devices[i]
		}
	}
	return nil
}

// passedThrough reports whether a driver hands the function to user space.
func passedThrough(driver string) bool {
	switch driver {
	case "vfio-pci", "uio_pci_generic", "igb_uio", "pci-stub", "xen-pciback":
		return true
	}
	return false
}

// lagPartner reports whether another function of the card has the RDMA device
// of the bond that f's netdev belongs to.
func lagPartner(s *facts.Snapshot, f *facts.PCIFunction) bool {
	card, _, _ := strings.Cut(f.Address, ".")
	for _, name := range f.Netdevs {
		n := s.Netdev(name)
		if n == nil || n.Master.Or("") == "" {
			continue
		}
		for i := range s.Devices {
			d := &s.Devices[i]
			if slot(d) != card {
				continue
			}
			for _, port := range d.Ports {
				on := s.Netdev(port.Netdev.Or(""))
				if on != nil && (on.Name == n.Master.Or("") || on.Master.Or("") == n.Master.Or("")) {
					return true
				}
			}
		}
	}
	return false
}
