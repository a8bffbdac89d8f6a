package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var routesByRail = register(&Check{
	ID:    "routes-by-rail",
	Title: "routes to RDMA subnets leave by their own netdev",
	Doc: "rdma_cm and programs that connect by address take the device from the route. A subnet without a route cannot be " +
		"reached, and a route by another netdev leads to another device, or to none.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.RoutesSource},
	Codes: []string{"no-route-to-peer", "route-uses-other-netdev"},
	Params: Params{
		"no-route-to-peer":        noRouteParams,
		"route-uses-other-netdev": "device port netdev pci? subnet address peer_netdev route",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.RoutesSource)
		all := rails(s)
		for _, r := range all {
			if r.single() || down(r.on) || down(s.Beneath(r.on)) {
				p.Otherwise("no RDMA netdev that is up has an address in a subnet")
				continue
			}
			p.Examine(1)
			judgeRail(p, s, r, all)
		}
		if len(all) == 0 {
			p.Otherwise("no RDMA netdev has a routable address")
		}
		p.Read(facts.SysfsRDMA)
	},
})

func judgeRail(p *Pass, s *facts.Snapshot, r rail, all []rail) {
	f := Finding{
		Severity: Warn, Subject: r.PortRef.String(), Confidence: Likely, Where: r.Where(),
		Evidence: []Evidence{{"ip address show dev " + r.on.Name, fmt.Sprintf("%s/%d", r.addr, r.subnet.Bits())}},
		Params:   r.Params("netdev", r.on.Name, "subnet", r.subnet.String(), "address", r.addr.String()),
	}
	for _, inside := range insideRoutes(s, r.subnet) {
		if !other(s, r, inside.Netdev) || shares(all, r, inside.Netdev) {
			continue
		}
		f.Code = "route-uses-other-netdev"
		f.Message = fmt.Sprintf("the route to %s, which is in the subnet of %s, leaves by %s", inside.Dst, r.on.Name, inside.Netdev)
		f.Evidence = append(f.Evidence, Evidence{"ip route show", routeText(inside)})
		f.Params["peer_netdev"], f.Params["route"] = inside.Netdev, routeText(inside)
		p.Report(f)
		return
	}
	routes := routesFor(s, r.subnet)
	for _, route := range routes {
		if !other(s, r, route.Netdev) || shares(all, r, route.Netdev) {
			return
		}
	}
	if len(routes) == 0 {
		f.Code, f.Severity, f.Confidence = "no-route-to-peer", Fail, Proved
		f.Message = fmt.Sprintf("no route leads to %s, the subnet of %s: peers there cannot be reached", r.subnet, r.on.Name)
		f.Evidence = append(f.Evidence, Evidence{"ip route show table all", "nothing for " + r.subnet.String()})
		p.Report(f)
		return
	}
	f.Code = "route-uses-other-netdev"
	f.Message = fmt.Sprintf("the route to %s, the subnet of %s, leaves by %s", r.subnet, r.on.Name, routes[0].Netdev)
	f.Evidence = append(f.Evidence, Evidence{"ip route show table all", routeText(routes[0])})
	f.Params["peer_netdev"], f.Params["route"] = routes[0].Netdev, routeText(routes[0])
	p.Report(f)
}

// other reports whether a route's netdev is neither the rail's nor one of its
// stack. A multipath route, which names none, is not judged.
func other(s *facts.Snapshot, r rail, netdev string) bool {
	n := s.Netdev(netdev)
	if n == nil || netdev == r.on.Name {
		return false
	}
	return netdev != r.on.Master.Or("") && s.Beneath(n) != s.Beneath(r.on)
}

// shares reports whether netdev has an address in the rail's subnet: which of
// two netdevs in one subnet is taken is another check's question.
func shares(all []rail, r rail, netdev string) bool {
	for _, o := range all {
		if o.on.Name == netdev && o.subnet == r.subnet {
			return true
		}
	}
	return false
}
