package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var ethernetPortUp = register(&Check{
	ID:    "ethernet-port-up",
	Title: "every wanted Ethernet port has link",
	Doc: "RoCE and iWARP ports follow their netdev: it must be administratively up and have carrier. A dark port that " +
		"nothing uses is no fault.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.ProcessList, facts.Ethtool, facts.RDMANetlink},
	Codes: []string{"port-admin-down", "port-no-carrier", "port-down-unused", "port-wrong-cabled", "link-fec-mismatch", "module-fault"},
	Params: Params{
		"port-admin-down":   portParams,
		"port-no-carrier":   "device port netdev pci? ext_state?",
		"port-down-unused":  portParams,
		"port-wrong-cabled": wrongCabledParams,
		"link-fec-mismatch": "device port netdev pci? fec?",
		"module-fault":      moduleParams,
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool)
		for port := range p.Ports(OnEthernet) {
			judgeEthernetPort(p, port)
		}
	},
})

func judgeEthernetPort(p *Pass, port PortRef) {
	n := p.Read(facts.Links).Netdev(port.Netdev.Or(""))
	if n == nil {
		p.Unread(port.String(), "netdev")
		return
	}
	// A VLAN on a netdev that is down is down for that one's sake.
	if below := p.snap.Beneath(n); down(below) {
		n = below
	}
	want, why := p.Wanted(port)
	f := Finding{
		Severity: Fail, Subject: port.String(), Confidence: Proved, Where: port.Where(),
		Params: port.Params("netdev", n.Name),
	}
	state := Evidence{port.Path("state"), port.State.String()}
	up, ok := n.AdminUp.Get()
	carrier, seen := lit(n)
	switch {
	case !ok:
		p.Unread(port.String(), n.Name+" flags")
		return
	case !up:
		f.Code = "port-admin-down"
		f.Message = fmt.Sprintf("netdev %s is administratively down", n.Name)
		f.Evidence = []Evidence{{"RTM_GETLINK " + n.Name, "IFF_UP is clear, operstate " + n.OperState.String()}, state}
	case !seen:
		p.Unread(port.String(), n.Name+" carrier")
		return
	case carrier:
		judgeMembers(p, port, n)
		return
	default:
		f.Code = "port-no-carrier"
		f.Message = fmt.Sprintf("netdev %s is up and has no carrier", n.Name)
		f.Evidence = []Evidence{{"/sys/class/net/" + n.Name + "/operstate", n.OperState.String()}, state}
		if ext, ok := n.ExtState.Get(); ok {
			f.Message += ": " + ext
			f.Params["ext_state"] = ext
			if code, ok := darkReasons[ext]; ok {
				f.Code, f.Confidence = code, Likely
				delete(f.Params, "ext_state")
			}
			f.Evidence = append(f.Evidence, Evidence{"ETHTOOL_A_LINKSTATE_EXT_STATE " + n.Name, ext})
		}
		if other, ok := p.litUnwanted(port, p.ethernetLit); want && ok && f.Code == "port-no-carrier" {
			wrongCabled(&f, other)
		}
	}
	if want {
		f.Evidence = append(f.Evidence, Evidence{"use of " + port.String(), why})
	} else {
		unused(&f)
	}
	p.Report(f)
}

// judgeMembers reports the members of a port's bond that have no carrier: RDMA
// has lost their share of the rate, and the bond itself stays up.
func judgeMembers(p *Pass, port PortRef, bond *facts.Netdev) {
	for _, n := range p.snap.Hardware(bond) {
		carrier, seen := lit(n)
		if n == bond || down(n) || !seen || carrier {
			continue
		}
		f := Finding{
			Code: "port-no-carrier", Severity: Warn, Subject: port.String(), Confidence: Proved, Where: port.Where(),
			Message:  fmt.Sprintf("netdev %s of %s is up and has no carrier", n.Name, bond.Name),
			Evidence: []Evidence{{"/sys/class/net/" + n.Name + "/operstate", n.OperState.String()}},
			Params:   port.Params("netdev", n.Name),
		}
		if ext, ok := n.ExtState.Get(); ok {
			f.Message += ": " + ext
			f.Params["ext_state"] = ext
		}
		p.Report(f)
	}
}

// ethernetLit reports whether the port's netdev has carrier.
func (p *Pass) ethernetLit(port PortRef) bool {
	n := p.snap.Netdev(port.Netdev.Or(""))
	if n == nil || down(n) {
		return false
	}
	carrier, ok := lit(n)
	return ok && carrier
}

func down(n *facts.Netdev) bool { return !n.AdminUp.Or(true) }

// lit reports whether n has carrier, by operstate where carrier was not read.
// Drivers disagree about phys_state, so it is not looked at.
func lit(n *facts.Netdev) (carrier, ok bool) {
	if c, ok := n.Carrier.Get(); ok {
		return c, true
	}
	switch n.OperState.Or("") {
	case "up":
		return true, true
	case "down", "lowerlayerdown":
		return false, true
	}
	return false, false
}
