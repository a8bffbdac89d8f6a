package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var moduleTemperature = register(&Check{
	ID:    "module-temperature",
	Title: "optics are no hotter than they may be",
	Doc: "An optic tells its temperature and the limits that its maker set. Above the alarm limit its laser drifts and " +
		"bit errors rise, until the NIC switches it off and the link is gone.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.Ethtool},
	Uses:  []facts.Source{facts.PCISysfs, facts.Namespaces},
	Codes: []string{"module-fault"},
	Params: Params{
		"module-fault": moduleParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Ethtool, facts.PCISysfs, facts.Namespaces)
		for port, n := range p.PortNetdev(OnEthernet) {
			optic, ok := n.Transceiver.Get()
			carrier, _ := lit(n)
			switch {
			case p.withoutLinkOfItsOwn(port):
			case down(n) || !carrier:
				p.NotApplicable("%s has no link", n.Name)
			case !ok && s.Host.Virtual.Or(false):
				p.NotApplicable("owned by the host: this is a virtual machine")
			case !ok:
				p.missing(facts.Ethtool, n.Name, "module memory")
			case !optic.Temperature.Known() || !optic.HighAlarm.Known():
				p.NotApplicable("the module of %s tells no temperature", n.Name)
			default:
				judgeOptic(p, port, n, optic)
			}
		}
	},
})

func judgeOptic(p *Pass, port PortRef, n *facts.Netdev, o facts.Transceiver) {
	now, alarm, warning := o.Temperature.Or(0), o.HighAlarm.Or(0), o.HighWarning.Or(0)
	f := Finding{Code: "module-fault", Subject: port.String(), Confidence: Proved, Where: port.Where()}
	switch {
	case now >= alarm:
		f.Severity = Warn
		f.Message = fmt.Sprintf("the module is at %.1f °C, and its maker's alarm is at %.1f °C", now, alarm)
	case now >= warning:
		f.Severity = Info
		f.Message = fmt.Sprintf("the module is at %.1f °C, and its maker warns from %.1f °C", now, warning)
	default:
		return
	}
	f.Evidence = []Evidence{{"ethtool --module-info " + n.Name, fmt.Sprintf("%.2f degrees C, high alarm %.2f, high warning %.2f", now, alarm, warning)}}
	f.Params = port.Params("netdev", n.Name)
	p.Report(f)
}

// opticName tells a module or cable from others.
func opticName(o facts.Transceiver) string {
	s := o.Form
	for _, part := range []struct{ what, value string }{{"", o.Vendor}, {"", o.Part}, {"serial ", o.Serial}} {
		if part.value != "" {
			s += " " + part.what + part.value
		}
	}
	return s
}
