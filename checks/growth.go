package checks

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// idlePackets is the traffic below which an interval says nothing: judgement
// section 3 asks for 10,000 packets.
const idlePackets = 10_000

// hostSubject is the subject of findings about the whole host.
const hostSubject = "host"

// grown is one known counter that moved between the samples.
type grown struct {
	counters.Counter
	Name   string // as read
	Index  int    // priority or queue in the name, -1: none
	Delta  uint64
	Sample facts.Counter
}

// grew lists the known counters of the classes that moved, by name.
func grew(place counters.Place, m map[string]facts.Counter, classes ...counters.Class) []grown {
	var out []grown
	for _, name := range slices.Sorted(maps.Keys(m)) {
		c, index, ok := counters.Lookup(place, name)
		if !ok || !slices.Contains(classes, c.Class) {
			continue
		}
		if d, ok := c.Delta(m[name]); ok && d > 0 {
			out = append(out, grown{c, name, index, d, m[name]})
		}
	}
	return out
}

// sampled reports whether a known counter of the classes is there, and whether
// any was read at both samples.
func sampled(place counters.Place, m map[string]facts.Counter, classes ...counters.Class) (there, twice bool) {
	for name, v := range m {
		if c, _, ok := counters.Lookup(place, name); ok && slices.Contains(classes, c.Class) {
			there = true
			if _, ok := v.First.Get(); ok && v.Last.Known() {
				return true, true
			}
		}
	}
	return there, false
}

// evidence shows the counter's two values, read from dir.
func (g grown) evidence(dir string, interval time.Duration) Evidence {
	return moved(dir+g.Name, g.Sample, g.Delta, interval)
}

// moved shows a counter at both samples.
func moved(source string, v facts.Counter, delta uint64, interval time.Duration) Evidence {
	value := fmt.Sprintf("%s -> %s, +%d", v.First, v.Last, delta)
	if interval > 0 {
		value += " in " + interval.Round(time.Millisecond).String()
	}
	return Evidence{source, value}
}

// most is the largest growth. A NIC counts one lost packet in the counter of
// its priority and in that of the port, so adding up would count it twice.
func most(gs []grown) (n uint64) {
	for _, g := range gs {
		n = max(n, g.Delta)
	}
	return n
}

// packets is how many packets the port moved between the samples, by the
// place that counts the most of them: RoCE does not show in every place. It
// is false where no traffic counter was read twice.
func packets(port PortRef, n *facts.Netdev) (most uint64, ok bool) {
	sum := func(place counters.Place, m map[string]facts.Counter) {
		for _, dir := range []counters.Direction{counters.TX, counters.RX} {
			for name, v := range m {
				c, _, known := counters.Lookup(place, name)
				if !known || c.Class != counters.Traffic || c.Unit != "packets" || c.Direction != dir {
					continue
				}
				if d, read := c.Delta(v); read {
					most, ok = max(most, d), true
				}
			}
		}
	}
	sum(counters.Port, port.Counters)
	sum(counters.Device, port.HWCounters)
	if n != nil {
		sum(counters.Ethtool, n.Ethtool)
		for _, name := range []string{"rx_packets", "tx_packets"} {
			if d, read := n.Stats[name].Delta(); read {
				most, ok = max(most, d), true
			}
		}
	}
	return most, ok
}

// idle reports whether the port moved too little to be called healthy. Where
// no packet counter was read the port is not known to be busy either.
func idle(port PortRef, n *facts.Netdev) bool {
	moved, ok := packets(port, n)
	return !ok || moved < idlePackets
}
