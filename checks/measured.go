package checks

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// figureParams are those of findings about a figure.
const figureParams = "device port netdev? pci? peer? gid_index? op? size? qps? tool? reason? figure? expected?"

// measuredTools are the perftest programs that measure the same.
var measuredTools = map[string]string{
	"bandwidth write": "ib_write_bw", "bandwidth read": "ib_read_bw", "bandwidth send": "ib_send_bw", "bandwidth fetch-add": "ib_atomic_bw",
	"latency write": "ib_write_lat", "latency read": "ib_read_lat", "latency send": "ib_send_lat", "latency fetch-add": "ib_atomic_lat",
	"message-rate write": "ib_write_bw", "message-rate send": "ib_send_bw", "message-rate read": "ib_read_bw",
}

// figureOf are the parameters of a finding about a measurement.
func (e end) figureOf(m *facts.Measurement, pairs ...string) map[string]string {
	return e.Params(append([]string{"op", m.Op, "size", positiveText(m.SizeBytes), "qps", positiveText(m.QPs),
		"tool", measuredTools[m.Probe+" "+m.Op]}, pairs...)...)
}

// title names a measurement: "write of 64 KiB, 4 QPs".
func title(m *facts.Measurement) string {
	t := m.Op + " of " + size(uint64(max(m.SizeBytes, 0)))
	if m.QPs > 0 {
		t += ", " + strconv.Itoa(m.QPs) + " QPs"
		if m.QPs == 1 {
			t = strings.TrimSuffix(t, "s")
		}
	}
	if m.Direction != "" {
		t += ", " + m.Direction
	}
	return t
}

// shown is a value of a measurement in its unit.
func shown(m *facts.Measurement, v float64) string {
	switch m.Unit {
	case "ns":
		return expect.Time(v)
	case "bit/s":
		return expect.Rate(v)
	}
	return expect.Messages(v)
}

// figureEvidence is one measurement as it was made.
func figureEvidence(m *facts.Measurement, v float64) Evidence {
	how := fmt.Sprintf("probe %s, %s", m.Probe, title(m))
	if m.Depth > 0 {
		how += fmt.Sprintf(", depth %d", m.Depth)
	}
	return Evidence{how, shown(m, v)}
}

// bothEnds are both ends of a measurement, one for a loopback. It is false, with
// the reason, where one is not known.
func bothEnds(s *facts.Snapshot, m *facts.Measurement) (all []expect.End, missing string) {
	near, ok := endAt(s, "", m.Local)
	if !ok {
		return nil, m.Local + " port"
	}
	if m.Remote == "" || m.Remote == m.Local {
		return []expect.End{near}, ""
	}
	host, name, remote := strings.Cut(m.Remote, " ")
	there := s.Peer
	if !remote {
		host, name, there = "", m.Remote, s
	}
	if there == nil {
		return []expect.End{near}, m.Local + " facts of " + host
	}
	far, ok := endAt(there, host, name)
	if !ok {
		return []expect.End{near}, m.Local + " port of " + m.Remote
	}
	return []expect.End{near, far}, ""
}

// endAt finds a port by its name.
func endAt(s *facts.Snapshot, host, name string) (expect.End, bool) {
	for _, ref := range ports(s) {
		if ref.String() == name {
			return expect.End{Host: host, Snapshot: s, Device: ref.Device, Port: ref.Port}, true
		}
	}
	return expect.End{}, false
}

// judgeable reports whether the formula holds for a measurement; else it has
// said why not.
func (p *Pass) judgeable(m *facts.Measurement) ([]expect.End, bool) {
	all, missing := bothEnds(p.snap, m)
	for _, e := range all {
		if why, ok := expect.Judgeable(e); !ok {
			p.NotApplicable("%s: its figures are held against a baseline only", why)
			return nil, false
		}
	}
	if missing != "" {
		name, fact, _ := strings.Cut(missing, " ")
		p.Unread(name, fact)
		return nil, false
	}
	return all, true
}

// pairKey tells the same two ends.
func pairKey(m *facts.Measurement) string { return m.Local + "\x00" + m.Remote }

// best is the measurement with the highest figure of those that keep.
func best(ms []*facts.Measurement, keep func(*facts.Measurement) bool) (most *facts.Measurement, figure float64) {
	for _, m := range ms {
		if v, ok := m.Figure(); ok && keep(m) && (most == nil || v > figure) {
			most, figure = m, v
		}
	}
	return most, figure
}

