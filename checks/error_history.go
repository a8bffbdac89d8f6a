package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var errorHistory = register(&Check{
	ID:    "error-history",
	Title: "no error counter tells of past trouble",
	Doc: "Totals since boot say nothing of now. But counters that stay at zero on healthy hosts (retries exceeded, link " +
		"losses, drops of a priority, uncorrected blocks, pause storms, PCIe errors that were not corrected) are worth " +
		"knowing, more so where the kernel log has a line of the last day.",
	Layer: Counters,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool, facts.PCISysfs, facts.KernelLog},
	Codes: []string{"past-errors"},
	Params: Params{
		"past-errors": "device port netdev? pci? counter",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Ethtool, facts.PCISysfs, facts.KernelLog)
		for port := range p.Ports(nil) {
			judgePast(p, s, port)
		}
	},
})

// bootLosses is how many losses of link a healthy port has seen: drivers take
// the link down when it is first set up and when PFC is switched (mlx5).
const bootLosses = 2

func judgePast(p *Pass, s *facts.Snapshot, port PortRef) {
	f := Finding{Code: "past-errors", Severity: Info, Subject: port.String(), Confidence: Proved, Where: port.Where()}
	read, there := false, false
	var names []string
	look := func(at counters.Place, m map[string]facts.Counter, dir string) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			c, _, ok := counters.Lookup(at, name)
			if !ok || !history(c) {
				continue
			}
			there = true
			v, ok := m[name].Value()
			if !ok {
				continue
			}
			read = true
			if d, ok := c.Delta(m[name]); ok && d > 0 || v == 0 || c.Saturated(m[name]) ||
				c.Class == counters.LinkDown && v <= bootLosses {
				continue // What grows now, or no longer can, is told by other checks.
			}
			names = append(names, name)
			f.Evidence = append(f.Evidence, Evidence{dir + name, fmt.Sprint(v)})
		}
	}
	look(counters.Port, port.Counters, port.Path("counters/"))
	look(counters.Device, port.HWCounters, port.Path("hw_counters/"))
	if n := s.Netdev(port.Netdev.Or("")); n != nil {
		for _, owner := range s.Hardware(n) {
			look(counters.Ethtool, owner.Ethtool, "ethtool -S "+owner.Name+" ")
			look(counters.FEC, owner.FECCounters, "ethtool -I --show-fec "+owner.Name+" ")
		}
	}
	for i := range s.PCI {
		if fn := &s.PCI[i]; fn.Address == port.Device.PCI.Or("none") {
			for _, name := range slices.Sorted(maps.Keys(fn.AER)) {
				v, ok := fn.AER[name].Value()
				there, read = true, read || ok
				if d, grew := fn.AER[name].Delta(); strings.HasPrefix(name, "correctable/") || strings.Contains(name, "TOTAL") || v == 0 || grew && d > 0 {
					continue
				}
				names = append(names, name)
				f.Evidence = append(f.Evidence, Evidence{aerFile(fn.Address, name), fmt.Sprint(v)})
			}
		}
	}
	switch {
	case !there && len(port.HWCounters) > 0:
		p.NotApplicable("%s has no counter that tells of the past", port)
		return
	case !read:
		p.Unread(port.String(), "error counters")
		return
	case names == nil:
		return
	}
	f.Message = "errors of the past, none of them growing now: " + strings.Join(names, ", ")
	if up, ok := s.Host.Uptime.Get(); ok {
		f.Message += fmt.Sprintf(", in %s since boot", up.Round(time.Minute))
	}
	if rec, ok := lastLine(s, port); ok {
		f.Evidence = append(f.Evidence, logEvidence(rec))
		if logNow(s)-rec.SinceBoot <= recent {
			f.Severity = Warn
		}
	}
	f.Params = port.Params("counter", names[0])
	p.Report(f)
}

// history reports whether a counter is zero on a healthy host.
func history(c counters.Counter) bool {
	switch c.Class {
	case counters.Timeout, counters.ReceiveNotReady:
		return c.Unit == "QPs"
	case counters.LinkDown:
		return c.Unit == "events"
	case counters.CongestionRX:
		return strings.Contains(c.Name, "prio") && strings.Contains(c.Name, "discard")
	case counters.Physical:
		return strings.Contains(c.Name, "uncorrectable")
	case counters.PauseStorm:
		return !strings.Contains(c.Name, "resume")
	}
	return false
}

// aerFile is the sysfs file of an AER counter and its line.
func aerFile(pci, name string) string {
	kind, line, _ := strings.Cut(name, "/")
	return "/sys/bus/pci/devices/" + pci + "/aer_dev_" + kind + " " + line
}

// lastLine is the newest record that tells of trouble of the port.
func lastLine(s *facts.Snapshot, port PortRef) (rec facts.LogRecord, found bool) {
	for _, r := range s.Log {
		if !about(r, port) || noise.MatchString(r.Text) {
			continue
		}
		known := slices.ContainsFunc(logPatterns, func(pt logPattern) bool { return pt.re.MatchString(r.Text) })
		if known || linkLost.MatchString(r.Text) {
			rec, found = r, true
		}
	}
	return rec, found
}
