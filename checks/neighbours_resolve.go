package checks

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var neighboursResolve = register(&Check{
	ID:    "neighbours-resolve",
	Title: "peers in RDMA subnets answer ARP",
	Doc: "Before RoCE sends a packet the kernel resolves the peer's MAC. A neighbour that does not answer is down, in " +
		"another VLAN, or filtered; moving a QP to RTR then fails. One silent address among others that answer is mostly a " +
		"host that is switched off, and information unless it is a gateway.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.NeighSource},
	Uses:  []facts.Source{facts.RoutesSource},
	Codes: []string{"no-neighbour"},
	Params: Params{
		"no-neighbour": noNeighbourParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.Links, facts.NeighSource, facts.RoutesSource)
		p.Otherwise("no neighbour of an RDMA netdev is known")
		seen := map[string]bool{} // Two addresses of a netdev may share a subnet.
		for _, r := range rails(s) {
			if down(r.on) || down(s.Beneath(r.on)) {
				p.SkipReason("the RDMA netdevs with addresses are down")
				continue
			}
			for _, n := range s.Neighbors {
				ip, err := netip.ParseAddr(n.IP)
				if key := n.Netdev + " " + n.IP; n.Netdev != r.on.Name || err != nil || !r.subnet.Contains(ip) || seen[key] {
					continue
				} else {
					seen[key] = true
				}
				p.Examine(1)
				if !silent(&n) {
					continue
				}
				severity := Warn
				if othersAnswer(s, r, ip) && !gateway(s, n.Netdev, n.IP) {
					severity = Info
				}
				p.Report(Finding{
					Code: "no-neighbour", Severity: severity, Subject: r.PortRef.String(), Confidence: Proved, Where: r.Where(),
					Message:  fmt.Sprintf("%s does not answer on %s: the neighbour entry is %s", n.IP, n.Netdev, n.State),
					Evidence: []Evidence{{"ip neigh show dev " + n.Netdev, n.IP + " " + n.State}},
					Params:   r.Params("netdev", n.Netdev, "peer", n.IP),
				})
			}
		}
	},
})

// silent reports a neighbour that was asked for and did not answer.
func silent(n *facts.Neighbor) bool {
	return n.State == "FAILED" || n.State == "INCOMPLETE" && n.MAC == ""
}

// othersAnswer reports whether most neighbours in the rail's subnet have told
// their MAC address, so that wire, VLAN and filters are not what is wrong.
func othersAnswer(s *facts.Snapshot, r rail, but netip.Addr) bool {
	answer, mute := 0, 0
	for i := range s.Neighbors {
		n := &s.Neighbors[i]
		ip, err := netip.ParseAddr(n.IP)
		switch {
		case n.Netdev != r.on.Name || err != nil || !r.subnet.Contains(ip) || n.State == "PERMANENT" || n.State == "NOARP":
		case silent(n):
			mute++
		case n.MAC != "" && ip != but:
			answer++
		}
	}
	return answer > mute
}

// gateway reports whether a route leads over the address.
func gateway(s *facts.Snapshot, netdev, ip string) bool {
	return slices.ContainsFunc(s.Routes, func(r facts.Route) bool { return r.Netdev == netdev && r.Gateway == ip })
}
