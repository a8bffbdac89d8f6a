// Package counters is what is known of the counters that RDMA drivers and
// their netdevs show: what each counts, which side it blames, in which unit,
// and how it overflows. A counter that is not listed has no meaning here and
// is never judged.
package counters

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Place is where a counter is read. Names mean the same in one place, whatever
// the driver; TestNoNameMeansTwoThings holds that.
type Place int

// The places.
const (
	Port    Place = iota // facts.Port.Counters
	Device               // facts.Port.HWCounters
	Ethtool              // facts.Netdev.Ethtool
	FEC                  // facts.Netdev.FECCounters
	Netdev               // facts.Netdev.Stats
	CM                   // facts.Port.CM
)

// Class is what growth of a counter means.
type Class string

// The classes.
const (
	Physical         Class = "physical"          // signal quality on the attached link
	PhysicalUpstream Class = "physical-upstream" // damage on another link
	LinkDown         Class = "link-down"         // link lost and came back
	Corruption       Class = "corruption"        // data damaged without a link error
	CongestionTX     Class = "congestion-tx"     // the network or peer slows this host
	CongestionRX     Class = "congestion-rx"     // this host slows the network or drops
	PauseStorm       Class = "pause-storm"       // endless pause
	ECN              Class = "ecn"               // congestion notification
	Loss             Class = "loss"              // packets sent again
	Reordering       Class = "reordering"        // packets out of order, which alone is no loss
	Timeout          Class = "timeout"           // no answer at all
	ReceiveNotReady  Class = "receive-not-ready"
	Access           Class = "access"          // keys, ranges, rights
	InvalidRequest   Class = "invalid-request" // not allowed by the responder's QP
	RemoteOperation  Class = "remote-operation"
	Length           Class = "length" // size or MTU disagreement
	Local            Class = "local"  // local work request or queue fault
	Flush            Class = "flush"  // completions after a first error
	Buffer           Class = "buffer" // on the device
	HostBuffer       Class = "host-buffer"
	PCIe             Class = "pcie"
	Thermal          Class = "thermal"
	Module           Class = "module" // optic or cable
	Config           Class = "config" // limit or disabled port
	Partition        Class = "partition"
	PFCConfig        Class = "pfc-config"
	Steering         Class = "steering" // VLAN or flow steering
	RateLimit        Class = "rate-limit"
	Addressing       Class = "addressing"
	Connection       Class = "connection"
	Management       Class = "management"
	Routing          Class = "routing"
	Resource         Class = "resource"
	Firmware         Class = "firmware"
	Software         Class = "software"
	Traffic          Class = "traffic"
	Gauge            Class = "gauge" // an amount of now: its growth means nothing
)

// Direction is the side that a counter speaks of.
type Direction string

// The directions.
const (
	TX   Direction = "tx" // this host as sender or requester
	RX   Direction = "rx" // this host as receiver or responder
	Both Direction = "both"
	None Direction = ""
)

// Counter describes one counter. A # in Name stands for a number.
type Counter struct {
	Name      string
	Class     Class
	Direction Direction
	Unit      string // "packets", "microseconds", ...
	Width     int    // bits
	Saturates bool   // sticks at its maximum instead of wrapping
}

type key struct {
	place Place
	name  string
}

// A family is what one driver counts in one place.
type family struct {
	place    Place
	counters []Counter
}

var tables []family

// register adds a family's counters and returns them.
func register(p Place, cs []Counter) []Counter {
	tables = append(tables, family{p, cs})
	return cs
}

// known are all counters. A name that two families share keeps the wider of
// the two.
var known = sync.OnceValue(func() map[key]*Counter {
	all := 0
	for _, f := range tables {
		all += len(f.counters)
	}
	m := make(map[key]*Counter, all)
	for _, f := range tables {
		for i := range f.counters {
			c := &f.counters[i]
			k := key{f.place, c.Name}
			if had, ok := m[k]; !ok || had.Width < c.Width {
				m[k] = c
			}
		}
	}
	return m
})

// Lookup describes the counter called name. Index is the number in the name
// that the description leaves open, a priority or a queue, or -1.
func Lookup(p Place, name string) (c Counter, index int, ok bool) {
	known := known()
	if c, ok := known[key{p, name}]; ok {
		return *c, -1, true
	}
	for i := 0; i < len(name); i++ {
		if !digit(name[i]) || i > 0 && digit(name[i-1]) {
			continue
		}
		end := i
		for end < len(name) && digit(name[end]) {
			end++
		}
		if c, ok := known[key{p, name[:i] + "#" + name[end:]}]; ok {
			n, err := strconv.Atoi(name[i:end])
			return *c, n, err == nil
		}
	}
	return Counter{}, -1, false
}

// Fill names the counter c of index, the reverse of Lookup.
func (c Counter) Fill(index int) string {
	return strings.Replace(c.Name, "#", strconv.Itoa(index), 1)
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// Max is the largest value the counter can hold.
func (c Counter) Max() uint64 {
	if c.Width <= 0 || c.Width >= 64 {
		return math.MaxUint64
	}
	return 1<<c.Width - 1
}

// Delta is the growth of v between the samples. A 32-bit counter that went
// from its upper to its lower half has wrapped; one that went back otherwise
// was reset, and its growth is unknown.
func (c Counter) Delta(v facts.Counter) (uint64, bool) {
	if c.Class == Gauge {
		return 0, false
	}
	if d, ok := v.Delta(); ok {
		return d, true
	}
	a, ok1 := v.First.Get()
	b, ok2 := v.Last.Get()
	top := c.Max()
	if !ok1 || !ok2 || c.Saturates || c.Width != 32 || a > top || a <= top/2 || b > top/2 {
		return 0, false
	}
	return top - a + b + 1, true
}

// Saturated reports whether v stands at the maximum of a counter that sticks
// there.
func (c Counter) Saturated(v facts.Counter) bool {
	n, ok := v.Value()
	return ok && c.Saturates && n >= c.Max()
}
