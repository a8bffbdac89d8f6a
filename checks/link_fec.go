package checks

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var linkFEC = register(&Check{
	ID:    "link-fec",
	Title: "forward error correction is what the speed needs",
	Doc: "From 50 Gb/s a lane on a link cannot do without Reed-Solomon correction: the signal has errors by design. At 25 " +
		"Gb/s a lane it is a matter of the cable, and both ends must agree.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.Ethtool},
	Uses:  []facts.Source{facts.PCISysfs},
	Codes: []string{"link-fec-mismatch"},
	Params: Params{
		"link-fec-mismatch": "device port netdev pci? fec?",
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool, facts.PCISysfs)
		for port, n := range p.PortNetdev(OnEthernet) {
			active, ok := n.FEC.Get()
			carrier, _ := lit(n)
			switch {
			case p.withoutLinkOfItsOwn(port):
			case down(n) || !carrier:
				p.NotApplicable("%s has no link", n.Name)
			case !ok:
				p.missing(facts.Ethtool, n.Name, "FEC")
			default:
				judgeFEC(p, port, n, active)
			}
		}
	},
})

// pam4Lane is the slowest lane that uses four levels, in what it carries. A
// port at 200 Gb/s or more has no slower ones.
const (
	pam4Lane = facts.BitsPerSecond(40e9)
	pam4Port = facts.BitsPerSecond(200e9)
)

func judgeFEC(p *Pass, port PortRef, n *facts.Netdev, active string) {
	speed, ok := n.Speed.Get()
	if !ok {
		p.Unread(n.Name, "speed")
		return
	}
	lane, known := ethernetLane(n)
	needs := known && lane > pam4Lane || !known && speed >= pam4Port
	if !needs || active == "RS" || active == "LLRS" {
		return
	}
	what := speed.String()
	if known {
		what += fmt.Sprintf(" over %d lanes", int(speed/lane))
	}
	f := Finding{
		Code: "link-fec-mismatch", Severity: Warn, Subject: port.String(), Confidence: Likely, Where: port.Where(),
		Message: fmt.Sprintf("%s runs at %s with FEC %s, which needs RS", n.Name, what, active),
		Evidence: []Evidence{{"ETHTOOL_A_FEC_ACTIVE " + n.Name, active},
			{"/sys/class/net/" + n.Name + "/speed", fmt.Sprint(uint64(speed) / 1e6)}},
		Params: port.Params("netdev", n.Name, "fec", "rs"),
	}
	if n.FECModes != nil {
		f.Evidence = append(f.Evidence, Evidence{"ETHTOOL_A_FEC_MODES " + n.Name, strings.Join(n.FECModes, " ")})
	}
	p.Report(f)
}
