package checks

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// shapers are queueing disciplines that hold packets back to a rate (tc(8)).
var shapers = []string{"tbf", "htb", "hfsc", "cake"}

// namedHost is one end of a measurement; the host that tells it has no name.
type namedHost struct {
	name string
	snap *facts.Snapshot
}

// hostsOf are the hosts at both ends of a measurement whose facts are known.
func hostsOf(s *facts.Snapshot, at end) []namedHost {
	hosts := []namedHost{{"", s}}
	if s.Peer != nil {
		hosts = append(hosts, namedHost{at.Peer, s.Peer})
	}
	return hosts
}

// shaperOf finds a qdisc that limits what an end's netdev sends, at this host or
// at the peer. Only software devices send through one: NICs pass it by.
func shaperOf(s *facts.Snapshot, at end) (Evidence, bool) {
	for _, host := range hostsOf(s, at) {
		for i := range host.snap.Netdevs {
			n := &host.snap.Netdevs[i]
			for _, q := range n.Qdiscs {
				if !slices.Contains(shapers, q.Kind) || !carriesSoftware(host.snap, n) {
					continue
				}
				source := "tc qdisc show dev " + n.Name
				if host.name != "" {
					source = host.name + ": " + source
				}
				return Evidence{source, fmt.Sprintf("a %s qdisc on %s limits what it sends", q.Kind, n.Name)}, true
			}
		}
	}
	return Evidence{}, false
}

// carriesSoftware reports whether a software device sends by the netdev.
func carriesSoftware(s *facts.Snapshot, n *facts.Netdev) bool {
	return slices.ContainsFunc(ports(s), func(ref PortRef) bool {
		on := s.Netdev(ref.Netdev.Or(""))
		return ref.Device.Software() && on != nil && (on == n || s.Beneath(on) == n)
	})
}

// judgeShaper tells that a qdisc limits the rate, which is seen on software
// devices without a baseline. It reports whether it found one.
func judgeShaper(p *Pass, m *facts.Measurement, figure float64) bool {
	at := endOfMeasurement(p.snap, m)
	shaper, ok := shaperOf(p.snap, at)
	if !ok {
		return false
	}
	p.Report(Finding{
		Code: "bandwidth-low", Severity: Warn, Subject: at.Subject, Confidence: Likely, Where: at.Where,
		Message:  fmt.Sprintf("%s reaches %s, and %s", title(m), expect.Rate(figure), shaper.Value),
		Evidence: []Evidence{figureEvidence(m, figure), shaper},
		Params:   at.figureOf(m, "figure", expect.Rate(figure), "reason", "shaper"),
	})
	return true
}
