package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// smallRead is a Max_Read_Request_Size that costs: 512 is what most firmware
// sets (judgement section 3).
const smallRead = 256

var pcieReadSize = register(&Check{
	ID:    "pcie-read-size",
	Title: "NICs read host memory in large pieces",
	Doc: "To send, a NIC reads host memory, Max_Read_Request_Size bytes a request. At 256 or less the requests take a large part " +
		"of the link, so that sending is slower than receiving. Alone it is information: a slow port does not feel it.",
	Layer: PCIe,
	Needs: []facts.Source{facts.SysfsRDMA, facts.PCISysfs},
	Codes: []string{"pcie-mrrs-small"},
	Params: Params{
		"pcie-mrrs-small": "pci device? parent? bytes",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.PCISysfs)
		p.pcieNICs(func(f *facts.PCIFunction) {
			c, _ := f.Config.Get()
			size, ok := c.MaxReadRequest.Get()
			if !ok {
				unreadConfig(p, f, c)
				return
			}
			if size > smallRead {
				return
			}
			fd := Finding{
				Code: "pcie-mrrs-small", Severity: Info, Subject: f.Address, Confidence: Likely, Where: Where{PCI: f.Address},
				Message:  fmt.Sprintf("the NIC reads host memory %d bytes a request, 512 and more are usual", size),
				Evidence: []Evidence{{pciFile(f, "config"), fmt.Sprintf("Device Control: MaxReadReq %d bytes", size)}},
				Params:   pcieParams(s, f, "bytes", strconv.Itoa(size)),
			}
			if d := deviceAt(s, f.Address); d != nil {
				fd.Where.Device = d.Name
			}
			p.Report(fd)
		})
	},
})

// unreadConfig notes that the PCI Express capability of f was not read, or that
// there is none to read.
func unreadConfig(p *Pass, f *facts.PCIFunction, c facts.PCIConfig) {
	switch {
	case c.AllOnes:
		p.NotApplicable("%s does not answer", f.Address)
	case f.Power.Or("") == "suspended":
		p.NotApplicable("%s is suspended, and reading it would wake it", f.Address)
	case c.Bytes > 64 && !c.PortType.Known():
		p.NotApplicable("%s has no PCI Express capability", f.Address)
	default:
		p.Unread(f.Address, "PCI Express capability"+needsRoot(c))
	}
}
