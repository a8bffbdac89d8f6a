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

// mtu is that of the port's own netdev, and whether it was read.
func (m member) mtu() (int, bool) {
	if m.own == nil {
		return 0, false
	}
	return m.own.MTU.Get()
}

// onEthernet keeps the ports on Ethernet of a slot.
func onEthernet(ms []member) []member {
	return slices.DeleteFunc(slices.Clone(ms), func(m member) bool { return m.port.LinkLayer.Or("") != facts.Ethernet })
}

// row says of one host what was compared.
func row(s *facts.Snapshot) string {
	var parts []string
	for _, p := range onEthernet(members(Host{Snapshot: s})) {
		text := p.link() + " MTU not read"
		if mtu, ok := p.mtu(); ok {
			text = fmt.Sprintf("%s %s MTU %d", p.link(), p.own.Name, mtu)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "no RDMA port on Ethernet"
	}
	return strings.Join(parts, ", ")
}

// mtuAgrees compares the MTU of the ports that talk to each other.
func mtuAgrees(ss []slot) checks.Result {
	r := checks.Result{ID: "mtu-agrees", Layer: checks.MTU, Title: "hosts agree on the MTU of their RDMA ports", Findings: []checks.Finding{}}
	for _, s := range ss {
		var known []member
		ps := onEthernet(s.ports)
		if len(ps) < 2 {
			continue
		}
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
	finish(&r, "no two hosts have an RDMA port on Ethernet")
	return r
}

// mismatches names the ports whose MTU is not that of the others. Of two, the
// smaller is named: someone raised the other one on purpose.
func mismatches(ps []member) []checks.Finding {
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
	good := ps[slices.IndexFunc(ps, func(p member) bool { mtu, _ := p.mtu(); return mtu == want })]
	var fs []checks.Finding
	for _, p := range ps {
		if mtu, _ := p.mtu(); mtu != want {
			fs = append(fs, mismatch(p, good, mtu, want, count[want]))
		}
	}
	return fs
}

func mismatch(p, good member, mtu, want, others int) checks.Finding {
	sev := checks.Warn
	if pathMTU(mtu) != pathMTU(want) { // What one end sends the other drops.
		sev = checks.Fail
	}
	message := fmt.Sprintf("%s on %s has MTU %d, %s on %s has %d; wanted the same on both.",
		p.own.Name, p.host, mtu, good.own.Name, good.host, want)
	if others > 1 {
		message = fmt.Sprintf("%s on %s has MTU %d, %d others have %d; wanted the same on all.",
			p.own.Name, p.host, mtu, others, want)
	}
	evidence := func(p member, mtu int) checks.Evidence {
		return checks.Evidence{Source: p.host + " /sys/class/net/" + p.own.Name + "/mtu", Value: strconv.Itoa(mtu)}
	}
	return checks.Finding{
		Code: "mtu-mismatch", Severity: sev, Confidence: checks.Proved,
		Subject:  fmt.Sprintf("%s %s -> %s %s", p.host, p.link(), good.host, good.link()),
		Message:  message,
		Evidence: []checks.Evidence{evidence(p, mtu), evidence(good, want)},
		Where: checks.Where{Host: p.host, Device: p.device.Name, Port: p.port.Number, Netdev: p.own.Name,
			PCI: p.device.PCI.Or("")},
		Params: map[string]string{"netdev": p.own.Name, "mtu": strconv.Itoa(want), "device": p.device.Name,
			"port": strconv.Itoa(p.port.Number)},
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
