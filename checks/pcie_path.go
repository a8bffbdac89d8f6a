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

// laneRate is what one lane carries after line coding, in Gb/s: 8b/10b below
// 8 GT/s, 128b/130b below 64 GT/s, FLIT mode (236 of 256 bytes) there.
func laneRate(gtps float64) float64 {
	switch {
	case gtps < 8:
		return gtps * 0.8
	case gtps < 64:
		return gtps * 128 / 130
	}
	return gtps * 236 / 256
}

// payloadShare is what a TLP leaves of the lanes: its payload with 24 bytes of
// overhead. Both ends of a link are set to one Max_Payload_Size, 256 mostly.
func payloadShare(f *facts.PCIFunction) float64 {
	payload := float64(max(f.Config.Or(facts.PCIConfig{}).MaxPayload.Or(256), 128))
	return payload / (payload + 24)
}

// pcieCeiling is the payload rate of the narrowest link from f to the root,
// and the function whose link that is.
func pcieCeiling(s *facts.Snapshot, f *facts.PCIFunction) (gbps float64, at *facts.PCIFunction) {
	for _, hop := range pciPath(s, f) {
		speed, ok1 := hop.CurrentSpeed.Get()
		width, ok2 := hop.CurrentWidth.Get()
		if !ok1 || !ok2 || speed <= 0 || width <= 0 {
			continue
		}
		if rate := laneRate(speed) * float64(width) * payloadShare(f); at == nil || rate < gbps {
			gbps, at = rate, hop
		}
	}
	return gbps, at
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
