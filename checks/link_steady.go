package checks

import (
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

var linkSteady = register(&Check{
	ID:    "link-steady",
	Title: "links stay up",
	Doc: "A link that goes down and comes back breaks every connection over it for seconds, and often looks healthy when " +
		"examined. It shows in counters that grow between the samples, in a port that trains again and again, and in the " +
		"kernel log.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool, facts.KernelLog},
	Codes: []string{"link-flapping"},
	Params: Params{
		"link-flapping": "device port netdev? pci? counter? count?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Ethtool, facts.KernelLog)
		for port := range p.Ports(nil) {
			judgeSteady(p, s, port)
		}
	},
})

const (
	// flapWindow and flapEvents: three losses of link within ten minutes are no
	// accident (judgement section 3).
	flapWindow = 10 * time.Minute
	flapEvents = 3
)

func judgeSteady(p *Pass, s *facts.Snapshot, port PortRef) {
	f := Finding{Code: "link-flapping", Severity: Warn, Subject: port.String(), Confidence: Proved, Where: port.Where()}
	n := s.Netdev(port.Netdev.Or(""))
	read, there, changed, name := false, IB(port) || OnEthernet(port), uint64(0), ""
	note := func(src facts.Source, file, counter string, v facts.Counter, delta uint64) {
		read = true
		if delta > 0 {
			changed, name = max(changed, delta), counter
			f.Evidence = append(f.Evidence, moved(file, v, delta, s.Between(src)))
		}
	}
	if n != nil {
		if d, ok := n.CarrierChanges.Delta(); ok {
			note(facts.Links, "/sys/class/net/"+n.Name+"/carrier_changes", "carrier_changes", n.CarrierChanges, d)
		}
	}
	down := func(src facts.Source, at counters.Place, m map[string]facts.Counter, dir string) {
		counts, twice := sampled(at, m, counters.LinkDown)
		there, read = there || counts, read || twice
		for _, g := range grew(at, m, counters.LinkDown) {
			if g.Unit == "events" {
				note(src, dir+g.Name, g.Name, g.Sample, g.Delta)
			}
		}
	}
	down(facts.SysfsRDMA, counters.Port, port.Counters, port.Path("counters/"))
	down(facts.SysfsRDMA, counters.Device, port.HWCounters, port.Path("hw_counters/"))
	if n != nil {
		for _, owner := range s.Hardware(n) {
			down(facts.Ethtool, counters.Ethtool, owner.Ethtool, "ethtool -S "+owner.Name+" ")
			if d, ok := owner.CarrierChanges.Delta(); ok && owner != n {
				note(facts.Links, "/sys/class/net/"+owner.Name+"/carrier_changes", "carrier_changes", owner.CarrierChanges, d)
			}
		}
	}
	events := linkLosses(s, port)
	first, ok1 := port.State.Get()
	last, ok2 := port.StateLast.Get()
	switch {
	case changed == 0 && ok1 && ok2 && first == facts.StateActive && last == facts.StateDown:
		f.Message = "the port was ACTIVE at the first sample and DOWN at the second"
		f.Evidence = []Evidence{{port.Path("state"), "ACTIVE, then DOWN"}}
		f.Params = port.Params()
	case changed > 0:
		f.Message = fmt.Sprintf("the link changed between the samples: %s grew by %d", name, changed)
		f.Params = port.Params("counter", name, "count", fmt.Sprint(changed))
	case port.PhysState.Or("") == "LinkErrorRecovery":
		f.Message = "the link is recovering from errors: physical state LinkErrorRecovery"
		f.Evidence = []Evidence{{port.Path("phys_state"), "LinkErrorRecovery"}}
		f.Params = port.Params()
	case len(events) >= flapEvents:
		f.Message = fmt.Sprintf("the kernel log tells of %d losses of link within ten minutes", len(events))
		for _, rec := range events[len(events)-flapEvents:] {
			f.Evidence = append(f.Evidence, logEvidence(rec))
		}
		f.Params = port.Params("count", fmt.Sprint(len(events)))
	case !there:
		p.NotApplicable("%s counts no link changes", port)
		return
	case !read:
		p.Unread(port.String(), "second sample of link changes")
		return
	default:
		return
	}
	p.Report(f)
}

// linkLost is what drivers and the network stack log when a link goes. The
// lines of software devices are not among them: making and removing one
// writes the same.
var linkLost = pattern.Of(`(?i)\blink (?:is )?down\b|lost carrier|\bport_down\b|\bport [0-9]+ down\b`, "down", "lost carrier")

// linkLosses are the records of the last day that tell of a lost link of the
// port, the fullest window of ten minutes of them.
func linkLosses(s *facts.Snapshot, port PortRef) []facts.LogRecord {
	var all, best []facts.LogRecord
	for _, rec := range s.Log {
		if !linkLost.MatchString(rec.Text) || logNow(s)-rec.SinceBoot > recent || !about(rec, port) {
			continue
		}
		all = append(all, rec)
		for all[len(all)-1].SinceBoot-all[0].SinceBoot > flapWindow {
			all = all[1:]
		}
		if len(all) >= len(best) {
			best = append([]facts.LogRecord(nil), all...)
		}
	}
	return best
}

// about reports whether a record names the port: by its netdev, its device or
// the PCI function of a device with one port.
func about(rec facts.LogRecord, port PortRef) bool {
	if n, ok := port.Netdev.Get(); ok && hasWord(rec.Text, n) {
		return true
	}
	if hasWord(rec.Text, port.Device.Name) {
		return true
	}
	pci, ok := port.Device.PCI.Get()
	return ok && len(port.Device.Ports) == 1 && pciIn(rec) == pci
}
