package compare

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// transportAgrees wants ports that are taken for each other to speak the same.
func transportAgrees(hosts []Host, ss []slot) checks.Result {
	r := checks.Result{ID: "transport-agrees", Layer: checks.Addressing, Title: "ports that belong together speak the same transport", Findings: []checks.Finding{}}
	t := trait{what: "transport", code: "transport-mismatch", severity: checks.Fail,
		source: file("link_layer"), value: func(m member) (string, bool) { k := transport(m); return k, k != "" }}
	for _, s := range ss {
		if s.sure {
			t.judge(s, &r)
		}
	}
	if r.Examined == 0 {
		r.Unread = nil
		disjoint(hosts, t, &r)
	}
	finish(&r, "no two hosts have ports that are taken for each other")
	return r
}

// disjoint compares hosts that share no name: those that have no transport in
// common with the first one cannot talk to it at all.
func disjoint(hosts []Host, t trait, r *checks.Result) {
	kinds := func(h Host) (first map[string]member) {
		first = map[string]member{}
		for _, m := range members(h) {
			if k := transport(m); k != "" {
				if _, ok := first[k]; !ok {
					first[k] = m
				}
			}
		}
		return first
	}
	ref := kinds(hosts[0])
	for _, h := range hosts[1:] {
		mine := kinds(h)
		if len(ref) == 0 || len(mine) == 0 {
			continue
		}
		r.Examined++
		if slices.ContainsFunc(slices.Collect(maps.Keys(mine)), func(k string) bool { _, ok := ref[k]; return ok }) {
			continue
		}
		is, want := slices.Sorted(maps.Keys(mine))[0], slices.Sorted(maps.Keys(ref))[0]
		r.Findings = append(r.Findings, t.finding(mine[is], ref[want], is, want, 1))
	}
}

// gidsAgree compares GID tables: type, index and VLAN of the entries that are
// used.
func gidsAgree(hosts []Host, ss []slot) checks.Result {
	r := checks.Result{ID: "gids-agree", Layer: checks.Addressing, Title: "hosts agree on type, index and VLAN of the GIDs in use", Findings: []checks.Finding{}}
	compareAll(&r, ss, []trait{
		{what: "default RoCE mode of rdma_cm", severity: checks.Warn, source: configfs("default_roce_mode"),
			better: func(a, b string) bool { return a == facts.GIDTypeRoCEv2 && b != a },
			value:  func(m member) (string, bool) { return known(m.port.CMRoCEMode) }},
		{what: "GID type", severity: checks.Warn, source: file("gid_attrs/types/0"),
			better: func(a, b string) bool { return strings.Contains(a, facts.GIDTypeRoCEv2) },
			value:  gidTypes},
		// An index is only a place in a table, until it is prescribed for all.
		{what: "index of the RoCE v2 GID", code: "gid-index-differs", severity: checks.Info, source: file("gids/0"),
			params: func(member, string, string) []string { return nil },
			value: func(m member) (string, bool) {
				if transport(m) != "RoCE" {
					return "", false
				}
				for _, g := range m.port.GIDs {
					if g.Type.Or("") == facts.GIDTypeRoCEv2 && !g.LinkLocal() {
						return itoa(g.Index), true
					}
				}
				return "", false
			}},
	})
	vlans(hosts, &r)
	finish(&r, "no two hosts have GIDs that were read")
	return r
}

// gidTypes are the types of the routable GIDs, or of all where none is.
func gidTypes(m member) (string, bool) {
	if transport(m) != "RoCE" {
		return "", false
	}
	types := map[string]bool{}
	for _, g := range m.port.GIDs {
		if t, ok := g.Type.Get(); ok {
			types[t] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(types)), " and "), len(types) > 0
}

// untagged is the VLAN of a netdev that sends without a tag.
const untagged = "no VLAN"

// place is a port's address within one subnet.
type place struct {
	member
	vlan string
	ip   string
}

// vlans wants a subnet to be in the same VLAN on all hosts. Other subnets may
// be in others: RoCE v2 is routed.
func vlans(hosts []Host, r *checks.Result) {
	bySubnet := map[string][]place{}
	for _, h := range hosts {
		for _, m := range members(h) {
			if transport(m) != "RoCE" {
				continue
			}
			for subnet, p := range subnetsOf(m) {
				bySubnet[subnet] = append(bySubnet[subnet], p)
			}
		}
	}
	for _, subnet := range slices.Sorted(maps.Keys(bySubnet)) {
		ps := bySubnet[subnet]
		var values []string
		on := map[string]bool{}
		for _, p := range ps {
			values = append(values, p.vlan)
			on[p.host] = true
		}
		if len(on) < 2 {
			continue
		}
		r.Examined++
		want, _, odds := odd(values, nil)
		good := ps[slices.Index(values, want)]
		for _, i := range odds {
			p := ps[i]
			sev, conf := checks.Fail, checks.Likely
			if p.vlan == untagged || want == untagged { // The switch may put it into the VLAN.
				sev, conf = checks.Info, checks.Possible
			}
			r.Findings = append(r.Findings, checks.Finding{
				Code: "gid-vlan-mismatch", Severity: sev, Confidence: conf,
				Subject: p.host + " " + p.link() + " -> " + good.host + " " + good.link(),
				Message: fmt.Sprintf("subnet %s is in %s on %s, and in %s on %s; wanted the same on both",
					subnet, p.vlan, p.host, good.vlan, good.host),
				Evidence: []checks.Evidence{{Source: p.host + " ip -details address show " + p.ip, Value: p.vlan},
					{Source: good.host + " ip -details address show " + good.ip, Value: good.vlan}},
				Where: p.where(), Params: p.params(),
			})
		}
	}
}

// subnetsOf are the subnets in which a port has a routable GID, each with the
// VLAN of the netdev that has the address.
func subnetsOf(m member) map[string]place {
	out := map[string]place{}
	for _, g := range m.port.GIDs {
		n := m.snap.Netdev(g.Netdev.Or(m.port.Netdev.Or("")))
		if n == nil || g.LinkLocal() {
			continue
		}
		vlan := untagged
		if id, ok := n.VLANID.Get(); ok {
			vlan = "VLAN " + itoa(id)
		}
		for _, a := range n.Addresses {
			ip, err := netip.ParseAddr(a.IP)
			if err != nil || a.Scope != "global" {
				continue
			}
			if prefix, err := ip.Prefix(a.PrefixLen); err == nil && a.PrefixLen < ip.BitLen() {
				out[prefix.String()] = place{m, vlan, a.IP}
			}
		}
	}
	return out
}
