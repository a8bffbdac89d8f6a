package baseline

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// trouble is the finding for a change that has a code of its own.
func (c *comparison) trouble(p pair, field string) (checks.Finding, bool) {
	was, is := p.before.Fields[field], p.now.Fields[field]
	var f checks.Finding
	ok := false
	switch name := string(p.now.Kind) + "." + settings.Bare(field); name {
	case "port.width_lanes":
		if less(is, was) {
			f, ok = c.port(p.now, "link-width-degraded", "width", is+"X", "expected", was+"X")
		}
	case "port.speed":
		if slices.Index(speeds, is) < slices.Index(speeds, was) && slices.Contains(speeds, is) {
			f, ok = c.port(p.now, "link-speed-degraded", "speed", is, "expected", was)
		}
	case "netdev.speed_bits_per_second":
		if a, b := rate(c.before, p.before.Name), rate(c.now, p.now.Name); b < a {
			f, ok = c.netdevPort(p.now.Name, "link-speed-degraded", "speed", is, "expected", was)
		}
	case "netdev.mtu_bytes":
		f, ok = c.mtuLower(p.now.Name, was, is)
	case "netdev.dcb.pfc.enabled":
		if is == "0" {
			f, ok = c.pfcOff(p.now.Name, was)
		}
	case "netdev.ecn[]":
		role, rest, _ := strings.Cut(settings.Index(field), "/")
		if prio, isEnable := strings.CutPrefix(rest, "enable/"); isEnable && is == "0" && role != "" {
			f, ok = c.netdevPort(p.now.Name, "ecn-off", "priority", prio,
				"path", "/sys/class/net/"+p.now.Name+"/ecn/"+settings.Index(field))
		}
	case "pci.current_link_width":
		if less(is, was) && nic(p.now) {
			f, ok = c.pci(p.now, "pcie-width-degraded", "width", "x"+is, "expected", "x"+was), true
		}
	case "pci.current_link_speed_gtps":
		if less(is, was) && nic(p.now) {
			f, ok = c.pci(p.now, "pcie-speed-degraded", "speed", is+" GT/s", "expected", was+" GT/s"), true
		}
	}
	if !ok {
		return f, false
	}
	plain := c.change(p.now, field, was, is, judge(p.now.Kind, field))
	f.Severity, f.Confidence, f.Message, f.Evidence = checks.Warn, checks.Proved, plain.Message, plain.Evidence
	return f, true
}

// speeds are the InfiniBand lane speeds, slowest first.
var speeds = []string{"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"}

// nic reports whether a PCI function is one that RDMA needs. GPUs, and bridges
// above them, slow their links down when they are idle.
func nic(t *settings.Thing) bool {
	return t.Fields["rdma_capable"] != "" || t.Fields["rdma_devices"] != ""
}

// less compares two figures; what is none is not less.
func less(a, b string) bool {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err1 == nil && err2 == nil && x < y
}

func rate(s *facts.Snapshot, netdev string) facts.BitsPerSecond {
	if n := s.Netdev(netdev); n != nil {
		return n.Speed.Or(0)
	}
	return 0
}

// port is a finding about a port.
func (c *comparison) port(t *settings.Thing, code string, more ...string) (checks.Finding, bool) {
	name, number, _ := strings.Cut(t.Name, "/")
	d := c.now.Device(name)
	if d == nil {
		return checks.Finding{}, false
	}
	for i := range d.Ports {
		if p := &d.Ports[i]; strconv.Itoa(p.Number) == number {
			return portFinding(d, p, p.Netdev.Or(""), code, more), true
		}
	}
	return checks.Finding{}, false
}

// netdevPort is a finding about the first port that a netdev carries. It is
// false where it carries none.
func (c *comparison) netdevPort(netdev, code string, more ...string) (checks.Finding, bool) {
	d, p := c.portOn(netdev)
	if p == nil {
		return checks.Finding{}, false
	}
	return portFinding(d, p, netdev, code, more), true
}

func portFinding(d *facts.Device, p *facts.Port, netdev, code string, more []string) checks.Finding {
	f := checks.Finding{
		Code: code, Subject: facts.LinkName(d.Name, p.Number),
		Where:  checks.Where{Device: d.Name, Port: p.Number, Netdev: netdev, PCI: d.PCI.Or("")},
		Params: map[string]string{},
	}
	for _, kv := range [][2]string{{"device", d.Name}, {"port", strconv.Itoa(p.Number)}, {"netdev", netdev}, {"pci", d.PCI.Or("")}} {
		if kv[1] != "" {
			f.Params[kv[0]] = kv[1]
		}
	}
	for i := 0; i+1 < len(more); i += 2 {
		f.Params[more[i]] = more[i+1]
	}
	return f
}

