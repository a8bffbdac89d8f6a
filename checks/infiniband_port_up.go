package checks

import (
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var infinibandPortUp = register(&Check{
	ID:    "infiniband-port-up",
	Title: "every wanted InfiniBand port is ACTIVE",
	Doc: "A port trains its link with the far end, then a subnet manager takes it from INIT over ARMED to ACTIVE. The " +
		"logical and the physical state together tell a missing cable, a missing subnet manager and a port that the " +
		"subnet manager keeps out.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.ProcessList, facts.RDMANetlink},
	Codes: []string{"port-polling", "port-admin-down", "port-no-subnet-manager", "port-not-admitted", "port-armed",
		"port-down-unused", "port-wrong-cabled"},
	Params: Params{
		"port-polling":           portParams,
		"port-admin-down":        portParams,
		"port-no-subnet-manager": "device port netdev? pci? sm_lid?",
		"port-not-admitted":      "device port netdev? pci? sm_lid? active",
		"port-armed":             "device port netdev? pci? sm_lid?",
		"port-down-unused":       portParams,
		"port-wrong-cabled":      wrongCabledParams,
	},
	Run: func(p *Pass) {
		for port := range p.Ports(IB) {
			judgeInfiniBandPort(p, port)
		}
	},
})

// settle is how long after boot, and so after link-up, a subnet manager may
// take to find a port (judgement section 3).
const settle = 30 * time.Second

func judgeInfiniBandPort(p *Pass, port PortRef) {
	state, ok := port.StateLast.Get()
	if !ok {
		state, ok = port.State.Get()
	}
	if !ok {
		p.Unread(port.String(), "state")
		return
	}
	want, why := p.Wanted(port)
	f := Finding{
		Severity: Fail, Subject: port.String(), Confidence: Proved, Where: port.Where(), Params: port.Params(),
		Evidence: []Evidence{{port.Path("state"), string(state)}, {port.Path("phys_state"), port.PhysState.String()}},
	}
	if first, ok := port.State.Get(); ok && first != state && state != facts.StateActive {
		p.NotApplicable("%s changed from %s to %s between the samples", port, first, state)
		return
	}
	switch state {
	case facts.StateActive, facts.StateActiveDefer:
		return
	case facts.StateInit:
		if up, ok := p.snap.Host.Uptime.Get(); ok && up < settle {
			p.NotApplicable("the host booted less than 30 s ago")
			return
		}
		judgeInit(p, port, &f)
		sm(port, &f)
	case facts.StateArmed:
		f.Code = "port-armed"
		f.Message = "the port is ARMED: the subnet manager configured it and did not bring it to ACTIVE"
		sm(port, &f)
	case facts.StateDown:
		judgeDarkPort(p, port, &f, want)
	default:
		p.Unread(port.String(), "state "+string(state))
		return
	}
	if want {
		f.Evidence = append(f.Evidence, Evidence{"use of " + port.String(), why})
	} else {
		unused(&f)
	}
	p.Report(f)
}

// judgeInit: the link is up and the port waits for a subnet manager. Whether
// there is one shows in another port that it took to ACTIVE.
func judgeInit(p *Pass, port PortRef, f *Finding) {
	f.Code = "port-no-subnet-manager"
	f.Message = "the link is up and no subnet manager configures the port: it stays in INIT"
	active, sure := activeSibling(p.snap, port)
	if active.Port == nil {
		return
	}
	f.Code, f.Confidence = "port-not-admitted", Possible
	if sure {
		f.Confidence = Likely
	}
	f.Message = fmt.Sprintf("the link is up and the port stays in INIT, while %s is ACTIVE: the subnet manager keeps it out", active)
	f.Evidence = append(f.Evidence, Evidence{active.Path("state"), string(facts.StateActive)})
	f.Params["active"] = active.String()
}

// activeSibling is an ACTIVE InfiniBand port, of the same subnet where both
// tell theirs. A port in INIT has the default prefix until a subnet manager
// sets another, so a differing prefix does not tell two fabrics apart.
func activeSibling(s *facts.Snapshot, port PortRef) (found PortRef, sure bool) {
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			o := PortRef{&d.Ports[j], d}
			if o.Port == port.Port || !IB(o) || o.State.Or("") != facts.StateActive {
				continue
			}
			same := prefix(o) != "" && prefix(o) == prefix(port)
			if found.Port == nil || same && !sure || same == sure && o.String() < found.String() {
				found, sure = o, same
			}
		}
	}
	return found, sure
}

// prefix is the subnet prefix of a port, the upper half of GID 0.
func prefix(port PortRef) string {
	for _, g := range port.GIDs {
		if g.Index == 0 && len(g.Value) >= 20 {
			return g.Value[:19]
		}
	}
	return ""
}

// sm adds the LID of the last subnet manager seen: where it is set one exists,
// and a second must not be started.
func sm(port PortRef, f *Finding) {
	lid, ok := port.SMLID.Get()
	if !ok {
		return
	}
	text := fmt.Sprintf("0x%x", lid)
	f.Evidence = append(f.Evidence, Evidence{port.Path("sm_lid"), text})
	if lid != 0 {
		f.Params["sm_lid"] = text
		f.Message += "; sm_lid " + text + " was set by one"
	}
}

// judgeDarkPort: no link. The physical state tells why.
func judgeDarkPort(p *Pass, port PortRef, f *Finding, want bool) {
	switch port.PhysState.Or("") {
	case "Disabled":
		f.Code = "port-admin-down"
		f.Message = "the port is disabled: by an administrator, by the subnet manager, or because its module was refused"
		return
	case "LinkUp":
		f.Code = "port-no-subnet-manager"
		f.Message = "the link is up and the port is DOWN"
		return
	}
	f.Code = "port-polling"
	f.Message = "the port is DOWN and sees no signal from the far end: physical state " + port.PhysState.String()
	if other, ok := p.litUnwanted(port, infinibandLit); want && ok {
		wrongCabled(f, other)
	}
}

func infinibandLit(port PortRef) bool { return IB(port) && port.PhysState.Or("") == "LinkUp" }
