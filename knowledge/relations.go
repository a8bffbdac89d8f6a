package knowledge

import (
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

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
	add(&s.devices, w.Device)
	add(&s.netdevs, w.Netdev)
	add(&s.pcis, w.PCI)
	if w.Device != "" && w.Port > 0 {
		add(&s.ports, facts.LinkName(w.Device, w.Port))
	}
	for _, p := range r {
		if p.Host != w.Host || !p.touches(w) {
			continue
		}
		add(&s.ports, facts.LinkName(p.Device, p.Port))
		add(&s.devices, p.Device)
		add(&s.pcis, p.PCI)
	}
	return s
}

// touches reports whether a finding at w concerns the port. What w names most
// precisely decides: the port, else the netdev, the device, the function.
func (p Relation) touches(w checks.Where) bool {
	switch {
	case w.Device != "" && w.Port > 0:
		return w.Device == p.Device && w.Port == p.Port
	case w.Netdev != "":
		return slices.Contains(p.Netdevs, w.Netdev)
	case w.Device != "":
		return w.Device == p.Device
	}
	return w.PCI != "" && w.PCI == p.PCI
}

// near reports whether two spots share a place of the given scope. Netdevs
// are near when they carry the same port: a VLAN and its parent, a bond and
// its member, and not two members of one bond.
func near(scope Scope, a, b spot) bool {
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
	case CardScope:
		return share(a.devices, b.devices) || share(slots(a.pcis), slots(b.pcis))
	}
	return share(a.netdevs, b.netdevs) || share(a.ports, b.ports)
}

// slots are PCI addresses without the function, "0000:3b:00".
func slots(pcis []string) []string {
	all := make([]string, 0, len(pcis))
	for _, address := range pcis {
		slot, _, _ := strings.Cut(address, ".")
		all = append(all, slot)
	}
	return all
}

func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
