package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// fewestGPUs is how many GPUs make a pattern: all but one of four.
const fewestGPUs = 4

var gpuHasNIC = register(&Check{
	ID:    "gpu-has-nic",
	Title: "every GPU has an RDMA NIC at its PCIe switch where the others have",
	Doc: "GPU servers pair each GPU with a NIC below one PCIe switch. Where one GPU of at least four has none and all others " +
		"have one of the same kind, a card is not there: fallen off the bus, not powered, not seen at boot. A job finds seven " +
		"NICs where other nodes have eight.",
	Layer: PCIe,
	Needs: []facts.Source{facts.PCISysfs},
	Codes: []string{"device-missing"},
	Params: Params{
		"device-missing": "gpu? device? pci? expected have",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs)
		p.Otherwise("no pattern of GPUs and RDMA NICs is here")
		var gpus, nics []*facts.PCIFunction
		for i := range s.PCI {
			switch f := &s.PCI[i]; {
			case f.GPU:
				gpus = append(gpus, f)
			case f.RDMACapable != "" && !f.VF:
				nics = append(nics, f)
			}
		}
		gpus = mostAlike(gpus)
		switch {
		case len(gpus) < fewestGPUs || len(nics) == 0:
			return
		case s.Host.Virtual.Or(false):
			p.Examine(1)
			p.NotApplicable("owned by the host: this is a guest")
			return
		case slices.ContainsFunc(gpus, func(f *facts.PCIFunction) bool { return f.Parent == "" }):
			p.Examine(1)
			p.Unread("host", "bridges above the GPUs")
			return
		}
		slices.SortFunc(gpus, func(a, b *facts.PCIFunction) int { return strings.Compare(a.Address, b.Address) })
		tree := s.PCITree()
		kinds, lonely := map[uint16]int{}, []*facts.PCIFunction{}
		for _, gpu := range gpus {
			nic := nicBeside(tree, gpu, nics)
			if nic == nil {
				lonely = append(lonely, gpu)
				continue
			}
			kinds[nic.DeviceID.Or(0)]++
		}
		if len(lonely) == len(gpus) || len(kinds) != 1 {
			return // No GPU has one, or of several kinds: nothing can be told.
		}
		p.Examine(1)
		switch len(lonely) {
		case 0:
		case 1:
			reportLonely(p, lonely[0], gpus, nics)
		default:
			p.NotApplicable("%d of %d GPUs have no RDMA NIC at their PCIe switch, which may be how the host is built", len(lonely), len(gpus))
		}
	},
})

// mostAlike are the GPUs of the commonest kind: one for the display beside them
// is no part of a pattern.
func mostAlike(gpus []*facts.PCIFunction) []*facts.PCIFunction {
	kind := func(f *facts.PCIFunction) [2]uint16 { return [2]uint16{f.Vendor.Or(0), f.DeviceID.Or(0)} }
	count := map[[2]uint16]int{}
	for _, f := range gpus {
		count[kind(f)]++
	}
	most := 0
	for _, n := range count {
		most = max(most, n)
	}
	return slices.DeleteFunc(gpus, func(f *facts.PCIFunction) bool { return count[kind(f)] != most })
}

// nicBeside is the first RDMA NIC that shares a PCIe switch with gpu, or nil.
func nicBeside(tree facts.PCITree, gpu *facts.PCIFunction, nics []*facts.PCIFunction) (first *facts.PCIFunction) {
	for _, nic := range nics {
		if _, common := tree.Between(gpu, nic); common != nil && (first == nil || nic.Address < first.Address) {
			first = nic
		}
	}
	return first
}

func reportLonely(p *Pass, gpu *facts.PCIFunction, gpus, nics []*facts.PCIFunction) {
	f := Finding{
		Code: "device-missing", Severity: Warn, Subject: hostSubject, Confidence: Likely,
		Message:  fmt.Sprintf("GPU %s has no RDMA NIC at its PCIe switch, and the %d other GPUs have one", gpu.Address, len(gpus)-1),
		Params:   params("gpu", gpu.Address, "have", fmt.Sprint(len(gpus)-1), "expected", fmt.Sprint(len(gpus))),
		Evidence: []Evidence{{strings.TrimSuffix(pciFile(gpu, ""), "/"), "below " + cmp.Or(gpu.Parent, "the root") + ", no RDMA NIC beside it"}},
	}
	slices.SortFunc(nics, func(a, b *facts.PCIFunction) int { return strings.Compare(a.Address, b.Address) })
	for _, nic := range nics[:min(len(nics), 16)] {
		f.Evidence = append(f.Evidence, Evidence{strings.TrimSuffix(pciFile(nic, ""), "/"), fmt.Sprintf("%04x:%04x %s", nic.Vendor.Or(0), nic.DeviceID.Or(0), strings.Join(nic.RDMADevices, " "))})
	}
	p.Report(f)
}
