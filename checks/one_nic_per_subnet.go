package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var oneNICPerSubnet = register(&Check{
	ID:    "one-nic-per-subnet",
	Title: "RDMA netdevs in one subnet are set up for it",
	Doc: "By default every netdev answers ARP for every address of the host, so that peers learn the MAC of the wrong NIC; " +
		"RoCE packets then arrive where no QP waits for them and are dropped without a word. Several NICs in one subnet " +
		"need arp_ignore and arp_announce (or arp_filter with rules by source), a loose rp_filter and routes by source.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.SysctlNet, facts.RoutesSource},
	Codes: []string{"same-subnet-nics"},
	Params: Params{
		"same-subnet-nics": "device port netdev pci? peer_netdev subnet settings",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.Links, facts.SysctlNet, facts.RoutesSource)
		all := rails(s)
		p.Otherwise("no RDMA netdev has a routable IPv4 address")
		reported := map[string]bool{}
		for _, r := range all {
			if !r.addr.Is4() || r.single() { // ARP is of IPv4; IPv6 neighbours are asked per interface.
				continue
			}
			p.Examine(1)
			for _, o := range all {
				if key := r.on.Name + " " + r.subnet.String(); o.subnet == r.subnet && separate(s, r.on, o.on) && !reported[key] {
					reported[key] = true
					judgeShared(p, r, o)
				}
			}
		}
	},
})

func judgeShared(p *Pass, r, o rail) {
	if len(r.on.Sysctl) == 0 {
		p.Unread(r.on.Name, "ARP settings")
		return
	}
	var wrong []string
	for _, want := range arpSettings {
		if filtered(p.snap, r) && strings.HasPrefix(want.name, "arp_") {
			continue
		}
		if v, ok := r.on.Sysctl[want.name]; ok && !slices.Contains(want.good, v) {
			wrong = append(wrong, fmt.Sprintf("%s=%d", want.name, v))
		}
	}
	if wrong == nil {
		return
	}
	f := Finding{
		Code: "same-subnet-nics", Severity: Warn, Subject: r.PortRef.String(), Confidence: Likely, Where: r.Where(),
		Message: fmt.Sprintf("%s and %s are both in %s, and %s answers ARP for addresses of the other: %s",
			r.on.Name, o.on.Name, r.subnet, r.on.Name, strings.Join(wrong, ", ")),
		Evidence: []Evidence{{"ip address show dev " + r.on.Name, fmt.Sprintf("%s/%d", r.addr, r.subnet.Bits())},
			{"ip address show dev " + o.on.Name, fmt.Sprintf("%s/%d", o.addr, o.subnet.Bits())}},
		Params: r.Params("netdev", r.on.Name, "peer_netdev", o.on.Name, "subnet", r.subnet.String(), "settings", strings.Join(wrong, " ")),
	}
	for _, name := range slices.Sorted(maps.Keys(r.on.Sysctl)) {
		f.Evidence = append(f.Evidence, Evidence{"/proc/sys/net/ipv4/conf/{all," + r.on.Name + "}/" + name, fmt.Sprint(r.on.Sysctl[name])})
	}
	p.Report(f)
}

// filtered reports the other way to keep NICs in one subnet apart: arp_filter
// answers only where the reply would leave, which rules by source decide.
func filtered(s *facts.Snapshot, r rail) bool {
	return r.on.Sysctl["arp_filter"] == 1 && slices.ContainsFunc(s.Rules, func(rule facts.Rule) bool {
		from, _, _ := strings.Cut(rule.Src, "/")
		return from == r.addr.String()
	})
}

// arpSettings are the effective values that keep several NICs in one subnet
// apart (Documentation/networking/ip-sysctl.rst).
var arpSettings = []struct {
	name string
	good []int
}{
	{"arp_ignore", []int{1, 2, 8}}, {"arp_announce", []int{2}}, {"rp_filter", []int{0, 2}},
}

// separate reports whether two netdevs are different NICs: not one stack or
// bond, and not the two ends of one cable inside this host.
func separate(s *facts.Snapshot, a, b *facts.Netdev) bool {
	if a == b || s.Beneath(a) == s.Beneath(b) || a.Name == b.Master.Or("") || b.Name == a.Master.Or("") ||
		a.Master.Known() && a.Master == b.Master {
		return false
	}
	return !(a.Kind.Or("") == "veth" && a.Lower.Or("") == b.Name)
}
