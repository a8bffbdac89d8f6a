package checks

import (
	"fmt"
	"net/netip"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var neighboursResolve = register(&Check{
	ID:    "neighbours-resolve",
	Title: "peers in RDMA subnets answer ARP",
	Doc: "Before RoCE sends a packet the kernel resolves the peer's MAC. A neighbour that does not answer is down, in " +
		"another VLAN, or filtered; moving a QP to RTR then fails.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.NeighSource},
	Codes: []string{"no-neighbour"},
	Params: Params{
		"no-neighbour": noNeighbourParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.Links, facts.NeighSource)
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
				if n.State != "FAILED" && (n.State != "INCOMPLETE" || n.MAC != "") {
					continue
				}
				p.Report(Finding{
					Code: "no-neighbour", Severity: Warn, Subject: r.PortRef.String(), Confidence: Proved, Where: r.Where(),
					Message:  fmt.Sprintf("%s does not answer on %s: the neighbour entry is %s", n.IP, n.Netdev, n.State),
					Evidence: []Evidence{{"ip neigh show dev " + n.Netdev, n.IP + " " + n.State}},
					Params:   r.Params("netdev", n.Netdev, "peer", n.IP),
				})
			}
		}
	},
})
