package checks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var virtualFunctionSet = register(&Check{
	ID:    "virtual-function-set",
	Title: "virtual functions have link, rate and GUID from their host",
	Doc: "The host decides for its virtual functions whether they see link, how fast they may send and, on InfiniBand, who they " +
		"are. Inside a guest only the missing GUID shows; the others look like a dead cable or a slow network.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Uses:  []facts.Source{facts.SRIOV, facts.Links, facts.ProcessList, facts.RDMANetlink},
	Codes: []string{"vf-link-down-by-pf", "vf-rate-limited", "vf-guid-unset"},
	Params: Params{
		"vf-link-down-by-pf": "pci? device? port? netdev? pf? vf?",
		"vf-rate-limited":    "pci? device? port? netdev? pf? vf? rate",
		"vf-guid-unset":      "pci? device? port? netdev? pf? vf?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.PCISysfs, facts.SRIOV)
		p.Otherwise("no virtual function is here")
		tree := s.PCITree()
		for i := range s.PCI {
			pf := &s.PCI[i]
			if pf.RDMACapable == "" || pf.VF || pf.VFs.Or(0) <= 0 {
				continue
			}
			if pf.VirtualFunctions == nil {
				p.Examine(1)
				untold(p, s, pf)
				continue
			}
			for j := range pf.VirtualFunctions {
				judgeVF(p, s, tree, pf, &pf.VirtualFunctions[j])
			}
		}
		for i := range s.PCI {
			if f := &s.PCI[i]; f.VF {
				judgeOwnGUID(p, s, f)
			}
		}
	},
})

// untold notes that nothing is known of a physical function's virtual ones.
func untold(p *Pass, s *facts.Snapshot, pf *facts.PCIFunction) {
	netdev := firstOf(pf.Netdevs, "")
	_, asked := p.gap(facts.SRIOV, netdev)
	switch {
	case netdev == "":
		p.NotApplicable("%s has no netdev here that could be asked for its virtual functions", pf.Address)
	case s.Has(facts.SRIOV) && !asked:
		p.NotApplicable("the driver of %s tells nothing of its virtual functions", pf.Address)
	default:
		p.missing(facts.SRIOV, netdev, "settings of virtual functions")
	}
}

func firstOf(names []string, otherwise string) string {
	if len(names) == 0 {
		return otherwise
	}
	return slices.Min(names)
}

// judgeVF judges what a physical function has set for one virtual function that
// somebody uses.
func judgeVF(p *Pass, s *facts.Snapshot, tree facts.PCITree, pf *facts.PCIFunction, vf *facts.VirtualFunction) {
	p.Examine(1)
	f := tree[vf.Address]
	if f != nil && f.Driver.Or("-") == "" {
		p.NotApplicable("nothing uses %s", f.Address)
		return
	}
	netdev := firstOf(pf.Netdevs, "")
	shown := Evidence{"ip link show dev " + netdev, ""}
	if vf.LinkState.Or("") == "disable" {
		shown.Value = fmt.Sprintf("vf %d link-state disable", vf.Number)
		fd := vfFinding(p, s, pf, vf, "vf-link-down-by-pf", Warn, shown)
		fd.Message = fmt.Sprintf("the host keeps the link of virtual function %d of %s down", vf.Number, pf.Address)
		p.Report(fd)
	}
	if rate := vf.MaxTxRate.Or(0); rate > 0 {
		shown.Value = fmt.Sprintf("vf %d max_tx_rate %dMbps", vf.Number, rate/1e6)
		fd := vfFinding(p, s, pf, vf, "vf-rate-limited", Info, shown)
		fd.Message = fmt.Sprintf("virtual function %d of %s may send %s at most", vf.Number, pf.Address, rate)
		fd.Params["rate"] = rate.String()
		p.Report(fd)
	}
}

