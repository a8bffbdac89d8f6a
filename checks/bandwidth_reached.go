package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var bandwidthReached = register(&Check{
	ID:    "bandwidth-reached",
	Title: "bandwidth is what link and PCIe carry",
	Doc: "Large messages over several queue pairs should reach the rate of the slower link times the share that headers leave, " +
		"or the ceiling of a PCIe path where that is lower. A loopback never leaves the card and is held against PCIe alone: a " +
		"good one acquits PCIe, memory and NUMA. Software, guests and cloud adapters are held against a baseline only.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.Links, facts.PCISysfs, facts.CPUSource, facts.ProcLimits},
	Codes: []string{"bandwidth-low", "single-qp-limit", "bond-one-member", "numa-remote"},
	Params: Params{
		"bandwidth-low": figureParams, "single-qp-limit": figureParams, "bond-one-member": figureParams,
		"numa-remote": numaParams,
	},
	Run: func(p *Pass) {
		p.Read(facts.Probes, facts.SysfsRDMA, facts.Links, facts.PCISysfs, facts.CPUSource, facts.ProcLimits)
		for _, ms := range p.pairs("bandwidth") {
			judgeBandwidth(p, ms)
		}
	},
})

const numaParams = "pid? device port? netdev? pci? numa_node cpus"

// largeMessage is the size from which on the link decides, not the rate of
// messages.
const largeMessage = 64 << 10

// plainLarge keeps one-way transfers of large messages that nothing hampers on
// purpose.
func plainLarge(m *facts.Measurement) bool {
	return m.SizeBytes >= largeMessage && m.Direction != "both" && m.Mode == ""
}

// judgeBandwidth judges the best figure of each direction between two ports.
func judgeBandwidth(p *Pass, ms []*facts.Measurement) {
	op := "write"
	if m, _ := best(ms, func(m *facts.Measurement) bool { return plainLarge(m) && m.Op == op }); m == nil {
		if m, _ = best(ms, plainLarge); m == nil {
			p.unmeasured(ms, "bandwidth")
			return
		}
		op = m.Op
	}
	for _, direction := range []string{"", "out", "in"} {
		m, figure := best(ms, func(m *facts.Measurement) bool { return plainLarge(m) && m.Op == op && m.Direction == direction })
		if m == nil {
			continue
		}
		p.Examine(1)
		if judgeShaper(p, m, figure) {
			continue
		}
		all, ok := p.judgeable(m)
		if !ok {
			continue
		}
		x, ok := expect.Bandwidth(all, m.Path, window(p.snap, m))
		if !ok {
			p.Unread(m.Local, "rate of the link, path MTU or PCIe link")
			continue
		}
		judgeFigure(p, ms, m, figure, x)
	}
}

// window is what the bytes outstanding allow, by the round trip of the same
// pair.
func window(s *facts.Snapshot, m *facts.Measurement) expect.Ceiling {
	for i := range s.Measured {
		l := &s.Measured[i]
		if l.Probe != "latency" || pairKey(l) != pairKey(m) || l.Unit != "ns" || l.Mode != "" {
			continue
		}
		if ns, ok := l.Quantile(0.5); ok {
			return expect.Window(m.QPs, m.Depth, m.SizeBytes, roundTrip(l, ns))
		}
	}
	return expect.Ceiling{}
}

