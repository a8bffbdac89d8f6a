package compare

import (
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// linksAgree compares the links of the ports: speed, lanes, FEC. A port without
// link has none of them to compare.
func linksAgree(ss []slot) checks.Result {
	rate := func(_ member, is, want string) []string { return []string{"speed", is, "expected", want} }
	var live []slot
	for _, s := range ss {
		l := slot{sure: s.sure}
		for _, m := range s.ports {
			if m.up() {
				l.ports = append(l.ports, m)
			}
		}
		live = append(live, l)
	}
	r := checks.Result{ID: "links-agree", Layer: checks.Link, Title: "hosts agree on speed, lanes and FEC of their links", Findings: []checks.Finding{}}
	compareAll(&r, live, []trait{
		{what: "link width", severity: checks.Warn, better: larger, source: file("rate"),
			value: func(m member) (string, bool) { return known(m.port.Width) },
			pick:  lower("link-width-degraded"),
			params: func(_ member, is, want string) []string {
				return []string{"width", is + "X", "expected", want + "X"}
			}},
		{what: "link speed", severity: checks.Warn, better: faster, source: file("rate"), params: rate,
			value: func(m member) (string, bool) {
				if m.netdev != nil {
					return "", false // The netdev's counts.
				}
				return known(m.port.Speed)
			},
			pick: func(is, want string) string { return when(faster(want, is), "link-speed-degraded") }},
		{what: "speed", severity: checks.Warn, source: netdevFile("speed"),
			better: func(a, b string) bool { return bitRate(a) > bitRate(b) }, params: rate,
			value: onNetdev(func(n *facts.Netdev) (string, bool) { return known(n.Speed) }),
			pick:  func(is, want string) string { return when(bitRate(is) < bitRate(want), "link-speed-degraded") }},
		{what: "active MTU", severity: checks.Warn, better: larger, source: file("active_mtu of ibv_query_port"),
			value: func(m member) (string, bool) {
				if m.netdev != nil {
					return "", false // It follows from the netdev's, which has a check of its own.
				}
				return known(m.port.ActiveMTU)
			}},
	})
	compareAll(&r, sameSpeed(live), []trait{fec})
	finish(&r, "no two hosts have a link of which this is known")
	return r
}

// fec depends on the speed, so only ports of one speed are compared.
var fec = trait{what: "FEC", code: "link-fec-mismatch", severity: checks.Warn,
	source: func(m member) string { return "ethtool --show-fec " + m.netdev.Name },
	value:  onNetdev(func(n *facts.Netdev) (string, bool) { return known(n.FEC) }),
	params: func(_ member, _, want string) []string { return []string{"fec", strings.ToLower(want)} },
}

// sameSpeed keeps of each slot the ports that run at the speed of the first.
func sameSpeed(ss []slot) []slot {
	out := slices.Clone(ss)
	for i := range out {
		out[i].ports = slices.DeleteFunc(slices.Clone(out[i].ports), func(m member) bool {
			first := ss[i].ports[0]
			return m.netdev == nil || first.netdev == nil || m.netdev.Speed != first.netdev.Speed
		})
	}
	return out
}

func faster(a, b string) bool {
	x, _ := facts.LaneRate(a)
	y, _ := facts.LaneRate(b)
	return x > y
}

// bitRate reads what facts.BitsPerSecond prints.
func bitRate(s string) float64 {
	unit := map[string]float64{"Gb/s": 1e9, "Mb/s": 1e6, "kb/s": 1e3, "b/s": 1}
	figure, name, _ := strings.Cut(s, " ")
	return number(figure) * unit[name]
}

// lower picks a code where the odd one has less.
func lower(code string) func(is, want string) string {
	return func(is, want string) string { return when(larger(want, is), code) }
}

func when(cond bool, code string) string {
	if cond {
		return code
	}
	return ""
}

// file is a file of the port in sysfs.
func file(attr string) func(member) string {
	return func(m member) string {
		return "/sys/class/infiniband/" + m.device.Name + "/ports/" + itoa(m.port.Number) + "/" + attr
	}
}

// netdevFile is a file of the netdev in sysfs.
func netdevFile(attr string) func(member) string {
	return func(m member) string { return "/sys/class/net/" + m.netdev.Name + "/" + attr }
}
