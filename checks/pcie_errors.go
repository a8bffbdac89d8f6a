package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// fewCorrected is how many corrected errors between two samples are more than
// what a good link has now and then.
const fewCorrected = 3

var pcieErrors = register(&Check{
	ID:    "pcie-errors",
	Title: "the PCIe path to the NIC is free of errors",
	Doc: "Advanced Error Reporting counts what went wrong on PCIe between the processor and the NIC. Corrected errors that " +
		"grow are a marginal contact, riser or slot, one or two of them information; uncorrected ones lose data.",
	Layer: PCIe,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Codes: []string{"pcie-aer-errors"},
	Params: Params{
		"pcie-aer-errors": "pci device? parent? counter",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs)
		p.pcieNICs(func(f *facts.PCIFunction) {
			there, twice := false, false
			fd := Finding{
				Code: "pcie-aer-errors", Severity: Warn, Subject: f.Address, Confidence: Proved, Where: Where{PCI: f.Address},
			}
			var names []string
			corrected := uint64(0)
			for _, hop := range pciPath(s, f) {
				for _, name := range slices.Sorted(maps.Keys(hop.AER)) {
					there = true
					d, ok := hop.AER[name].Delta()
					twice = twice || ok
					if !ok || d == 0 || strings.Contains(name, "TOTAL") { // The sum of the others.
						continue
					}
					names = append(names, name)
					fd.Evidence = append(fd.Evidence, moved(aerFile(hop.Address, name), hop.AER[name], d, s.Between(facts.PCISysfs)))
					if strings.HasPrefix(name, "correctable/") {
						corrected += d
					} else {
						fd.Severity = Fail
					}
				}
			}
			switch {
			case names != nil:
				if fd.Severity == Warn && corrected < fewCorrected {
					fd.Severity = Info
				}
				fd.Message = fmt.Sprintf("PCIe errors grew between the samples: %s", strings.Join(names, ", "))
				fd.Params = pcieParams(s, f, "counter", names[0])
				if d := deviceAt(s, f.Address); d != nil {
					fd.Where.Device = d.Name
				}
				p.Report(fd)
			case !there:
				p.NotApplicable("the path to %s has no error reporting", f.Address)
			case !twice:
				p.Unread(f.Address, "second sample of the AER counters")
			}
		})
	},
})
