package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// port is one RDMA port on Ethernet with the netdev that carries it.
type port struct {
	host   string
	device *facts.Device
	*facts.Port
	netdev *facts.Netdev
}

func (p port) link() string { return facts.LinkName(p.device.Name, p.Number) }

// mtu is the netdev's, and whether it was read.
func (p port) mtu() (int, bool) {
	if p.netdev == nil {
		return 0, false
	}
	return p.netdev.MTU.Get()
}

// ports are a host's ports on Ethernet, in the order of the snapshot.
func ports(h Host) []port {
	var ps []port
	for i := range h.Snapshot.Devices {
		d := &h.Snapshot.Devices[i]
		for j := range d.Ports {
			if p := &d.Ports[j]; p.LinkLayer.Or("") == facts.Ethernet {
				ps = append(ps, port{h.Name, d, p, h.Snapshot.Netdev(p.Netdev.Or(""))})
			}
		}
	}
	return ps
}

// row says of one host what was compared.
func row(s *facts.Snapshot) string {
	var parts []string
	for _, p := range ports(Host{Snapshot: s}) {
		text := p.link() + " MTU not read"
		if mtu, ok := p.mtu(); ok {
			text = fmt.Sprintf("%s %s MTU %d", p.link(), p.netdev.Name, mtu)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "no RDMA port on Ethernet"
	}
	return strings.Join(parts, ", ")
}

// pairs puts the ports side by side that talk to each other: of the same name
// where the hosts have the same ports, else by their order, since software
// devices and mixed hosts name theirs as they like.
func pairs(hosts []Host) [][]port {
	all := make([][]port, len(hosts))
	byName := map[string][]port{}
	for i, h := range hosts {
		all[i] = ports(h)
		for _, p := range all[i] {
			byName[p.link()] = append(byName[p.link()], p)
		}
	}
	var out [][]port
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if len(byName[name]) > 1 {
			out = append(out, byName[name])
		}
	}
	if len(out) > 0 {
		return out
	}
	for slot := 0; ; slot++ {
		var ps []port
		for _, list := range all {
			if slot < len(list) {
				ps = append(ps, list[slot])
			}
		}
		if len(ps) < 2 {
			return out
		}
		out = append(out, ps)
	}
}

// mtuAgrees compares the MTU of the ports that talk to each other.
func mtuAgrees(hosts []Host) checks.Result {
	r := checks.Result{ID: "mtu-agrees", Layer: checks.MTU, Title: "hosts agree on the MTU of their RDMA ports", Findings: []checks.Finding{}}
	for _, ps := range pairs(hosts) {
		var known []port
		for _, p := range ps {
			if _, ok := p.mtu(); ok {
				known = append(known, p)
			} else {
				r.Unread = append(r.Unread, p.host+" "+p.link()+" MTU")
			}
		}
		if len(known) < 2 {
			continue
		}
		r.Examined++
		r.Findings = append(r.Findings, mismatches(known)...)
	}
	switch {
	case slices.ContainsFunc(r.Findings, func(f checks.Finding) bool { return f.Severity == checks.Fail }):
		r.Status = checks.Failed
	case len(r.Findings) > 0:
		r.Status = checks.Warned
	case r.Examined > 0:
		r.Status = checks.Passed
	case len(r.Unread) > 0:
		r.Status, r.Reason = checks.Unknown, "not read: "+r.Unread[0]
	default:
		r.Status, r.Reason = checks.Skipped, "no two hosts have an RDMA port on Ethernet"
	}
	return r
}

// mismatches names the ports whose MTU is not that of the others. Of two, the
// smaller is named: someone raised the other one on purpose.
func mismatches(ps []port) []checks.Finding {
	count := map[int]int{}
	for _, p := range ps {
		mtu, _ := p.mtu()
		count[mtu]++
	}
	if len(count) == 1 {
		return nil
	}
	want := slices.MaxFunc(slices.Collect(maps.Keys(count)), func(a, b int) int {
		return cmp.Or(cmp.Compare(count[a], count[b]), cmp.Compare(a, b))
	})
	good := ps[slices.IndexFunc(ps, func(p port) bool { mtu, _ := p.mtu(); return mtu == want })]
	var fs []checks.Finding
	for _, p := range ps {
		if mtu, _ := p.mtu(); mtu != want {
			fs = append(fs, mismatch(p, good, mtu, want, count[want]))
		}
	}
	return fs
}

func mismatch(p, good port, mtu, want, others int) checks.Finding {
	sev := checks.Warn
	if pathMTU(mtu) != pathMTU(want) { // What one end sends the other drops.
		sev = checks.Fail
	}
	message := fmt.Sprintf("%s on %s has MTU %d, %s on %s has %d; wanted the same on both.",
		p.netdev.Name, p.host, mtu, good.netdev.Name, good.host, want)
	if others > 1 {
		message = fmt.Sprintf("%s on %s has MTU %d, %d others have %d; wanted the same on all.",
			p.netdev.Name, p.host, mtu, others, want)
	}
	evidence := func(p port, mtu int) checks.Evidence {
		return checks.Evidence{Source: p.host + " /sys/class/net/" + p.netdev.Name + "/mtu", Value: strconv.Itoa(mtu)}
	}
	return checks.Finding{
		Code: "mtu-mismatch", Severity: sev, Confidence: checks.Proved,
		Subject:  fmt.Sprintf("%s %s -> %s %s", p.host, p.link(), good.host, good.link()),
		Message:  message,
		Evidence: []checks.Evidence{evidence(p, mtu), evidence(good, want)},
		Where: checks.Where{Host: p.host, Device: p.device.Name, Port: p.Number, Netdev: p.netdev.Name,
			PCI: p.device.PCI.Or("")},
		Params: map[string]string{"netdev": p.netdev.Name, "mtu": strconv.Itoa(want), "device": p.device.Name,
			"port": strconv.Itoa(p.Number)},
	}
}

// roceHeaders are the bytes of a RoCE packet that are not payload, as
// iboe_get_mtu (include/rdma/ib_addr.h) counts them.
const roceHeaders = 96

// pathMTU is the path MTU that a netdev MTU leaves to RoCE, in bytes.
func pathMTU(netdev int) int {
	best := 0
	for m := 256; m <= 4096; m *= 2 {
		if m+roceHeaders <= netdev {
			best = m
		}
	}
	return best
}
