package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// ports shows which device, netdev, PCI function and address belong together,
// where the report holds the facts (--snapshot).
func (p *page) ports(d *Document) {
	s := d.Snapshot
	if s == nil || len(s.Devices) == 0 {
		return
	}
	p.blank()
	p.heading("Ports")
	for i := range s.Devices {
		dev := &s.Devices[i]
		for j := range dev.Ports {
			p.port(s, dev, &dev.Ports[j])
		}
	}
}

func (p *page) port(s *facts.Snapshot, dev *facts.Device, port *facts.Port) {
	name := facts.LinkName(dev.Name, port.Number)
	parts := []string{string(port.State.Or("state not read")), portRate(s, port), port.Netdev.Or(""), addresses(s, port), dev.PCI.Or("")}
	if n, ok := dev.NUMANode.Get(); ok && n >= 0 {
		parts = append(parts, fmt.Sprintf("NUMA node %d", n))
	}
	p.para("  "+name+"  ", len(name)+4, joined(parts))
	if c, ok := port.Choice.Get(); ok {
		pad := strings.Repeat(" ", len(name)+4)
		p.para(pad, len(pad), "GID index taken by default: "+c.String())
	}
	if moved := unknownMoved(port); len(moved) > 0 {
		pad := strings.Repeat(" ", len(name)+4)
		p.para(pad, len(pad), "moved, and not judged since not known: "+strings.Join(moved, ", "))
	}
}

// unknownMoved lists the port's counters that grew between the samples and of
// which nothing is known.
func unknownMoved(port *facts.Port) []string {
	var moved []string
	look := func(place counters.Place, m map[string]facts.Counter) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if _, _, ok := counters.Lookup(place, name); ok {
				continue
			}
			if d, ok := m[name].Delta(); ok && d > 0 {
				moved = append(moved, fmt.Sprintf("%s +%d", name, d))
			}
		}
	}
	look(counters.Port, port.Counters)
	look(counters.Device, port.HWCounters)
	if more := len(moved) - countersShown; more > 0 {
		moved = append(moved[:countersShown], fmt.Sprintf("%d more", more))
	}
	return moved
}

// countersShown is how many counters the text names; JSON has them all.
const countersShown = 8

// portRate is the data rate on InfiniBand and the netdev's speed on Ethernet.
func portRate(s *facts.Snapshot, port *facts.Port) string {
	if port.LinkLayer.Or("") == facts.InfiniBand {
		rate, ok := port.DataRate.Get()
		if !ok {
			return ""
		}
		return strings.TrimSpace(fmt.Sprintf("%s (%dX %s)", rate, port.Width.Or(0), port.Speed.Or("")))
	}
	if n := s.Netdev(port.Netdev.Or("")); n != nil {
		if speed, ok := s.Beneath(n).Speed.Get(); ok {
			return speed.String()
		}
	}
	return ""
}

func addresses(s *facts.Snapshot, port *facts.Port) string {
	n := s.Netdev(port.Netdev.Or(""))
	if n == nil {
		return ""
	}
	var ips []string
	for _, a := range n.Addresses {
		if a.Scope == "global" {
			ips = append(ips, fmt.Sprintf("%s/%d", a.IP, a.PrefixLen))
		}
	}
	return strings.Join(ips, " ")
}

func joined(parts []string) string {
	var have []string
	for _, s := range parts {
		if s != "" {
			have = append(have, s)
		}
	}
	return strings.Join(have, " · ")
}
