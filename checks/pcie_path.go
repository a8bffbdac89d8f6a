package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// pcieNICs yields, by address, the RDMA functions whose PCIe link this host owns. In a
// guest the link shown is the hypervisor's make-believe, and a VF has none.
func (p *Pass) pcieNICs(yield func(*facts.PCIFunction)) {
	s := p.Read(facts.PCISysfs, facts.SysfsRDMA)
	p.Otherwise("no RDMA device sits on PCIe")
	functions := make([]*facts.PCIFunction, len(s.PCI))
	for i := range s.PCI {
		functions[i] = &s.PCI[i]
	}
	slices.SortFunc(functions, func(a, b *facts.PCIFunction) int { return strings.Compare(a.Address, b.Address) })
	for _, f := range functions {
		if len(f.RDMADevices) == 0 && deviceAt(s, f.Address) == nil {
			continue
		}
		p.Examine(1)
		switch {
		case f.VF:
			p.NotApplicable("owned by the host: %s is a virtual function", f.Address)
		case s.Host.Virtual.Or(false):
			p.NotApplicable("owned by the host: this is a guest")
		default:
			yield(f)
		}
	}
}

// pciFunction finds a PCI function by its address.
func pciFunction(s *facts.Snapshot, address string) *facts.PCIFunction {
	for i := range s.PCI {
		if address != "" && s.PCI[i].Address == address {
			return &s.PCI[i]
		}
	}
	return nil
}

// pciPath is the function and the bridges above it, up to the root port.
func pciPath(s *facts.Snapshot, f *facts.PCIFunction) []*facts.PCIFunction {
	var path []*facts.PCIFunction
	for range 16 { // A deeper tree is a loop in hostile input.
		if f == nil {
			break
		}
		path = append(path, f)
		f = pciFunction(s, f.Parent)
	}
	return path
}

func pciFile(f *facts.PCIFunction, name string) string {
	return "/sys/bus/pci/devices/" + f.Address + "/" + name
}

// linkEvidence shows a function's link as sysfs does.
func linkEvidence(f *facts.PCIFunction) []Evidence {
	return []Evidence{
		{pciFile(f, "current_link_speed"), fmt.Sprintf("%g GT/s PCIe", f.CurrentSpeed.Or(0))},
		{pciFile(f, "current_link_width"), f.CurrentWidth.String()},
	}
}

// pcieParams are the parameters all findings about a NIC's PCIe link have.
func pcieParams(s *facts.Snapshot, f *facts.PCIFunction, pairs ...string) map[string]string {
	device := ""
	if d := deviceAt(s, f.Address); d != nil {
		device = d.Name
	} else if len(f.RDMADevices) > 0 {
		device = f.RDMADevices[0]
	}
	return params(append([]string{"pci", f.Address, "device", device, "parent", f.Parent}, pairs...)...)
}