// judgeFigure holds a figure against what is expected, and says why it is low.
func judgeFigure(p *Pass, ms []*facts.Measurement, m *facts.Measurement, figure float64, x expect.Expectation) {
	at := endOfMeasurement(p.snap, m)
	full := x.Limit // Against the link where there is one: a narrow slot is a reason, no excuse.
	if x.Link.Rate > 0 {
		full = x.Link
	}
	share, ofLimit := figure/float64(full.Rate), figure/float64(x.Limit.Rate)
	pass, fail := expect.BandwidthPass, expect.BandwidthFail
	if x.Link.Rate == 0 {
		pass, fail = expect.LoopbackPass, expect.LoopbackFail
	}
	one := m.QPs == 1 && x.Link.Rate > 0 && full.Rate >= expect.OneQPRate
	if one {
		pass, fail = expect.OneQPPass, expect.OneQPFail
	}
	if share >= pass {
		judgeOneQP(p, ms, m, figure, at)
		return
	}
	f := Finding{
		Code: "bandwidth-low", Severity: Warn, Subject: at.Subject, Confidence: Likely, Where: at.Where,
		Message: fmt.Sprintf("%s reaches %s, %s of the %s that %s", title(m), expect.Rate(figure), percent(share),
			expect.Rate(float64(full.Rate)), carries(full)),
		Evidence: []Evidence{figureEvidence(m, figure)},
		Params:   at.figureOf(m, "figure", expect.Rate(figure), "expected", expect.Rate(float64(full.Rate))),
	}
	for _, c := range x.Ceilings {
		f.Evidence = append(f.Evidence, Evidence{"expected, ceiling of the " + c.Name, c.String()})
	}
	bounded := x.Limit.Name != full.Name && ofLimit >= fail
	switch {
	case bounded:
		f.Params["reason"] = strings.ToLower(x.Limit.Name)
		f.Message += fmt.Sprintf(": the %s of %s carries no more than %s", x.Limit.Name, x.Limit.At, expect.Rate(float64(x.Limit.Rate)))
	case share < fail:
		f.Severity = Fail
	}
	if !bounded {
		f.explainFigure(p, ms, m, at, share)
	}
	p.Report(f)
	judgeBondMembers(p, ms, m, at)
	judgeNUMA(p, at, &f)
}

func carries(c expect.Ceiling) string {
	switch c.Name {
	case "link":
		return "the link at " + c.At + " carries"
	case "card":
		return "the card of " + c.At + " is made for"
	}
	return "the " + c.Name + " path of " + c.At + " carries"
}

// explainFigure adds what the share points to, what moved meanwhile, and what a
// loopback says of this host.
func (f *Finding) explainFigure(p *Pass, ms []*facts.Measurement, m *facts.Measurement, at end, share float64) {
	why := reasons(ms)
	if why != "" {
		f.Message += "; meanwhile " + why
		f.Params["reason"] = "moved"
	} else if m.QPs == 1 {
		f.Message += "; with one QP only, so measure with four"
		f.Params["reason"] = "one-qp"
	} else {
		f.Message += "; no counter of loss, pause or congestion moved"
	}
	f.Evidence = append(f.Evidence, Evidence{"what a share of " + percent(share) + " points to", expect.Suspicion(share)})
	for _, s := range stirs(ms) {
		if _, tells := classWords[s.class]; tells {
			f.Evidence = append(f.Evidence, moveEvidence(s.most))
		}
	}
	if m.Remote == m.Local || m.Remote == "" {
		f.Message += "; a loopback never leaves the card, so PCIe, memory or NUMA of this host is the reason"
		return
	}
	for _, own := range p.pairs("bandwidth") {
		loop, v := best(own, func(l *facts.Measurement) bool { return plainLarge(l) && l.Local == m.Local && l.Remote == l.Local })
		if loop == nil {
			continue
		}
		if all, ok := endAt(p.snap, "", loop.Local); ok {
			if x, ok := expect.Bandwidth([]expect.End{all}, loop.Path, expect.Ceiling{}); ok && v >= expect.BandwidthFail*float64(x.Limit.Rate) {
				f.Evidence = append(f.Evidence, Evidence{"loopback of " + loop.Local, expect.Rate(v) + ": PCIe, memory and NUMA of this host are acquitted"})
			}
		}
	}
}

// classWords are the classes of counters that tell why a figure is low.
var classWords = map[counters.Class]string{
	counters.Loss: "packets were sent again", counters.Timeout: "acknowledgements stayed away",
	counters.ReceiveNotReady: "receivers were not ready", counters.CongestionTX: "this host was held back",
	counters.CongestionRX: "a receiver held the network back or dropped", counters.PauseStorm: "pause did not end",
	counters.ECN: "congestion was signalled", counters.Corruption: "packets were damaged", counters.Physical: "the link had errors",
	counters.PCIe: "PCIe held the NIC back",
}