// pairs groups the measurements of the kinds by their ends, in order.
func (p *Pass) pairs(kinds ...string) [][]*facts.Measurement {
	byKey := map[string]int{}
	var all [][]*facts.Measurement
	for m := range p.Measurements(kinds...) {
		i, ok := byKey[pairKey(m)]
		if !ok {
			i = len(all)
			byKey[pairKey(m)] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], m)
	}
	return all
}

// unmeasured settles a pair whose measurements gave no figure.
func (p *Pass) unmeasured(ms []*facts.Measurement, what string) {
	p.Examine(1)
	for _, m := range ms {
		if m.Error != nil || m.Failed != nil {
			why := "it failed"
			if m.Error != nil {
				why = *m.Error
			}
			p.Unread(m.Local, fmt.Sprintf("%s (%s)", what, why))
			return
		}
	}
	p.NotApplicable("%s of %s was not measured", what, ms[0].Local)
}

// A stir is counters of one meaning that moved while a pair was measured.
type stir struct {
	class counters.Class
	unit  string
	dir   counters.Direction
	host  string
	most  facts.CounterMove
}

// lookupMove finds what a moved counter counts, wherever it was read.
func lookupMove(name string) (counters.Counter, bool) {
	for _, place := range counters.Places() {
		if c, _, ok := counters.Lookup(place, name); ok {
			return c, true
		}
	}
	return counters.Counter{}, false
}

// stirs adds up what moved during the measurements, by counter, and keeps the
// biggest of each meaning: a lost packet is counted at both ends.
func stirs(ms []*facts.Measurement) []stir {
	sums := map[facts.CounterMove]uint64{}
	for _, m := range ms {
		for _, mv := range m.Moved {
			sums[facts.CounterMove{Host: mv.Host, Subject: mv.Subject, Name: mv.Name}] += mv.Delta
		}
	}
	var all []stir
	for key, delta := range sums {
		c, ok := lookupMove(key.Name)
		if !ok || delta == 0 {
			continue
		}
		key.Delta = delta
		s := stir{c.Class, c.Unit, c.Direction, key.Host, key}
		i := slices.IndexFunc(all, func(o stir) bool { return o.class == s.class && o.unit == s.unit && o.dir == s.dir && o.host == s.host })
		if i < 0 {
			all = append(all, s)
		} else if less(all[i].most, key) {
			all[i].most = key
		}
	}
	slices.SortFunc(all, func(a, b stir) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.host, b.host), cmp.Compare(a.dir, b.dir), cmp.Compare(a.unit, b.unit))
	})
	return all
}

func less(a, b facts.CounterMove) bool {
	return a.Delta < b.Delta || a.Delta == b.Delta && a.Subject+a.Name > b.Subject+b.Name
}

// elapsed is how long the measurements took together.
func elapsed(ms []*facts.Measurement) (d time.Duration) {
	for _, m := range ms {
		d += m.Time
	}
	return d
}

// packetsOf is how many packets the measurements took, as counted, else as
// their bytes and messages fill packets.
func packetsOf(ms []*facts.Measurement) uint64 {
	var counted, worked uint64
	for _, s := range stirs(ms) {
		if s.class == counters.Traffic && s.unit == "packets" {
			counted = max(counted, s.most.Delta)
		}
	}
	for _, m := range ms {
		mtu := 1024
		if m.Path != nil && m.Path.PathMTU > 0 {
			mtu = m.Path.PathMTU
		}
		worked += max(m.Bytes/uint64(mtu), m.Messages, uint64(max(m.Iterations, 0)))
	}
	return max(counted, worked)
}

// spread is how much blocks of the samples differ among themselves, as a share
// of the median: the noise that a repetition would show.
func spread(m *facts.Measurement) float64 {
	const blocks = 10
	n := len(m.Samples)
	if n < 2*blocks {
		return 0
	}
	var medians []float64
	for i := range blocks {
		block := &facts.Measurement{Samples: m.Samples[i*n/blocks : (i+1)*n/blocks]}
		v, _ := block.Quantile(0.5)
		medians = append(medians, v)
	}
	slices.Sort(medians)
	middle := medians[blocks/2]
	// The second and the second last: one block may meet an interrupt.
	return math.Abs(medians[blocks-2]-medians[1]) / math.Max(middle, 1)
}
