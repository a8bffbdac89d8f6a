package collect

import (
	"cmp"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// netdev returns the netdev called name, adding it in its place where it is
// new. The pointer is good until the next call.
func (r *Reader) netdev(name string) *facts.Netdev {
	i, found := slices.BinarySearchFunc(r.Snap.Netdevs, name, func(n facts.Netdev, name string) int {
		return cmp.Compare(n.Name, name)
	})
	if !found {
		r.Snap.Netdevs = slices.Insert(r.Snap.Netdevs, i, facts.Netdev{Name: name})
	}
	return &r.Snap.Netdevs[i]
}

// rdmaNetdevs are the names of netdevs that RDMA rides on: those of ports and
// of GIDs, and what is above or beneath them in this namespace.
func rdmaNetdevs(s *facts.Snapshot) map[string]bool {
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
		for _, name := range d.NetnsNetdevs {
			found[name] = true
		}
	})
	for range 8 { // Deeper stacks of netdevs are loops in hostile input.
		before := len(found)
		for _, n := range s.Netdevs {
			master, lower := n.Master.Or(""), n.Lower.Or("")
			if found[n.Name] {
				if master != "" {
					found[master] = true
				}
				if lower != "" {
					found[lower] = true
				}
			} else if found[lower] {
				found[n.Name] = true
			}
		}
		if len(found) == before {
			break
		}
	}
	return found
}
