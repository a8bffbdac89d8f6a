package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var linkWidth = register(&Check{
	ID:    "link-width",
	Title: "InfiniBand links run with all lanes",
	Doc: "A port has four lanes; one that trains with fewer lost the others to a cable, a connector or a module. One lane " +
		"is always a fault. Two are the normal width of HDR100 and NDR200 ports, so two count where the same board runs " +
		"four elsewhere.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"link-width-degraded"},
	Params: Params{
		"link-width-degraded": "device port netdev? pci? width expected",
	},
	Run: func(p *Pass) {
		for port := range p.Ports(IB) {
			if port.State.Or("") == facts.StateDown {
				p.NotApplicable("%s has no link", port)
				continue
			}
			width, ok := port.Width.Get()
			if !ok {
				p.Unread(port.String(), "width")
				continue
			}
			f := Finding{
				Code: "link-width-degraded", Severity: Fail, Subject: port.String(), Confidence: Proved, Where: port.Where(),
				Evidence: []Evidence{{port.Path("rate"), rateText(port)}},
			}
			wide, found := widest(p.snap, port)
			switch {
			case width == 1:
				f.Message = "the link runs with 1 lane (1X) where a port has 4"
			case found && width < wide.Width.Or(0):
				f.Severity, f.Confidence = Warn, Likely
				f.Message = fmt.Sprintf("the link runs with %d lanes, while %s of the same board runs with %s", width, wide, wide.Width)
			default:
				continue
			}
			expected := 4
			if found {
				expected = max(expected, wide.Width.Or(0))
				f.Evidence = append(f.Evidence, Evidence{wide.Path("rate"), rateText(wide)})
			}
			f.Params = port.Params("width", strconv.Itoa(width)+"X", "expected", strconv.Itoa(expected)+"X")
			p.Report(f)
		}
	},
})

// widest is the port with the most lanes among the others of the same board
// that have link.
func widest(s *facts.Snapshot, port PortRef) (best PortRef, found bool) {
	for i := range s.Devices {
		d := &s.Devices[i]
		if !sameBoard(d, port.Device) {
			continue
		}
		for j := range d.Ports {
			o := PortRef{&d.Ports[j], d}
			w, ok := o.Width.Get()
			if o.Port == port.Port || !IB(o) || o.State.Or(facts.StateDown) == facts.StateDown || !ok {
				continue
			}
			if !found || w > best.Width.Or(0) || w == best.Width.Or(0) && o.String() < best.String() {
				best, found = o, true
			}
		}
	}
	return best, found
}
