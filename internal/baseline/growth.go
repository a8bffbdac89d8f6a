package baseline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// still are the classes of counters that stand still on a host without
// trouble, busy or not.
var still = []counters.Class{counters.Physical, counters.PhysicalUpstream, counters.Buffer, counters.Steering, counters.Partition,
	counters.Local, counters.Length, counters.Resource, counters.Module, counters.Thermal, counters.RateLimit, counters.Config,
	counters.Corruption, counters.CongestionRX, counters.CongestionTX, counters.HostBuffer, counters.Addressing, counters.Connection,
	counters.Firmware, counters.ReceiveNotReady}

// stirredCounters tells of counters of trouble that stood still then and grow
// now. Whether that is trouble is for the checks to say; here it is only news.
func (c *comparison) stirredCounters(same map[string]string) {
	for i := range c.before.Devices {
		was := &c.before.Devices[i]
		is := c.now.Device(same[was.Name])
		for j := range was.Ports {
			old := &was.Ports[j]
			port := portOf(is, old.Number)
			if port == nil {
				continue
			}
			link := facts.LinkName(is.Name, port.Number)
			where := checks.Where{Device: is.Name, Port: port.Number, Netdev: port.Netdev.Or(""), PCI: is.PCI.Or("")}
			dir := fmt.Sprintf("/sys/class/infiniband/%s/ports/%d/", is.Name, port.Number)
			c.stirred(link, where, counters.Port, dir+"counters/", old.Counters, port.Counters)
			c.stirred(link, where, counters.Device, dir+"hw_counters/", old.HWCounters, port.HWCounters)
			c.stirred(link, where, counters.CM, dir, old.CM, port.CM)
		}
	}
	for i := range c.before.Netdevs {
		was := &c.before.Netdevs[i]
		if is := c.now.Netdev(was.Name); is != nil {
			c.stirred(is.Name, checks.Where{Netdev: is.Name, PCI: is.PCI.Or("")}, counters.Ethtool, "ethtool -S "+is.Name+" ", was.Ethtool, is.Ethtool)
		}
	}
}

// stirred reports the counters of one place as one finding.
func (c *comparison) stirred(subject string, where checks.Where, at counters.Place, dir string, before, now map[string]facts.Counter) {
	var names, was, is []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		known, _, ok := counters.Lookup(at, name)
		if !ok || !slices.Contains(still, known.Class) || harmless(known, name) {
			continue
		}
		then, ok1 := known.Delta(before[name])
		grown, ok2 := known.Delta(now[name])
		if !ok1 || !ok2 || then != 0 || grown == 0 {
			continue
		}
		names = append(names, fmt.Sprintf("%s by %d", name, grown))
		was = append(was, dir+name+" +0")
		is = append(is, fmt.Sprintf("%s%s +%d", dir, name, grown))
	}
	if names == nil {
		return
	}
	c.report(checks.Finding{
		Code: ChangedCode, Severity: checks.Info, Subject: subject, Confidence: checks.Proved, Where: where,
		Message:  fmt.Sprintf("counters of %s grow that stood still when the baseline was recorded: %s", subject, strings.Join(names, ", ")),
		Evidence: []checks.Evidence{{Source: "between the samples", Value: strings.Join(is, ", ")}, {Source: "the baseline's", Value: strings.Join(was, ", ")}},
		Params:   map[string]string{"what": "counters of " + subject, "was": "still", "is": strings.Join(names, ", ")},
	})
}

// harmless reports whether a counter of these classes also counts what is in
// order: mended bits, waiting for credits, commands to the firmware.
func harmless(c counters.Counter, name string) bool {
	return strings.Contains(strings.ToLower(name), "corr") || name == "port_xmit_wait" ||
		c.Class == counters.Firmware && !strings.Contains(name, "err") && !strings.Contains(name, "fatal") ||
		c.Class == counters.Physical && c.Unit == "bits"
}
