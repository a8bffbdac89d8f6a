package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// identitiesDiffer wants every GUID, IP and MAC address once.
func identitiesDiffer(hosts []Host) checks.Result {
	r := checks.Result{ID: "identities-differ", Layer: checks.Addressing, Title: "no GUID, IP or MAC address is on two hosts", Findings: []checks.Finding{}}
	owners := map[string]owner{}
	for i, h := range hosts {
		if j := slices.IndexFunc(hosts[:i], func(o Host) bool { return same(o, h) }); j >= 0 {
			continue // The same host at another time.
		}
		mine := identities(h)
		for _, o := range mine {
			first, taken := owners[o.id]
			if !taken {
				owners[o.id] = o
			} else if first.where.Host != h.Name {
				r.Findings = append(r.Findings, duplicate(o, first))
			}
		}
		if len(mine) > 0 {
			r.Examined++
		}
	}
	if r.Examined == 1 { // One is not compared with any other.
		r.Examined = 0
	}
	finish(&r, "no two different hosts have an identity that was read")
	return r
}

// owner is who has an identity.
type owner struct {
	id, what, name, source string
	where                  checks.Where
}

// identities are the node GUIDs and the addresses of the netdevs that carry
// RDMA, in order.
func identities(h Host) []owner {
	var os []owner
	for i := range h.Snapshot.Devices {
		d := &h.Snapshot.Devices[i]
		if guid, ok := d.NodeGUID.Get(); ok && strings.Trim(guid, "0:") != "" {
			os = append(os, owner{guid, "node GUID", d.Name, "/sys/class/infiniband/" + d.Name + "/node_guid",
				checks.Where{Host: h.Name, Device: d.Name, PCI: d.PCI.Or("")}})
		}
	}
	near := settings.Netdevs(h.Snapshot)
	for i := range h.Snapshot.Netdevs {
		n := &h.Snapshot.Netdevs[i]
		if !near[n.Name] {
			continue
		}
		where := checks.Where{Host: h.Name, Netdev: n.Name}
		if mac, ok := n.MAC.Get(); ok && strings.Trim(mac, "0:") != "" && n.Lower.Or("") == "" && n.Master.Or("") == "" {
			os = append(os, owner{mac, "MAC address", n.Name, "/sys/class/net/" + n.Name + "/address", where})
		}
		for _, a := range n.Addresses {
			if a.Scope == "global" && !hostRoute(a) {
				os = append(os, owner{a.IP, "IP address", n.Name, "ip address show dev " + n.Name, where})
			}
		}
	}
	return os
}

// hostRoute reports an address of a single host, as anycast services announce
// it from many.
func hostRoute(a facts.Address) bool {
	if strings.Contains(a.IP, ":") {
		return a.PrefixLen == 128
	}
	return a.PrefixLen == 32
}

// same reports whether two snapshots are of one host: by name, and by all that
// is unique in it.
func same(a, b Host) bool {
	if a.Snapshot.Host.Hostname != b.Snapshot.Host.Hostname {
		return false
	}
	ids := func(h Host) []string {
		var list []string
		for _, o := range identities(h) {
			if o.what != "IP address" {
				list = append(list, o.id)
			}
		}
		slices.Sort(list)
		return list
	}
	x := ids(a)
	return len(x) > 0 && slices.Equal(x, ids(b))
}

func duplicate(o, first owner) checks.Finding {
	code := "address-duplicate"
	params := map[string]string{"netdev": o.name, "address": o.id}
	if o.what == "node GUID" {
		code = "guid-duplicate"
		params = map[string]string{"device": o.name, "guid": o.id}
	}
	return checks.Finding{
		Code: code, Severity: checks.Fail, Confidence: checks.Proved,
		Subject: o.where.Host + " " + o.name + " -> " + first.where.Host + " " + first.name,
		Message: fmt.Sprintf("%s %s is on %s of %s and on %s of %s; wanted once",
			o.what, o.id, o.name, o.where.Host, first.name, first.where.Host),
		Evidence: []checks.Evidence{{Source: o.where.Host + " " + o.source, Value: o.id}, {Source: first.where.Host + " " + first.source, Value: first.id}},
		Where:    o.where, Params: params,
	}
}

// devicesAgree wants as many devices on each host, and the same name at the
// same PCI place.
func devicesAgree(hosts []Host) checks.Result {
	r := checks.Result{ID: "devices-agree", Layer: checks.Group, Title: "hosts have the same devices under the same names", Findings: []checks.Finding{}}
	var read []Host
	for _, h := range hosts {
		if h.Snapshot.Has(facts.SysfsRDMA) || len(h.Snapshot.Devices) > 0 {
			read = append(read, h)
		} else {
			r.Unread = append(r.Unread, h.Name+" devices")
		}
	}
	if counted := counts(read); len(read) > 1 && slices.Max(counted) > 0 {
		r.Examined++
		want, others, odds := odd(counted, func(a, b int) bool { return a > b })
		for _, i := range odds {
			if counted[i] < want {
				r.Findings = append(r.Findings, fewer(read[i], counted[i], want, others, read[slices.Index(counted, want)]))
			}
		}
		r.Findings = append(r.Findings, rails(read)...)
	}
	finish(&r, "no two hosts have RDMA devices")
	return r
}

