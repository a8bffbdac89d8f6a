package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var pciePeerPath = register(&Check{
	ID:    "pcie-peer-path",
	Title: "traffic between NIC and GPU takes the short way through their PCIe switch",
	Doc: "Access Control Services of a switch can send every request up to the root complex, even one for a neighbour. GPUDirect " +
		"then shares the narrow way up, or is stopped by the IOMMU. It keeps virtual machines apart, so it is looked at on " +
		"bare metal only, where NIC and GPU share a switch and no function is given away; alone it is information.",
	Layer: PCIe,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Codes: []string{"pcie-acs-redirect"},
	Params: Params{
		"pcie-acs-redirect": "pci device? parent? gpu bridges",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs)
		tree := s.PCITree()
		given := givenAway(s)
		p.pcieNICs(func(f *facts.PCIFunction) {
			between, gpu := peerBridges(s, tree, f)
			switch {
			case gpu == "":
				p.NotApplicable("%s shares no PCIe switch with a GPU", f.Address)
				return
			case given != "":
				p.NotApplicable("%s is given to a virtual machine, which ACS protects others from", given)
				return
			}
			var bridges []string
			fd := Finding{
				Code: "pcie-acs-redirect", Severity: Info, Subject: f.Address, Confidence: Likely, Where: Where{PCI: f.Address},
			}
			for _, b := range between {
				c, ok := b.Config.Get()
				if !ok || c.Bytes < facts.PCIConfigSpace {
					p.Unread(f.Address, "ACS of the bridge "+b.Address+needsRoot(c))
					return
				}
				control := c.ACS.Or(0)
				const redirects = facts.ACSRequestRedirect | facts.ACSCompletionRedirect
				// Direct Translated P2P is what lets a NIC with ATS past the redirection.
				if control&redirects == 0 || control&facts.ACSDirectTranslated != 0 {
					continue
				}
				bridges = append(bridges, b.Address)
				fd.Evidence = append(fd.Evidence, Evidence{pciFile(b, "config"), fmt.Sprintf("ACS control %#04x: %s", control, acsText(control))})
			}
			if bridges == nil {
				return
			}
			if d := deviceAt(s, f.Address); d != nil {
				fd.Where.Device = d.Name
			}
			fd.Message = fmt.Sprintf("ACS of %s sends traffic between this NIC and the GPU %s up to the root complex", strings.Join(bridges, ", "), gpu)
			fd.Params = pcieParams(s, f, "gpu", gpu, "bridges", strings.Join(bridges, " "))
			p.Report(fd)
		})
	},
})

// peerBridges are the bridges that traffic from f to GPUs behind the same
// switch passes, by address, and the first of these GPUs.
func peerBridges(s *facts.Snapshot, tree facts.PCITree, f *facts.PCIFunction) (all []*facts.PCIFunction, gpu string) {
	for i := range s.PCI {
		g := &s.PCI[i]
		if !g.GPU {
			continue
		}
		between, common := tree.Between(f, g)
		if common == nil || len(between) == 0 {
			continue
		}
		if gpu == "" || g.Address < gpu {
			gpu = g.Address
		}
		for _, b := range between {
			if !slices.Contains(all, b) {
				all = append(all, b)
			}
		}
	}
	slices.SortFunc(all, func(a, b *facts.PCIFunction) int { return strings.Compare(a.Address, b.Address) })
	return all, gpu
}

// givenAway is the first function that a driver hands to a virtual machine or to
// user space, "" where there is none.
func givenAway(s *facts.Snapshot) string {
	first := ""
	for i := range s.PCI {
		if f := &s.PCI[i]; passedThrough(f.Driver.Or("")) && (first == "" || f.Address < first) {
			first = f.Address
		}
	}
	return first
}

// acsText spells the bits that redirect as lspci(8) does.
func acsText(control uint16) string {
	sign := func(bit uint16) string {
		if control&bit != 0 {
			return "+"
		}
		return "-"
	}
	return "ReqRedir" + sign(facts.ACSRequestRedirect) + " CmpltRedir" + sign(facts.ACSCompletionRedirect)
}

// needsRoot says why a part of the configuration space is missing, where that
// is known.
func needsRoot(c facts.PCIConfig) string {
	if c.Bytes == 64 {
		return " (needs CAP_SYS_ADMIN)"
	}
	return ""
}
