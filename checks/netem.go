package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// blameNetem adds to a finding about loss a netem qdisc that drops packets on
// purpose: on the port's own netdevs, on the other end of its veth, or on the
// netdev of another RDMA port of this host, which may be the peer.
func blameNetem(s *facts.Snapshot, f *Finding, port PortRef) {
	n, loss, own := netemNear(s, port)
	if n == nil {
		return
	}
	f.Params["netem"], f.Params["netdev"] = "1", n.Name
	f.Message += fmt.Sprintf("; a netem qdisc on %s drops %s of what it sends", n.Name, percent(loss.Loss.Or(0)))
	f.Evidence = append(f.Evidence, Evidence{"tc qdisc show dev " + n.Name,
		fmt.Sprintf("netem %s loss %s", loss.Parent, percent(loss.Loss.Or(0)))})
	if !own {
		f.Confidence = Likely
	}
	if f.Severity == Info {
		f.Severity = Warn
	}
}

func netemNear(s *facts.Snapshot, port PortRef) (n *facts.Netdev, q facts.Qdisc, own bool) {
	chain := func(name string) []*facts.Netdev {
		n := s.Netdev(name)
		if n == nil {
			return nil
		}
		below := s.Beneath(n)
		ns := []*facts.Netdev{n, below}
		if peer := s.Netdev(below.Lower.Or("")); peer != nil && below.Kind.Or("") == "veth" {
			ns = append(ns, peer)
		}
		return ns
	}
	for _, n := range chain(port.Netdev.Or("")) {
		if q, ok := netem(n); ok {
			return n, q, true
		}
	}
	var found *facts.Netdev
	for i := range s.Devices {
		for j := range s.Devices[i].Ports {
			for _, n := range chain(s.Devices[i].Ports[j].Netdev.Or("")) {
				if loss, ok := netem(n); ok && (found == nil || n.Name < found.Name) {
					found, q = n, loss
				}
			}
		}
	}
	return found, q, false
}

// netem is the netem qdisc of n that drops packets.
func netem(n *facts.Netdev) (facts.Qdisc, bool) {
	for _, q := range n.Qdiscs {
		if q.Kind == "netem" && q.Loss.Or(0) > 0 {
			return q, true
		}
	}
	return facts.Qdisc{}, false
}