// counts are how many devices each host has: of those with a PCI place, which
// nobody makes by hand, where there is any.
func counts(hosts []Host) []int {
	all, placed := make([]int, len(hosts)), make([]int, len(hosts))
	for i, h := range hosts {
		all[i] = len(h.Snapshot.Devices)
		for j := range h.Snapshot.Devices {
			if h.Snapshot.Devices[j].PCI.Or("") != "" {
				placed[i]++
			}
		}
	}
	if len(placed) > 0 && slices.Max(placed) > 0 {
		return placed
	}
	return all
}

func fewer(h Host, is, want, others int, good Host) checks.Finding {
	sev := checks.Warn
	if others > 1 {
		sev = checks.Fail
	}
	return checks.Finding{
		Code: "device-missing", Severity: sev, Confidence: checks.Likely, Subject: h.Name + " -> " + good.Name,
		Message: fmt.Sprintf("%s has %d RDMA NICs, and %s has %d; wanted as many", h.Name, is, good.Name, want),
		Evidence: []checks.Evidence{{Source: h.Name + " /sys/class/infiniband", Value: orNone(names(h))},
			{Source: good.Name + " /sys/class/infiniband", Value: orNone(names(good))}},
		Where: checks.Where{Host: h.Name}, Params: map[string]string{"expected": itoa(want), "have": itoa(is)},
	}
}

func names(h Host) string {
	var list []string
	for i := range h.Snapshot.Devices {
		list = append(list, h.Snapshot.Devices[i].Name)
	}
	return strings.Join(list, " ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// rails compares, between hosts of the same build, to which PCI place each
// device name leads. Hosts with other places are other machines.
func rails(hosts []Host) []checks.Finding {
	byName := make([]map[string]string, len(hosts))
	values := make([]string, len(hosts))
	builds := make([]string, len(hosts))
	for i, h := range hosts {
		byName[i] = map[string]string{}
		for j := range h.Snapshot.Devices {
			if d := &h.Snapshot.Devices[j]; d.PCI.Or("") != "" {
				byName[i][d.Name] = d.PCI.Or("")
			}
		}
		builds[i] = strings.Join(slices.Sorted(maps.Values(byName[i])), " ")
		values[i] = railText(byName[i])
	}
	var fs []checks.Finding
	for _, build := range slices.Compact(slices.Sorted(slices.Values(builds))) {
		var in []int
		var vs []string
		for i := range hosts {
			if builds[i] == build && build != "" {
				in, vs = append(in, i), append(vs, values[i])
			}
		}
		if len(in) < 2 {
			continue
		}
		want, _, odds := odd(vs, nil)
		good := hosts[in[slices.Index(vs, want)]]
		for _, k := range odds {
			h := hosts[in[k]]
			fs = append(fs, checks.Finding{
				Code: "rail-map-differs", Severity: checks.Warn, Confidence: checks.Proved, Subject: h.Name + " -> " + good.Name,
				Message:  fmt.Sprintf("device names of %s lead to other PCI places than those of %s; wanted the same", h.Name, good.Name),
				Evidence: []checks.Evidence{{Source: h.Name + " /sys/class/infiniband/*/device", Value: vs[k]}, {Source: good.Name + " /sys/class/infiniband/*/device", Value: want}},
				Where:    checks.Where{Host: h.Name}, Params: map[string]string{},
			})
		}
	}
	return fs
}

func railText(m map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, name+" "+m[name])
	}
	return strings.Join(parts, ", ")
}

// sysctlsAgree compares the settings of the IP stack that RDMA's address
// resolution depends on.
func sysctlsAgree(ss []slot) checks.Result {
	var ts []trait
	for _, name := range []string{"arp_announce", "arp_filter", "arp_ignore", "rp_filter"} {
		ts = append(ts, trait{what: name, severity: checks.Warn,
			source: func(m member) string { return "/proc/sys/net/ipv4/conf/" + m.netdev.Name + "/" + name },
			value: onNetdev(func(n *facts.Netdev) (string, bool) {
				v, ok := n.Sysctl[name]
				return itoa(v), ok
			})})
	}
	r := checks.Result{ID: "sysctls-agree", Layer: checks.Addressing, Title: "hosts agree on the sysctls that RDMA depends on", Findings: []checks.Finding{}}
	compareAll(&r, ss, ts)
	compareAll(&r, ss[:min(1, len(ss))], []trait{{what: "vm.max_map_count", severity: checks.Warn, better: larger,
		source: func(member) string { return "/proc/sys/vm/max_map_count" },
		value:  func(m member) (string, bool) { return known(m.snap.Memory.MaxMapCount) }},
		{what: "kernel.numa_balancing", severity: checks.Warn,
			source: func(member) string { return "/proc/sys/kernel/numa_balancing" },
			value:  func(m member) (string, bool) { return known(m.snap.CPU.Balancing) }}})
	finish(&r, "no two hosts have a port of which this is known")
	return r
}
