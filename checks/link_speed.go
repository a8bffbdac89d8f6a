package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var linkSpeed = register(&Check{
	ID:    "link-speed",
	Title: "links run at the speed both ends can do",
	Doc: "A damaged lane, a wrong cable or a forced speed lets a link train at less than both ends offer, and every test " +
		"that divides by the negotiated speed passes. On Ethernet the advertised modes of both ends tell what should be, " +
		"on InfiniBand the ports of the same board do.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool, facts.PCISysfs},
	Codes: []string{"link-speed-degraded"},
	Params: Params{
		"link-speed-degraded": "device port netdev? pci? speed expected",
	},
	Run: func(p *Pass) {
		p.Read(facts.Links, facts.Ethtool, facts.PCISysfs)
		for port := range p.Ports(nil) {
			switch {
			case port.State.Or("") == facts.StateDown:
				p.NotApplicable("%s has no link", port)
			case IB(port):
				judgeInfiniBandSpeed(p, port)
			case OnEthernet(port):
				judgeEthernetSpeed(p, port)
			default:
				p.NotApplicable("the link layer of %s is not known", port)
			}
		}
	},
})

// judgeInfiniBandSpeed compares with the fastest port of the same board at the
// same width: a speed alone proves nothing.
func judgeInfiniBandSpeed(p *Pass, port PortRef) {
	rate, ok := port.Rate.Get()
	if !ok {
		p.Unread(port.String(), "rate")
		return
	}
	best, found := fastest(p.snap, port)
	if !found {
		p.NotApplicable("no other port of the board of %s tells what its speed should be", port)
		return
	}
	if best.Rate.Or(0) <= rate || best.Width != port.Width {
		return // A missing lane is the width check's.
	}
	reportSpeed(p, port, rate, best.Rate.Or(0), Warn,
		fmt.Sprintf("the link runs at %s, while %s of the same board runs at %s", rate, best, best.Rate),
		[]Evidence{{port.Path("rate"), rateText(port)}, {best.Path("rate"), rateText(best)}})
}

// judgeEthernetSpeed compares with the fastest mode that both ends advertise.
// Without negotiation there is nothing to hold a speed against.
func judgeEthernetSpeed(p *Pass, port PortRef) {
	n := p.snap.Netdev(port.Netdev.Or(""))
	if n == nil {
		p.Unread(port.String(), "netdev")
		return
	}
	for i, owner := range p.snap.Hardware(n) {
		if i > 0 {
			p.Examine(1)
		}
		judgeNegotiation(p, port, owner)
	}
}

// judgeNegotiation judges one netdev of a port, of which a bond has several.
func judgeNegotiation(p *Pass, port PortRef, n *facts.Netdev) {
	modes, ok := n.LinkModes.Get()
	speed, known := n.Speed.Get()
	switch {
	case p.virtualFunction(port.Device):
		p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
		return
	case !ok:
		p.missing(facts.Ethtool, n.Name, "link modes")
		return
	case !known:
		p.Unread(n.Name, "speed")
		return
	case !modes.Autoneg.Or(false) || modes.MaxAdvertised == 0:
		p.NotApplicable("%s does not negotiate its speed", n.Name)
		return
	}
	expected, severity := modes.MaxAdvertised, Info // The partner may offer no more.
	what := fmt.Sprintf("%s runs at %s and advertises up to %s", n.Name, speed, expected)
	if modes.MaxPartner > 0 {
		expected, severity = min(expected, modes.MaxPartner), Warn
		what = fmt.Sprintf("%s runs at %s, while both ends advertise %s", n.Name, speed, expected)
	}
	if speed >= expected {
		return
	}
	evidence := []Evidence{{"/sys/class/net/" + n.Name + "/speed", strconv.FormatUint(uint64(speed)/1e6, 10)},
		{"ETHTOOL_A_LINKMODES_OURS " + n.Name, "fastest advertised: " + modes.MaxAdvertised.String()}}
	if modes.MaxPartner > 0 {
		evidence = append(evidence, Evidence{"ETHTOOL_A_LINKMODES_PEER " + n.Name, "fastest advertised: " + modes.MaxPartner.String()})
	}
	reportSpeed(p, port, speed, expected, severity, what, evidence, "netdev", n.Name)
}

func reportSpeed(p *Pass, port PortRef, speed, expected facts.BitsPerSecond, severity Severity, message string, evidence []Evidence, pairs ...string) {
	p.Report(Finding{
		Code: "link-speed-degraded", Severity: severity, Subject: port.String(), Confidence: Likely, Where: port.Where(),
		Message: message, Evidence: evidence,
		Params: port.Params(append(pairs, "speed", speed.String(), "expected", expected.String())...),
	})
}

// fastest is the InfiniBand port with the highest rate among the others of the
// same board that have link.
func fastest(s *facts.Snapshot, port PortRef) (best PortRef, found bool) {
	for i := range s.Devices {
		d := &s.Devices[i]
		if !sameBoard(d, port.Device) {
			continue
		}
		for j := range d.Ports {
			o := PortRef{&d.Ports[j], d}
			if o.Port == port.Port || !IB(o) || o.State.Or(facts.StateDown) == facts.StateDown || !o.Rate.Known() {
				continue
			}
			if !found || o.Rate.Or(0) > best.Rate.Or(0) || o.Rate.Or(0) == best.Rate.Or(0) && o.String() < best.String() {
				best, found = o, true
			}
		}
	}
	return best, found
}

// sameBoard reports whether two devices are of one type, wherever they sit.
func sameBoard(a, b *facts.Device) bool {
	ba, ok1 := a.BoardID.Get()
	bb, ok2 := b.BoardID.Get()
	return a == b || ok1 && ok2 && ba == bb
}

// rateText is the rate as sysfs prints it.
func rateText(port PortRef) string {
	rate, _ := port.Rate.Get()
	text := strconv.FormatFloat(float64(rate)/1e9, 'f', -1, 64) + " Gb/sec"
	if w, ok := port.Width.Get(); ok {
		text += fmt.Sprintf(" (%dX", w)
		if speed, ok := port.Speed.Get(); ok {
			text += " " + speed
		}
		text += ")"
	}
	return text
}
