package collect

import "github.com/rdmadoctor/rdmadoctor/internal/facts"

// stacked are the kinds of netdev that pass packets on to one beneath, which
// owns the queues, the link and DCB.
var stacked = map[string]bool{"vlan": true, "macvlan": true, "macvtap": true, "ipvlan": true, "macsec": true}

// grouping are the kinds whose members carry the packets.
var grouping = map[string]bool{"bond": true, "team": true}

// carriers are the netdevs that carry RDMA, by name in the snapshot's order:
// those of ports, those of GIDs, and down from them to the hardware. What is
// above or beside them, such as a bridge or the peer of a veth, is not.
func carriers(s *facts.Snapshot) []*facts.Netdev {
	found := map[string]bool{}
	eachPort(s, func(d *facts.Device, p *facts.Port) {
		if name, ok := p.Netdev.Get(); ok {
			found[name] = true
		}
		for _, g := range p.GIDs {
			if name, ok := g.Netdev.Get(); ok {
				found[name] = true
			}
		}
	})
	for range 8 { // Deeper stacks are loops in hostile input.
		before := len(found)
		for i := range s.Netdevs {
			n := &s.Netdevs[i]
			if lower, ok := n.Lower.Get(); ok && found[n.Name] && stacked[n.Kind.Or("")] {
				found[lower] = true
			}
			if m := s.Netdev(n.Master.Or("")); m != nil && found[m.Name] && grouping[m.Kind.Or("")] {
				found[n.Name] = true
			}
		}
		if len(found) == before {
			break
		}
	}
	var list []*facts.Netdev
	for i := range s.Netdevs {
		if found[s.Netdevs[i].Name] {
			list = append(list, &s.Netdevs[i])
		}
	}
	return list
}

// ownsLink reports whether a netdev has a link and queues of its own.
func ownsLink(n *facts.Netdev) bool { return !stacked[n.Kind.Or("")] && !grouping[n.Kind.Or("")] }

// carriers are the netdevs to ask. Where there are none, and that is known, the
// source has been read: there is nothing in it.
func (r *Reader) carriers() []*facts.Netdev {
	list := carriers(r.Snap)
	if len(list) == 0 && r.Snap.Has(facts.Links) && r.Snap.RDMA.SubsystemPresent.Known() {
		r.Have()
	}
	return list
}
