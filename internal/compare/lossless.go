package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// losslessAgrees compares what makes RoCE lossless or not.
func losslessAgrees(ss []slot) checks.Result {
	traits := []trait{
		{what: "PFC", code: "pfc-mismatch", severity: checks.Warn, value: pfc, source: dcb("pfc"),
			better: func(a, b string) bool { return b == "off" && a != "off" }, // Somebody switched it on on purpose.
			params: func(_ member, _, want string) []string {
				if prio, err := strconv.Atoi(strings.TrimPrefix(want, "priority ")); err == nil {
					return []string{"priority", itoa(prio)}
				}
				return nil
			}},
		{what: "global pause", severity: checks.Warn, source: func(m member) string { return "ethtool --show-pause " + m.netdev.Name },
			value: onNetdev(func(n *facts.Netdev) (string, bool) {
				p, ok := n.Pause.Get()
				return fmt.Sprintf("rx %s tx %s", onOff(p.RX), onOff(p.TX)), ok
			})},
		{what: "trust", severity: checks.Warn, source: dcb("apptrust"), value: onDCB(func(d facts.DCB) (string, bool) {
			return strings.Join(d.Trust, ","), len(d.Trust) > 0
		})},
		{what: "DSCP map", severity: checks.Warn, source: dcb("app"), value: onDCB(dscpMap), better: longer,
			pick: func(is, want string) string {
				_, _, ok := firstDifference(is, want)
				return when(ok, "dscp-map-mismatch")
			},
			params: func(_ member, is, want string) []string {
				dscp, prio, _ := firstDifference(is, want)
				return []string{"dscp", dscp, "priority", prio}
			}},
		{what: "ETS", severity: checks.Warn, source: dcb("ets"), value: onDCB(func(d facts.DCB) (string, bool) {
			e, ok := d.ETS.Get()
			return fmt.Sprintf("prio-tc %v tc-bw %v tsa %v", e.PrioTC, e.Bandwidth, e.TSA), ok
		})},
		{what: "rate limits of traffic classes", severity: checks.Warn, source: dcb("maxrate"), value: onDCB(func(d facts.DCB) (string, bool) {
			r, ok := d.MaxRate.Get()
			return fmt.Sprint(r), ok
		})},
		{what: "traffic class", severity: checks.Warn, source: func(m member) string {
			return "/sys/class/infiniband/" + m.device.Name + "/tc/" + itoa(m.port.Number) + "/traffic_class"
		}, value: func(m member) (string, bool) { return known(m.port.TrafficClass) }},
		{what: "default RoCE ToS of rdma_cm", severity: checks.Warn, source: configfs("default_roce_tos"),
			value: func(m member) (string, bool) { return known(m.port.CMRoCETOS) }},
	}
	return agree("lossless-agrees", checks.Lossless, "hosts agree on PFC, DSCP map, trust, ETS, pause and ECN",
		ss, append(traits, ecnTraits(ss)...))
}

// ecnTraits are one for each ECN setting that a driver shows.
func ecnTraits(ss []slot) []trait {
	names := map[string]bool{}
	for _, s := range ss {
		for _, m := range s.ports {
			if m.netdev != nil {
				for name := range m.netdev.ECN {
					names[name] = true
				}
			}
		}
	}
	var ts []trait
	for _, name := range slices.Sorted(maps.Keys(names)) {
		role, rest, _ := strings.Cut(name, "/")
		prio, enable := strings.CutPrefix(rest, "enable/")
		ts = append(ts, trait{what: "ECN " + name, severity: checks.Warn, better: larger, source: netdevFile("ecn/" + name),
			value: onNetdev(func(n *facts.Netdev) (string, bool) {
				v, ok := n.ECN[name]
				return itoa(v), ok
			}),
			pick: func(is, _ string) string { return when(enable && role != "" && is == "0", "ecn-off") },
			params: func(m member, _, _ string) []string {
				return []string{"priority", prio, "path", netdevFile("ecn/" + name)(m)}
			}})
	}
	return ts
}

// pfc is the priorities with PFC.
func pfc(m member) (string, bool) {
	return onDCB(func(d facts.DCB) (string, bool) {
		p, ok := d.PFC.Get()
		var on []string
		for prio := range 8 {
			if p.On(prio) {
				on = append(on, itoa(prio))
			}
		}
		switch len(on) {
		case 0:
			return "off", ok
		case 1:
			return "priority " + on[0], ok
		}
		return "priorities " + strings.Join(on, ","), ok
	})(m)
}

// dscpMap lists the DSCP entries of the APP table, "26:3 48:6".
func dscpMap(d facts.DCB) (string, bool) {
	if !d.PFC.Known() && len(d.Apps) == 0 {
		return "", false // DCB was not answered at all.
	}
	var es []facts.App
	for _, a := range d.Apps {
		if a.Selector == facts.SelectorDSCP {
			es = append(es, a)
		}
	}
	slices.SortFunc(es, func(a, b facts.App) int { return a.Protocol*8 + a.Priority - b.Protocol*8 - b.Priority })
	var parts []string
	for _, a := range es {
		parts = append(parts, fmt.Sprintf("%d:%d", a.Protocol, a.Priority))
	}
	if parts == nil {
		return "empty", true
	}
	return strings.Join(parts, " "), true
}

func longer(a, b string) bool { return strings.Count(a, ":") > strings.Count(b, ":") }

// firstDifference is the first entry of want that is lacks.
func firstDifference(is, want string) (dscp, prio string, ok bool) {
	have := strings.Fields(is)
	for _, e := range strings.Fields(want) {
		if !slices.Contains(have, e) {
			return strings.Cut(e, ":")
		}
	}
	return "", "", false
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// onNetdev reads a trait of the netdev beneath a port.
func onNetdev(read func(*facts.Netdev) (string, bool)) func(member) (string, bool) {
	return func(m member) (string, bool) {
		if m.netdev == nil {
			return "", false
		}
		return read(m.netdev)
	}
}

// onDCB reads a trait of its DCB.
func onDCB(read func(facts.DCB) (string, bool)) func(member) (string, bool) {
	return onNetdev(func(n *facts.Netdev) (string, bool) {
		d, ok := n.DCB.Get()
		if !ok {
			return "", false
		}
		return read(d)
	})
}

func dcb(object string) func(member) string {
	return func(m member) string { return "dcb " + object + " show dev " + m.netdev.Name }
}

func configfs(name string) func(member) string {
	return func(m member) string {
		return "/sys/kernel/config/rdma_cm/" + m.device.Name + "/ports/" + itoa(m.port.Number) + "/" + name
	}
}
