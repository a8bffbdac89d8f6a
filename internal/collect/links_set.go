package collect

import (
	"maps"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// setLinks puts links into the snapshot.
func setLinks(r *Reader, links []link) {
	names := map[int]string{}
	for _, l := range links {
		n := r.netdev(l.Name)
		n.Index = l.Index
		n.AdminUp = l.AdminUp
		replace(&n.OperState, l.OperState)
		replace(&n.Carrier, l.Carrier)
		replace(&n.MTU, l.MTU)
		n.MinMTU, n.MaxMTU = l.MinMTU, l.MaxMTU
		replace(&n.MAC, l.MAC)
		replace(&n.Kind, l.Kind)
		replace(&n.PCI, l.PCI)
		replace(&n.BondMode, l.BondMode)
		n.VLANID, n.VLANEgressQoS = l.VLANID, maps.Clone(l.VLANEgressQoS)
		if v, ok := l.carrierChanges.Get(); ok {
			n.CarrierChanges.First = facts.Some(v)
		}
		setCounters(&n.Stats, l.stats, asFirst)
		names[l.Index] = l.Name
	}
	for _, l := range links {
		n := r.Snap.Netdev(l.Name)
		if name, ok := names[l.master]; ok && l.master != 0 {
			n.Master = facts.Some(name)
		}
		// An interface that has nothing beneath it gives its own index.
		if name, ok := names[l.lower]; ok && l.lower != 0 && l.lower != l.Index && !l.foreign {
			n.Lower = facts.Some(name)
		}
	}
}

func againLinks(s *facts.Snapshot, links []link) {
	for _, l := range links {
		n := s.Netdev(l.Name)
		if n == nil || n.Index != l.Index { // New, or another under an old name.
			continue
		}
		if v, ok := l.carrierChanges.Get(); ok {
			n.CarrierChanges.Last = facts.Some(v)
		}
		setCounters(&n.Stats, l.stats, asLast)
	}
}

// replace stores v where it was read.
func replace[T any](dst *facts.Opt[T], v facts.Opt[T]) {
	if v.Known() {
		*dst = v
	}
}

// fill stores v where dst was not read yet.
func fill[T any](dst *facts.Opt[T], v facts.Opt[T]) {
	if !dst.Known() {
		*dst = v
	}
}

func asFirst(c *facts.Counter, v uint64) { c.First = facts.Some(v) }
func asLast(c *facts.Counter, v uint64)  { c.Last = facts.Some(v) }

// setCounters stores values as the half of each counter that set says.
func setCounters(dst *map[string]facts.Counter, values map[string]uint64, set func(*facts.Counter, uint64)) {
	if len(values) == 0 {
		return
	}
	if *dst == nil {
		*dst = map[string]facts.Counter{}
	}
	for name, v := range values {
		c := (*dst)[name]
		set(&c, v)
		(*dst)[name] = c
	}
}
