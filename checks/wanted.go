package checks

import (
	"fmt"
	"path"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Wanted reports whether a port is wanted (judgement: the user or a policy
// names it, a process uses it, its netdev has a routable address, an
// InfiniBand port has link, or most of its siblings are up) and why. A check
// that asks uses links and processes.
func (p *Pass) Wanted(port PortRef) (bool, string) {
	s := p.Read(facts.Links, facts.ProcessList, facts.RDMANetlink)
	return wanted(s, p.opt, port)
}

// WantedDevice reports whether any port of d is wanted, and why.
func (p *Pass) WantedDevice(d *facts.Device) (bool, string) {
	s := p.Read(facts.Links, facts.ProcessList, facts.RDMANetlink)
	if slices.Contains(p.opt.Wanted, d.Name) {
		return true, byName
	}
	for _, proc := range byPID(s) {
		if opens(proc, d) {
			return true, opener(proc, d)
		}
	}
	for i := range d.Ports {
		if ok, why := wanted(s, p.opt, PortRef{&d.Ports[i], d}); ok {
			return true, why
		}
	}
	return false, ""
}

const byName = "named by the user, a policy or a baseline"

func wanted(s *facts.Snapshot, opt Options, port PortRef) (bool, string) {
	if ok, why := wantedWithoutLink(s, opt, port); ok {
		return true, why
	}
	if IB(port) && port.PhysState.Or("") == "LinkUp" {
		return true, "the link is up"
	}
	up, siblings := 0, 0
	for i := range s.Devices {
		d := &s.Devices[i]
		if d == port.Device || !sibling(d, port.Device) {
			continue
		}
		for j := range d.Ports {
			if d.Ports[j].Number != port.Number {
				continue
			}
			siblings++
			if d.Ports[j].State.Or("") == facts.StateActive {
				up++
			}
		}
	}
	if siblings >= 2 && up*2 > siblings { // One sibling alone is no pattern.
		return true, fmt.Sprintf("%d of %d devices of the same board are up", up, siblings)
	}
	return false, ""
}

// wantedWithoutLink is wanted by what uses or names the port, whatever its link
// and its siblings say.
func wantedWithoutLink(s *facts.Snapshot, opt Options, port PortRef) (bool, string) {
	named := []string{port.String(), port.Device.Name}
	if n, ok := port.Netdev.Get(); ok {
		named = append(named, n)
	}
	for _, w := range opt.Wanted {
		if slices.Contains(named, w) {
			return true, byName
		}
	}
	for _, proc := range byPID(s) {
		if opens(proc, port.Device) {
			return true, opener(proc, port.Device)
		}
	}
	// Whose files other users' processes have open is not told to everyone; how
	// many objects they hold is.
	if len(port.Device.Ports) == 1 {
		for _, kind := range []string{"ctx", "cm_id"} {
			if n := port.Device.Resources[kind].Current; n > 0 {
				return true, fmt.Sprintf("%d objects of kind %s are in use", n, kind)
			}
		}
	}
	if name, ok := port.Netdev.Get(); ok {
		if ip := routable(s, name, 0); ip != "" {
			return true, name + " has the address " + ip
		}
	}
	return false, ""
}

// opens reports whether proc has the device's uverbs node open.
func opens(proc *facts.Process, d *facts.Device) bool {
	node, ok := d.Uverbs.Get()
	return ok && slices.ContainsFunc(proc.Uverbs, func(u string) bool { return path.Base(u) == node })
}

func opener(proc *facts.Process, d *facts.Device) string {
	return fmt.Sprintf("pid %d (%s) has %s open", proc.PID, proc.Comm, d.Uverbs)
}

// sibling tells devices of the same board and function number.
func sibling(a, b *facts.Device) bool {
	ba, ok1 := a.BoardID.Get()
	bb, ok2 := b.BoardID.Get()
	return ok1 && ok2 && ba == bb && function(a) == function(b)
}

// function is the PCI function number, "" for a device without PCI.
func function(d *facts.Device) string {
	addr := d.PCI.Or("")
	if addr == "" {
		return ""
	}
	return addr[len(addr)-1:]
}

// routable is a global address of the netdev or of an upper one (VLAN, bond),
// or "".
func routable(s *facts.Snapshot, name string, depth int) string {
	n := s.Netdev(name)
	if n == nil || depth > 4 { // A deeper stack is a loop in hostile input.
		return ""
	}
	for _, a := range n.Addresses {
		if a.Scope == "global" {
			return a.IP
		}
	}
	if m, ok := n.Master.Get(); ok {
		if ip := routable(s, m, depth+1); ip != "" {
			return ip
		}
	}
	for i := range s.Netdevs {
		if up := &s.Netdevs[i]; up.Lower.Or("") == name && stacked(up) {
			if ip := routable(s, up.Name, depth+1); ip != "" {
				return ip
			}
		}
	}
	return ""
}

// stacked reports whether a netdev rides on its Lower, as a VLAN does and a
// veth does not.
func stacked(n *facts.Netdev) bool {
	switch n.Kind.Or("") {
	case "vlan", "macvlan", "ipvlan":
		return true
	}
	return false
}
