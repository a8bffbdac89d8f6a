package checks

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var iommuPassthrough = register(&Check{
	ID:    "iommu-passthrough",
	Title: "DMA of RDMA NICs bypasses IOMMU translation",
	Doc: "With translation every DMA address is looked up, which costs rate where buffers are many and registration time " +
		"everywhere, and can break transfers between PCIe devices. It protects the host, and many sites want it: alone it " +
		"is information.",
	Layer: PCIe,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Codes: []string{"iommu-translated"},
	Params: Params{
		"iommu-translated": "pci device? parent? type",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs)
		var translated []string
		var f Finding
		p.pcieNICs(func(fn *facts.PCIFunction) {
			kind, ok := fn.IOMMUType.Get()
			switch {
			case !ok:
				p.NotApplicable("%s is in no IOMMU group whose type the kernel tells", fn.Address)
			case strings.HasPrefix(kind, "DMA"):
				translated = append(translated, fn.Address)
				e := Evidence{pciFile(fn, "iommu_group/type"), kind}
				if f.Evidence == nil {
					f = Finding{
						Code: "iommu-translated", Severity: Info, Subject: fn.Address, Confidence: Proved,
						Where: Where{PCI: fn.Address}, Params: pcieParams(s, fn, "type", kind),
					}
				}
				f.Evidence = append(f.Evidence, e)
			}
		})
		if translated == nil {
			return
		}
		// The setting is the host's: one finding for all of its NICs.
		f.Message = fmt.Sprintf("DMA of %s goes through IOMMU translation", strings.Join(translated, ", "))
		p.Report(f)
	},
})
