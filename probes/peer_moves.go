package probes

import (
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// CounterSources are what is read of a host around a measurement.
var CounterSources = []facts.Source{facts.SysfsRDMA, facts.Links, facts.Ethtool}

// Moves are the counters of a port, its netdev and what is beneath it that grew
// from one reading of a host to the next. host names another host than the one
// that tells it. Of a driver's own counters only those with a known meaning are
// kept: drivers have hundreds.
func Moves(before, after *facts.Snapshot, device string, port int, host string) []facts.CounterMove {
	moves := []facts.CounterMove{}
	p, q := portOf(before, device, port), portOf(after, device, port)
	if p == nil || q == nil {
		return moves
	}
	grew := func(subject string, place counters.Place, a, b map[string]facts.Counter, unknown bool) {
		for _, name := range slices.Sorted(maps.Keys(b)) {
			c, _, known := counters.Lookup(place, name)
			was, ok1 := a[name].Value()
			is, ok2 := b[name].Value()
			if !ok1 || !ok2 || is <= was || !known && !unknown || known && c.Class == "" && !unknown {
				continue
			}
			moves = append(moves, facts.CounterMove{Host: host, Subject: subject, Name: name, Delta: is - was})
		}
	}
	link := facts.LinkName(device, port)
	grew(link, counters.Port, p.Counters, q.Counters, true)
	grew(link, counters.Device, p.HWCounters, q.HWCounters, true)
	n := after.Netdev(q.Netdev.Or(""))
	if n == nil {
		return moves
	}
	for _, hw := range append([]*facts.Netdev{n}, after.Hardware(n)...) {
		was := before.Netdev(hw.Name)
		if was == nil || hw != n && hw.Name == n.Name {
			continue
		}
		grew(hw.Name, counters.Ethtool, was.Ethtool, hw.Ethtool, false)
		grew(hw.Name, counters.Netdev, was.Stats, hw.Stats, true)
	}
	return moves
}
