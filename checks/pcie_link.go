package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var pcieLink = register(&Check{
	ID:    "pcie-link",
	Title: "PCIe links run at the width and speed both ends can do",
	Doc: "A card that is not seated well, a riser or a damaged contact lets a PCIe link train with fewer lanes or a " +
		"generation low, and bandwidth stops at half or a quarter. What counts is the lower of what the card and the slot " +
		"above it can do.",
	Layer: PCIe,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Codes: []string{"pcie-width-degraded", "pcie-speed-degraded"},
	Params: Params{
		"pcie-width-degraded": "pci device? parent? width expected",
		"pcie-speed-degraded": "pci device? parent? speed expected",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs)
		p.pcieNICs(func(f *facts.PCIFunction) {
			width, ok1 := f.CurrentWidth.Get()
			mostWidth, ok2 := f.MaxWidth.Get()
			speed, ok3 := f.CurrentSpeed.Get()
			mostSpeed, ok4 := f.MaxSpeed.Get()
			if !ok1 || !ok2 || !ok3 || !ok4 || width == 0 {
				p.Unread(f.Address, "PCIe link")
				return
			}
			if above := pciFunction(s, f.Parent); above != nil {
				mostWidth = min(mostWidth, above.MaxWidth.Or(mostWidth))
				mostSpeed = min(mostSpeed, above.MaxSpeed.Or(mostSpeed))
			}
			fd := Finding{
				Severity: Warn, Subject: f.Address, Confidence: Proved, Where: Where{PCI: f.Address},
				Evidence: linkEvidence(f),
			}
			if d := deviceAt(s, f.Address); d != nil {
				fd.Where.Device = d.Name
			}
			if width < mostWidth {
				w := fd
				w.Code = "pcie-width-degraded"
				w.Message = fmt.Sprintf("the PCIe link has %d lanes, and card and slot can do %d", width, mostWidth)
				w.Params = pcieParams(s, f, "width", "x"+strconv.Itoa(width), "expected", "x"+strconv.Itoa(mostWidth))
				p.Report(w)
			}
			if speed < mostSpeed {
				w := fd
				w.Code = "pcie-speed-degraded"
				w.Message = fmt.Sprintf("the PCIe link runs at %g GT/s, and card and slot can do %g GT/s", speed, mostSpeed)
				w.Params = pcieParams(s, f, "speed", fmt.Sprintf("%g GT/s", speed), "expected", fmt.Sprintf("%g GT/s", mostSpeed))
				p.Report(w)
			}
		})
	},
})
