package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var ecnOn = register(&Check{
	ID:    "ecn-on",
	Title: "congestion control is on for the RoCE priority",
	Doc: "DCQCN slows senders before buffers overflow: the receiver answers marked packets with CNPs (notification " +
		"point), the sender heeds them (reaction point). Only some drivers show whether it is on; where the state cannot " +
		"be read it is not known, which is not the same as off.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.PCISysfs, facts.DCBNetlink, facts.Ethtool},
	Codes: []string{"ecn-off"},
	Params: Params{
		"ecn-off": "device port netdev pci? priority path",
	},
	Run: func(p *Pass) {
		p.Read(facts.DCBNetlink, facts.Ethtool, facts.PCISysfs)
		for port, n := range p.PortNetdev(RoCE) {
			switch {
			case port.Device.Software():
				p.NotApplicable("%s is software without congestion control", port.Device.Name)
				continue
			case p.virtualFunction(port.Device):
				p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
				continue
			case len(n.ECN) == 0:
				p.Unread(port.String(), "ECN state")
				continue
			}
			judgeECN(p, port, n)
		}
	},
})

func judgeECN(p *Pass, port PortRef, n *facts.Netdev) {
	dcb, _ := n.DCB.Get()
	prio, ok := findRide(port, n, dcb).Priority.Get()
	if !ok {
		p.NotApplicable("which priority RoCE rides on %s is not known", n.Name)
		return
	}
	read := false
	for _, role := range []string{"roce_np", "roce_rp"} {
		key := role + "/enable/" + strconv.Itoa(prio)
		on, ok := n.ECN[key]
		if read = read || ok; !ok || on != 0 {
			continue
		}
		path := "/sys/class/net/" + n.Name + "/ecn/" + key
		f := Finding{
			Code: "ecn-off", Severity: Info, Subject: port.String(), Confidence: Proved, Where: port.Where(),
			Message:  fmt.Sprintf("congestion control (%s) is off for priority %d, which RoCE rides", role, prio),
			Evidence: []Evidence{{path, "0"}},
			Params:   port.Params("netdev", n.Name, "priority", strconv.Itoa(prio), "path", path),
		}
		if drops := roceDropped(n, facts.Some(prio)); len(drops) > 0 {
			f.Severity = Warn
			f.Message += fmt.Sprintf(", and %d packets were discarded between the samples", most(drops))
			for _, g := range drops {
				f.Evidence = append(f.Evidence, g.evidence("ethtool -S "+n.Name+" ", p.snap.Between(facts.Ethtool)))
			}
		}
		p.Report(f)
	}
	if !read {
		p.Unread(port.String(), fmt.Sprintf("ECN state of priority %d", prio))
	}
}
