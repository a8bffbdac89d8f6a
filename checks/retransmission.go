package checks

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Shares of packets sent again. At 100 Gb/s and 10 us round trip 31 packets are
// in flight, and go-back-N sends them all again: a loss of 0.1 percent costs
// 3 percent of the rate, one of 0.001 percent nothing one could measure.
const (
	lossFail = 1e-3
	lossWarn = 1e-5
)

var retransmission = register(&Check{
	ID:    "retransmission",
	Title: "packets arrive, in order and once",
	Doc: "Sequence errors, duplicates and adaptive retransmissions say that packets were lost between this host and a " +
		"peer. Timeouts alone say that last packets or acknowledgements were. Packets out of order without any of these " +
		"are what adaptive routing does.",
	Layer: Counters,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool},
	Codes: []string{"loss-retransmit", "ack-timeout", "reordering"},
	Params: Params{
		"loss-retransmit": "device port netdev? pci? counter netem?",
		"ack-timeout":     "device port netdev? pci? counter netem?",
		"reordering":      "device port netdev? pci? counter",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Ethtool)
		for port := range p.Ports(nil) {
			n := s.Netdev(port.Netdev.Or(""))
			if n != nil {
				n = s.Beneath(n)
			}
			judgeRetransmission(p, port, n)
		}
	},
})

func judgeRetransmission(p *Pass, port PortRef, n *facts.Netdev) {
	classes := []counters.Class{counters.Loss, counters.Timeout, counters.Reordering}
	moves := grew(counters.Device, port.HWCounters, classes...)
	if len(moves) == 0 {
		switch there, twice := sampled(counters.Device, port.HWCounters, classes...); {
		case !there:
			p.NotApplicable("%s counts no retransmissions", port)
		case !twice:
			p.Unread(port.String(), "second sample of hw_counters")
		case idle(port, n):
			p.Idle(port.String())
		}
		return
	}
	of := func(c counters.Class) []grown {
		return slices.DeleteFunc(slices.Clone(moves), func(g grown) bool { return g.Class != c })
	}
	f := Finding{Subject: port.String(), Confidence: Proved, Where: port.Where()}
	for _, g := range moves {
		f.Evidence = append(f.Evidence, g.evidence(port.Path("hw_counters/"), p.snap.Between(facts.SysfsRDMA)))
	}
	loss, timeouts := of(counters.Loss), of(counters.Timeout)
	most := biggest(moves)
	switch {
	case len(loss) > 0:
		most = biggest(loss)
		f.Code = "loss-retransmit"
		f.Message = fmt.Sprintf("packets were lost and sent again: %s grew by %d", most.Name, most.Delta)
	case len(timeouts) > 0:
		most = biggest(timeouts)
		f.Code = "ack-timeout"
		f.Message = fmt.Sprintf("answers stayed away: %s grew by %d", most.Name, most.Delta)
	default:
		f.Code, f.Severity = "reordering", Info
		f.Message = fmt.Sprintf("packets arrived out of order and none was sent again: %s grew by %d", most.Name, most.Delta)
	}
	f.Params = port.Params("counter", most.Name)
	if f.Code != "reordering" {
		f.Severity = lossSeverity(&f, most.Delta, port, n)
		if slices.ContainsFunc(timeouts, func(g grown) bool { return g.Unit == "QPs" }) {
			f.Severity = Fail
			f.Message += "; QPs gave up and went to ERROR"
		}
		blameNetem(p.snap, &f, port)
	}
	p.Report(f)
}

// lossSeverity weighs events against the packets that moved, and tells them.
func lossSeverity(f *Finding, events uint64, port PortRef, n *facts.Netdev) Severity {
	all, ok := packets(port, n)
	if !ok || all == 0 {
		return Warn
	}
	share := float64(events) / float64(all)
	f.Message += fmt.Sprintf(" in %d packets", all)
	switch {
	case share >= lossFail:
		return Fail
	case share >= lossWarn:
		return Warn
	}
	return Info
}

// biggest is the counter that grew most.
func biggest(gs []grown) grown {
	return slices.MaxFunc(gs, func(a, b grown) int {
		switch {
		case a.Delta < b.Delta:
			return -1
		case a.Delta > b.Delta:
			return 1
		}
		return 0
	})
}
