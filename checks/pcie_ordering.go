package checks

import "github.com/rdmadoctor/rdmadoctor/internal/facts"

var pcieOrdering = register(&Check{
	ID:    "pcie-ordering",
	Title: "NICs may use relaxed ordering where programs ask for it",
	Doc: "Programs ask for relaxed ordering of their memory regions, which processors with many memory channels need for full rate. " +
		"Where it is switched off for the function the wish has no effect. The kernel does so rightly below root ports that " +
		"handle it badly. Alone it is information.",
	Layer: PCIe,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Codes: []string{"pcie-relaxed-ordering"},
	Params: Params{
		"pcie-relaxed-ordering": "pci device? parent?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs)
		tree := s.PCITree()
		p.pcieNICs(func(f *facts.PCIFunction) {
			c, _ := f.Config.Get()
			on, ok := c.RelaxedOrdering.Get()
			switch {
			case !ordersItself(f.Driver.Or("")):
				p.NotApplicable("%s is of a driver that does not use relaxed ordering", f.Address)
			case !ok:
				unreadConfig(p, f, c)
			case on:
			case strictRoot(tree, f):
				p.NotApplicable("the kernel keeps relaxed ordering off below the root port of %s", f.Address)
			default:
				fd := Finding{
					Code: "pcie-relaxed-ordering", Severity: Info, Subject: f.Address, Confidence: Possible, Where: Where{PCI: f.Address},
					Message:  "relaxed ordering is off for the NIC, so that programs which ask for it do not get it",
					Evidence: []Evidence{{pciFile(f, "config"), "Device Control: RlxdOrd-"}},
					Params:   pcieParams(s, f),
				}
				if d := deviceAt(s, f.Address); d != nil {
					fd.Where.Device = d.Name
				}
				p.Report(fd)
			}
		})
	},
})

// ordersItself reports whether a driver looks at Enable Relaxed Ordering
// (pcie_relaxed_ordering_enabled). Other NICs may have the bit tied to zero.
func ordersItself(driver string) bool {
	switch driver {
	case "mlx5_core", "bnxt_en", "cxgb4":
		return true
	}
	return false
}

// strictRoot reports whether f is below a root port for which the kernel
// switches relaxed ordering off (quirks.c, quirk_relaxedordering_disable):
// Haswell and Broadwell server processors, and AMD's Seattle.
func strictRoot(tree facts.PCITree, f *facts.PCIFunction) bool {
	up := tree.Bridges(f)
	if len(up) == 0 {
		return false
	}
	root := up[len(up)-1]
	switch id := root.DeviceID.Or(0); root.Vendor.Or(0) {
	case 0x8086:
		return 0x6f01 <= id && id <= 0x6f0e || 0x2f01 <= id && id <= 0x2f0e
	case 0x1022:
		return 0x1a00 <= id && id <= 0x1a02
	}
	return false
}
