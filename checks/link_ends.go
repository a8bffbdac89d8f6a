package checks

import (
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// NameEnds adds to the findings about links what is at both ends of each: the
// cable or module, the card, and the port on the other side. Whoever goes to
// change a part has to find it.
func NameEnds(s *facts.Snapshot, r *Result) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if !aboutLink(f.Code) || f.Where.Device == "" {
			continue
		}
		for _, e := range ends(s, f) {
			if !slices.Contains(f.Evidence, e) {
				f.Evidence = append(f.Evidence, e)
			}
		}
	}
}

// besideLinks are codes of link checks that no cable or card makes any better.
var besideLinks = []string{"lag-not-offloaded", "vf-link-down-by-pf", "vf-guid-unset", "vf-rate-limited", "counters-saturated",
	"port-down-unused", "port-admin-down"}

// aboutLink reports whether a code is of the link layer.
func aboutLink(code string) bool {
	if slices.Contains(besideLinks, code) {
		return false
	}
	return slices.ContainsFunc(registry, func(c *Check) bool { return c.Layer == Link && slices.Contains(c.Codes, code) })
}

// ends are what is known of the two ends of the link that f is about.
func ends(s *facts.Snapshot, f *Finding) []Evidence {
	d := s.Device(f.Where.Device)
	if d == nil || d.Software() {
		return nil
	}
	upstream := f.Code == "link-errors-upstream" // Beyond the far end, whose name is the way there.
	var all []Evidence
	for _, n := range linksOf(s, d, f) {
		if o, ok := n.Transceiver.Get(); ok && !upstream {
			all = append(all, Evidence{"module of " + n.Name, opticName(o)})
		}
		for _, far := range n.LLDP {
			all = append(all, Evidence{"far end of " + n.Name + " (LLDP, /run/systemd/netif/lldp/" + strconv.Itoa(n.Index) + ")", far.String()})
		}
	}
	if serial, source := cardSerial(s, d); serial != "" && !upstream {
		all = append(all, Evidence{source, "serial number " + serial})
	}
	if p := portOf(d, f.Where.Port); p != nil && p.LinkLayer.Or("") == facts.InfiniBand && p.PhysState.Or("") == "LinkUp" {
		all = append(all, Evidence{"far end of " + facts.LinkName(d.Name, p.Number), "not known to this host; iblinkinfo asks the fabric"})
	}
	return all
}

// linksOf are the netdevs with a link of their own that f is about: the one it
// names, else those of its port.
func linksOf(s *facts.Snapshot, d *facts.Device, f *Finding) []*facts.Netdev {
	name := f.Params["netdev"]
	if p := portOf(d, f.Where.Port); p != nil && name == "" {
		name = p.Netdev.Or("")
	}
	if n := s.Netdev(name); n != nil {
		return s.Hardware(n)
	}
	return nil
}

func portOf(d *facts.Device, number int) *facts.Port {
	for i := range d.Ports {
		if d.Ports[i].Number == number {
			return &d.Ports[i]
		}
	}
	return nil
}

// cardSerial is the serial number of a device's card, and where it was read.
func cardSerial(s *facts.Snapshot, d *facts.Device) (serial, source string) {
	if serial, ok := d.Serial.Get(); ok {
		return serial, "/sys/class/infiniband/" + d.Name + "/serial"
	}
	for i := range s.PCI {
		if f := &s.PCI[i]; f.Address == d.PCI.Or("") && f.Serial.Known() {
			return f.Serial.Or(""), "devlink dev info pci/" + f.Address
		}
	}
	return "", ""
}