// vfFinding places a finding at the virtual function's device, where it is on
// this host. One that nothing here wants is information.
func vfFinding(p *Pass, s *facts.Snapshot, pf *facts.PCIFunction, vf *facts.VirtualFunction, code string, severity Severity, e Evidence) Finding {
	fd := Finding{
		Code: code, Severity: Info, Subject: fmt.Sprintf("%s vf %d", pf.Address, vf.Number), Confidence: Proved,
		Where: Where{PCI: pf.Address}, Evidence: []Evidence{e},
		Params: params("pci", vf.Address, "pf", firstOf(pf.Netdevs, ""), "vf", strconv.Itoa(vf.Number)),
	}
	if vf.Address == "" {
		return fd
	}
	fd.Subject, fd.Where.PCI = vf.Address, vf.Address
	d := deviceAt(s, vf.Address)
	if d == nil {
		return fd
	}
	placeAtDevice(&fd, d)
	if want, _ := p.WantedDevice(d); want {
		fd.Severity = severity
	}
	return fd
}

// placeAtDevice adds a device, and its port where it has one only.
func placeAtDevice(fd *Finding, d *facts.Device) {
	fd.Where.Device, fd.Params["device"] = d.Name, d.Name
	if len(d.Ports) != 1 {
		return
	}
	port := PortRef{&d.Ports[0], d}
	fd.Where.Port, fd.Params["port"] = port.Number, strconv.Itoa(port.Number)
	if n, ok := port.Netdev.Get(); ok {
		fd.Where.Netdev, fd.Params["netdev"] = n, n
	}
}

// judgeOwnGUID judges a virtual function's own InfiniBand device, which a guest
// sees too.
func judgeOwnGUID(p *Pass, s *facts.Snapshot, f *facts.PCIFunction) {
	d := deviceAt(s, f.Address)
	if d == nil || !slices.ContainsFunc(d.Ports, func(port facts.Port) bool { return IB(PortRef{&port, d}) }) {
		return
	}
	p.Examine(1)
	guid, ok := d.NodeGUID.Get()
	if !ok {
		p.Unread(d.Name, "node_guid")
		return
	}
	if strings.Trim(guid, "0:") != "" {
		return
	}
	fd := Finding{
		Code: "vf-guid-unset", Severity: Info, Subject: d.Name, Confidence: Proved, Where: Where{PCI: f.Address},
		Message:  "the host has given this virtual function no GUID, without which the subnet manager leaves it out",
		Evidence: []Evidence{{"/sys/class/infiniband/" + d.Name + "/node_guid", guid}},
		Params:   params("pci", f.Address),
	}
	placeAtDevice(&fd, d)
	if pf, number, ok := setBy(s, f); ok {
		fd.Params["pf"], fd.Params["vf"] = firstOf(pf.Netdevs, pf.Address), strconv.Itoa(number)
	}
	if want, _ := p.WantedDevice(d); want && !p.spare(d) {
		fd.Severity = Fail
	}
	p.Report(fd)
}

// spare reports whether d is a virtual function on the host that made it and
// nothing but its link speaks for its use: hosts make them in advance.
func (p *Pass) spare(d *facts.Device) bool {
	s := p.Read(facts.PCISysfs, facts.Links, facts.ProcessList, facts.RDMANetlink)
	f := pciFunction(s, d.PCI.Or(""))
	if f == nil || f.PhysFn == "" {
		return false
	}
	return !slices.ContainsFunc(d.Ports, func(port facts.Port) bool {
		used, _ := wantedWithoutLink(s, p.opt, PortRef{&port, d})
		return used
	})
}

// setBy finds the physical function that has f among its virtual ones.
func setBy(s *facts.Snapshot, f *facts.PCIFunction) (pf *facts.PCIFunction, number int, ok bool) {
	for i := range s.PCI {
		for _, vf := range s.PCI[i].VirtualFunctions {
			if vf.Address == f.Address {
				return &s.PCI[i], vf.Number, true
			}
		}
	}
	return nil, 0, false
}
