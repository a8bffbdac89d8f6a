package checks

import (
	"net/netip"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A rail is a netdev that carries RDMA (that of a port, or one stacked on it
// whose addresses make GIDs) with one of its routable addresses.
type rail struct {
	PortRef
	on     *facts.Netdev // has the address
	addr   netip.Addr
	subnet netip.Prefix
}

// rails lists the addresses of RDMA netdevs, by port and netdev.
func rails(s *facts.Snapshot) []rail {
	var rs []rail
	for _, port := range ports(s) {
		base := s.Netdev(port.Netdev.Or(""))
		if base == nil || IB(port) {
			continue
		}
		for i := range s.Netdevs {
			n := &s.Netdevs[i]
			if n != base && n.Name != base.Master.Or("") && (s.Beneath(n) != base || !stacked(n)) {
				continue
			}
			for _, a := range n.Addresses {
				ip, err := netip.ParseAddr(a.IP)
				if err != nil || a.Scope != "global" || a.Tentative {
					continue
				}
				subnet, err := ip.Prefix(a.PrefixLen)
				if err != nil {
					continue
				}
				rs = append(rs, rail{port, n, ip, subnet})
			}
		}
	}
	slices.SortFunc(rs, func(a, b rail) int {
		if c := slices.Compare([]string{a.PortRef.String(), a.on.Name}, []string{b.PortRef.String(), b.on.Name}); c != 0 {
			return c
		}
		return a.addr.Compare(b.addr)
	})
	return rs
}

// single reports whether the subnet has no room for a peer.
func (r rail) single() bool { return r.subnet.IsSingleIP() }

// destination is the prefix of a route, the whole family for "default".
func destination(r facts.Route) (netip.Prefix, bool) {
	if r.Dst == "default" {
		zero := netip.IPv4Unspecified()
		if r.Family == "ipv6" {
			zero = netip.IPv6Unspecified()
		}
		return netip.PrefixFrom(zero, 0), true
	}
	if p, err := netip.ParsePrefix(r.Dst); err == nil {
		return p.Masked(), true
	}
	if a, err := netip.ParseAddr(r.Dst); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	return netip.Prefix{}, false
}

// routesFor are the unicast routes of all tables that a packet to the subnet
// may take: those that cover it, the longest first and of equals the one with
// the lowest metric.
func routesFor(s *facts.Snapshot, subnet netip.Prefix) []facts.Route {
	type covering struct {
		facts.Route
		bits int
	}
	var found []covering
	for _, r := range s.Routes {
		dst, ok := destination(r)
		if !ok || r.Type != "unicast" || dst.Addr().Is4() != subnet.Addr().Is4() ||
			dst.Bits() > subnet.Bits() || !dst.Contains(subnet.Addr()) {
			continue
		}
		found = append(found, covering{r, dst.Bits()})
	}
	slices.SortStableFunc(found, func(a, b covering) int {
		if a.bits != b.bits {
			return b.bits - a.bits
		}
		return a.Metric - b.Metric
	})
	routes := make([]facts.Route, len(found))
	for i, c := range found {
		routes[i] = c.Route
	}
	return routes
}

// insideRoutes are the unicast routes to a part of the subnet.
func insideRoutes(s *facts.Snapshot, subnet netip.Prefix) []facts.Route {
	var routes []facts.Route
	for _, r := range s.Routes {
		dst, ok := destination(r)
		if ok && r.Type == "unicast" && dst.Bits() > subnet.Bits() && subnet.Contains(dst.Addr()) {
			routes = append(routes, r)
		}
	}
	return routes
}

// routeText shows a route as ip(8) does.
func routeText(r facts.Route) string {
	text := r.Dst
	if r.Gateway != "" {
		text += " via " + r.Gateway
	}
	return text + " dev " + r.Netdev
}
