package knowledge

import (
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Relations says what on a host belongs together, so that a finding on a
// netdev meets one on the port that it carries. Hosts of a comparison have
// one entry each, by checks.Where.Host; a single host has the name "".
type Relations map[string]HostRelations

// HostRelations are one host's ports and stacked netdevs.
type HostRelations struct {
	Ports []PortRelation
	// Lowers are the netdevs directly beneath a netdev: the parent of a VLAN, the
	// members of a bond.
	Lowers map[string][]string
}

// PortRelation ties a port to its netdev and PCI function. Empty fields are
// not known.
type PortRelation struct {
	Device string
	Port   int
	Netdev string
	PCI    string
}

// RelationsOf reads the relations of one host out of its snapshot.
func RelationsOf(s *facts.Snapshot) HostRelations {
	r := HostRelations{Lowers: map[string][]string{}}
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			p := &d.Ports[j]
			r.Ports = append(r.Ports, PortRelation{d.Name, p.Number, p.Netdev.Or(""), d.PCI.Or("")})
		}
	}
	for i := range s.Netdevs {
		n := &s.Netdevs[i]
		if m, ok := n.Master.Get(); ok {
			r.Lowers[m] = append(r.Lowers[m], n.Name)
		}
		// A veth's IFLA_LINK is its peer, which is not beneath it.
		if k := n.Kind.Or(""); k == "vlan" || k == "macvlan" || k == "ipvlan" {
			if l, ok := n.Lower.Get(); ok {
				r.Lowers[n.Name] = append(r.Lowers[n.Name], l)
			}
		}
	}
	return r
}

// spot is every place that a finding touches, as far as it is known.
type spot struct {
	host    string
	ports   []string // "mlx5_0/1"
	devices []string
	netdevs []string
	pcis    []string
}

func (r Relations) spot(w checks.Where) spot {
	s := spot{host: w.Host}
	add := func(list *[]string, v string) {
		if v != "" && !slices.Contains(*list, v) {
			*list = append(*list, v)
		}
	}
	h := r[w.Host]
	add(&s.devices, w.Device)
	add(&s.netdevs, w.Netdev)
	add(&s.pcis, w.PCI)
	if w.Device != "" && w.Port > 0 {
		add(&s.ports, facts.LinkName(w.Device, w.Port))
	}
	for _, p := range h.Ports {
		if !h.touches(w, p) {
			continue
		}
		add(&s.ports, facts.LinkName(p.Device, p.Port))
		add(&s.devices, p.Device)
		add(&s.netdevs, p.Netdev)
		add(&s.pcis, p.PCI)
	}
	return s
}

// touches reports whether a finding at w concerns port p. What w names most
// precisely decides: the port, else the netdev, the device, the function.
func (h HostRelations) touches(w checks.Where, p PortRelation) bool {
	switch {
	case w.Device != "" && w.Port > 0:
		return w.Device == p.Device && w.Port == p.Port
	case w.Netdev != "":
		return p.Netdev != "" && h.stacked(w.Netdev, p.Netdev)
	case w.Device != "":
		return w.Device == p.Device
	}
	return w.PCI != "" && w.PCI == p.PCI
}

// stacked reports whether a and b are the same netdev or one is beneath the
// other. Two members of a bond, or two VLANs of one parent, are not.
func (h HostRelations) stacked(a, b string) bool {
	return a == b || h.beneath(a, b, 0) || h.beneath(b, a, 0)
}

func (h HostRelations) beneath(upper, lower string, depth int) bool {
	if depth > 8 { // Deeper than this is a loop in hostile input.
		return false
	}
	for _, l := range h.Lowers[upper] {
		if l == lower || h.beneath(l, lower, depth+1) {
			return true
		}
	}
	return false
}

// near reports whether two spots share a place of the given scope.
func (r Relations) near(scope Scope, a, b spot) bool {
	if a.host != b.host {
		return false
	}
	switch scope {
	case HostScope:
		return true
	case PortScope:
		return share(a.ports, b.ports)
	case DeviceScope:
		return share(a.devices, b.devices) || share(a.pcis, b.pcis)
	}
	h := r[a.host]
	for _, x := range a.netdevs {
		for _, y := range b.netdevs {
			if h.stacked(x, y) {
				return true
			}
		}
	}
	return false
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