// reasons says what moved, in words.
func reasons(ms []*facts.Measurement) string {
	var parts []string
	for _, s := range stirs(ms) {
		if words, ok := classWords[s.class]; ok && !slices.Contains(parts, words) {
			parts = append(parts, words)
		}
	}
	return strings.Join(parts, ", ")
}

// judgeOneQP tells that one QP does not fill the port that several do.
func judgeOneQP(p *Pass, ms []*facts.Measurement, m *facts.Measurement, figure float64, at end) {
	if m.QPs <= 1 {
		return
	}
	one, v := best(ms, func(o *facts.Measurement) bool {
		return plainLarge(o) && o.Op == m.Op && o.Direction == m.Direction && o.QPs == 1
	})
	if one == nil || v >= expect.OneQPPass*figure {
		return
	}
	p.Report(Finding{
		Code: "single-qp-limit", Severity: Info, Subject: at.Subject, Confidence: Proved, Where: at.Where,
		Message:  fmt.Sprintf("one QP reaches %s, %d QPs %s", expect.Rate(v), m.QPs, expect.Rate(figure)),
		Evidence: []Evidence{figureEvidence(one, v), figureEvidence(m, figure)},
		Params:   at.figureOf(one, "figure", expect.Rate(v), "expected", expect.Rate(figure)),
	})
}

// judgeBondMembers tells that only one member of a bond carried the bytes.
func judgeBondMembers(p *Pass, ms []*facts.Measurement, m *facts.Measurement, at end) {
	n := p.snap.Netdev(at.Where.Netdev)
	if n == nil {
		return
	}
	members := p.snap.Hardware(n)
	if len(members) < 2 {
		return
	}
	bytes := map[string]uint64{}
	var all, most uint64
	var name string
	for _, s := range ms {
		for _, mv := range s.Moved {
			c, ok := lookupMove(mv.Name)
			if !ok || mv.Host != "" || c.Class != counters.Traffic || c.Unit != "bytes" ||
				!slices.ContainsFunc(members, func(n *facts.Netdev) bool { return n.Name == mv.Subject }) {
				continue
			}
			bytes[mv.Subject] += mv.Delta
			all += mv.Delta
			if bytes[mv.Subject] > most {
				most, name = bytes[mv.Subject], mv.Subject
			}
		}
	}
	if all == 0 || float64(most) < 0.9*float64(all) {
		return
	}
	p.Report(Finding{
		Code: "bond-one-member", Severity: Warn, Subject: at.Subject, Confidence: Proved, Where: at.Where,
		Message:  fmt.Sprintf("%s of what %s moved went over %s, one of its %d members", percent(float64(most)/float64(all)), n.Name, name, len(members)),
		Evidence: []Evidence{{"bytes of " + name + " during the probes", fmt.Sprintf("%d of %d", most, all)}},
		Params:   at.figureOf(m),
	})
}

// judgeNUMA tells that the probe could not run beside its NIC.
func judgeNUMA(p *Pass, at end, low *Finding) {
	if at.Port == nil {
		return
	}
	f := p.snap.PCITree()[at.Port.Device.PCI.Or("")]
	allowed, ok := p.snap.Self.CPUs.Get()
	if f == nil || !ok || f.NUMANode.Or(-1) < 0 || !f.LocalCPUs.Known() || overlap(cpuRanges(allowed), cpuRanges(f.LocalCPUs.Or(""))) {
		return
	}
	p.Report(Finding{
		Code: "numa-remote", Severity: low.Severity, Subject: at.Device, Confidence: Likely, Where: at.Where,
		Message: fmt.Sprintf("the probe may run on processors %s only, and %s is on NUMA node %s with processors %s", allowed, at.Device,
			f.NUMANode, f.LocalCPUs),
		Evidence: []Evidence{{"/proc/self/status", "Cpus_allowed_list: " + allowed}, {pciFile(f, "local_cpulist"), f.LocalCPUs.Or("")}},
		Params: params("device", at.Device, "numa_node", f.NUMANode.String(), "cpus", f.LocalCPUs.Or(""), "netdev", at.Where.Netdev,
			"pci", f.Address),
	})
}