// portOn is the first port whose netdev is the one named or rides on it.
func (c *comparison) portOn(netdev string) (*facts.Device, *facts.Port) {
	for i := range c.now.Devices {
		d := &c.now.Devices[i]
		for j := range d.Ports {
			n := c.now.Netdev(d.Ports[j].Netdev.Or(""))
			if n != nil && (n.Name == netdev || c.now.Beneath(n).Name == netdev) {
				return d, &d.Ports[j]
			}
		}
	}
	return nil, nil
}

// mtuLower is roce-mtu-low where the MTU fell so far that RoCE's path MTU fell
// with it.
func (c *comparison) mtuLower(netdev, was, is string) (checks.Finding, bool) {
	d, p := c.portOn(netdev)
	a, err1 := strconv.Atoi(was)
	b, err2 := strconv.Atoi(is)
	if p == nil || err1 != nil || err2 != nil || !facts.RoCE(d, p) {
		return checks.Finding{}, false
	}
	then, ok1 := checks.PathMTU(d, a)
	now, ok2 := checks.PathMTU(d, b)
	if !ok1 || !ok2 || now >= then {
		return checks.Finding{}, false
	}
	return portFinding(d, p, netdev, "roce-mtu-low", []string{"mtu", was, "netdev_mtu", is,
		"path_mtu", strconv.Itoa(now), "best_path_mtu", strconv.Itoa(then)}), true
}

// pfcOff is pfc-off for the priority that RoCE rode, or the first that had PFC.
func (c *comparison) pfcOff(netdev, was string) (checks.Finding, bool) {
	enabled, err := strconv.Atoi(was)
	d, p := c.portOn(netdev)
	if err != nil || enabled == 0 || p == nil || !facts.RoCE(d, p) {
		return checks.Finding{}, false
	}
	priority, dscp := checks.LosslessRide(c.before, netdev, uint8(enabled))
	return portFinding(d, p, netdev, "pfc-off", []string{"priority", strconv.Itoa(priority), "dscp", strconv.Itoa(dscp)}), true
}

// pci is a finding about a PCI function.
func (c *comparison) pci(t *settings.Thing, code string, more ...string) checks.Finding {
	f := checks.Finding{Code: code, Subject: t.Name, Where: c.where(t), Params: map[string]string{"pci": t.Name}}
	if f.Where.Device != "" {
		f.Params["device"] = f.Where.Device
	}
	if parent := t.Fields["parent"]; parent != "" {
		f.Params["parent"] = parent
	}
	for i := 0; i+1 < len(more); i += 2 {
		f.Params[more[i]] = more[i+1]
	}
	return f
}

// deviceMissing: a device is not here. It was at work if a port of it was
// active.
func (c *comparison) deviceMissing(t *settings.Thing) checks.Finding {
	d := c.before.Device(t.Name)
	sev, at := checks.Warn, ""
	for i := range d.Ports {
		if active(&d.Ports[i]) {
			sev = checks.Fail
		}
	}
	if pci := d.PCI.Or(""); pci != "" {
		at = " at " + pci
	}
	params := map[string]string{"device": t.Name, "expected": strconv.Itoa(len(c.before.Devices)),
		"have": strconv.Itoa(len(c.now.Devices))}
	if pci := d.PCI.Or(""); pci != "" {
		params["pci"] = pci
	}
	return checks.Finding{
		Code: "device-missing", Severity: sev, Subject: t.Name, Confidence: checks.Proved,
		Message: fmt.Sprintf("%s%s is gone: %d RDMA devices are here, and %d were when the baseline was recorded",
			t.Name, at, len(c.now.Devices), len(c.before.Devices)),
		Evidence: []checks.Evidence{{Source: "/sys/class/infiniband", Value: "no " + t.Name},
			{Source: "the baseline's /sys/class/infiniband", Value: strings.Join(deviceNames(c.before), " ")}},
		Where:  checks.Where{Device: t.Name, PCI: d.PCI.Or("")},
		Params: params,
	}
}

func deviceNames(s *facts.Snapshot) []string {
	var names []string
	for i := range s.Devices {
		names = append(names, s.Devices[i].Name)
	}
	return names
}
