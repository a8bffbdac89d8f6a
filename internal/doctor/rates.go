package doctor

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// Rates are what the ports did between the two samples of a snapshot.
func Rates(s *facts.Snapshot, opt Options) *report.Rates {
	if opt.Device != "" {
		s = narrow(s, opt.Device, opt.Port)
	}
	r := &report.Rates{Time: s.Taken.Add(s.Interval), IntervalSeconds: s.Interval.Seconds()}
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			r.Ports = append(r.Ports, portRate(s, d, &d.Ports[j]))
		}
	}
	return r
}

func portRate(s *facts.Snapshot, d *facts.Device, p *facts.Port) report.PortRate {
	r := report.PortRate{Port: facts.LinkName(d.Name, p.Number), Netdev: p.Netdev.Or(""), State: string(p.StateLast.Or(p.State.Or("")))}
	seconds := s.Interval.Seconds()
	per := func(m map[string]facts.Counter, name string, factor float64) *float64 {
		v, ok := m[name].Delta()
		if !ok || seconds <= 0 {
			return nil
		}
		rate := float64(v) * factor / seconds
		return &rate
	}
	r.TXBitsPerSecond, r.RXBitsPerSecond = per(p.Counters, "port_xmit_data", 8), per(p.Counters, "port_rcv_data", 8)
	r.TXPacketsPerSecond, r.RXPacketsPerSecond = per(p.Counters, "port_xmit_packets", 1), per(p.Counters, "port_rcv_packets", 1)
	n := s.Netdev(p.Netdev.Or(""))
	if n != nil && r.TXBitsPerSecond == nil && r.RXBitsPerSecond == nil { // Software RoCE rides the netdev's own.
		r.TXBitsPerSecond, r.RXBitsPerSecond = per(n.Stats, "tx_bytes", 8), per(n.Stats, "rx_bytes", 8)
		r.TXPacketsPerSecond, r.RXPacketsPerSecond = per(n.Stats, "tx_packets", 1), per(n.Stats, "rx_packets", 1)
	}
	add := func(place counters.Place, word string, m map[string]facts.Counter) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			c, _, known := counters.Lookup(place, name)
			if c.Class == counters.Traffic || !known && place == counters.Ethtool {
				continue // Drivers show hundreds of the latter, a set for each queue.
			}
			delta, ok := m[name].Delta()
			if known {
				delta, ok = c.Delta(m[name])
			}
			if ok && delta > 0 && seconds > 0 {
				r.Counters = append(r.Counters, report.CounterRate{Name: name, Place: word, Class: string(c.Class), Delta: delta,
					PerSecond: float64(delta) / seconds})
			}
		}
	}
	add(counters.Port, "counters", p.Counters)
	add(counters.Device, "hw_counters", p.HWCounters)
	add(counters.CM, "cm", p.CM)
	if n != nil {
		add(counters.Ethtool, "ethtool", s.Beneath(n).Ethtool)
	}
	slices.SortStableFunc(r.Counters, func(a, b report.CounterRate) int {
		return cmp.Compare(boolRank(a.Class != ""), boolRank(b.Class != ""))
	})
	return r
}

// boolRank puts what is known first.
func boolRank(known bool) int {
	if known {
		return 0
	}
	return 1
}
