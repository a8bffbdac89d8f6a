package compare

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// member is one host's port in a slot, with what it sits on.
type member struct {
	host   string
	snap   *facts.Snapshot
	device *facts.Device
	port   *facts.Port
	own    *facts.Netdev // the port's, nil on InfiniBand
	netdev *facts.Netdev // the one beneath it, which owns the hardware queues
}

func (m member) link() string { return facts.LinkName(m.device.Name, m.port.Number) }

// pci is the function of the device, nil where it was not read.
func (m member) pci() *facts.PCIFunction {
	addr, ok := m.device.PCI.Get()
	if !ok {
		return nil
	}
	return m.snap.PCITree()[addr]
}

// up reports whether the port is active.
func (m member) up() bool { return m.port.State.Or("") == facts.StateActive }

// where places the port.
func (m member) where() checks.Where {
	w := checks.Where{Host: m.host, Device: m.device.Name, Port: m.port.Number, PCI: m.device.PCI.Or("")}
	if m.netdev != nil {
		w.Netdev = m.netdev.Name
	}
	return w
}

// params are the parameters of every finding about the port, and more as name,
// value pairs. An empty value is left out.
func (m member) params(more ...string) map[string]string {
	w := m.where()
	ps := map[string]string{}
	pairs := append([]string{"device", w.Device, "port", itoa(w.Port), "netdev", w.Netdev, "pci", w.PCI}, more...)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			ps[pairs[i]] = pairs[i+1]
		}
	}
	return ps
}

// members are all ports of a host.
func members(h Host) []member {
	var ms []member
	for i := range h.Snapshot.Devices {
		d := &h.Snapshot.Devices[i]
		for j := range d.Ports {
			m := member{host: h.Name, snap: h.Snapshot, device: d, port: &d.Ports[j]}
			if n := h.Snapshot.Netdev(m.port.Netdev.Or("")); n != nil {
				m.own, m.netdev = n, h.Snapshot.Beneath(n)
			}
			ms = append(ms, m)
		}
	}
	return ms
}

// A slot is the ports of several hosts that play one part. Sure slots are made
// of ports with the same name or place, others of those of the same order.
type slot struct {
	ports []member
	sure  bool
}

// slots puts ports side by side: of the same name where the hosts share names,
// else of the same PCI place, else by their order within one transport, since
// software devices and mixed hosts name theirs as they like.
func slots(hosts []Host) []slot {
	for _, key := range []func(member) string{member.link, func(m member) string { return m.device.PCI.Or("") }} {
		if found := slotsBy(hosts, key); len(found) > 0 {
			return found
		}
	}
	var out []slot
	byKind := map[string][][]member{} // by transport, each host's ports
	for _, h := range hosts {
		mine := map[string][]member{}
		for _, m := range members(h) {
			kind := transport(m)
			mine[kind] = append(mine[kind], m)
		}
		for kind, ms := range mine {
			byKind[kind] = append(byKind[kind], ms)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		for n := 0; ; n++ {
			var s slot
			for _, ms := range byKind[kind] {
				if n < len(ms) {
					s.ports = append(s.ports, ms[n])
				}
			}
			if len(s.ports) < 2 {
				break
			}
			out = append(out, s)
		}
	}
	return out
}

func slotsBy(hosts []Host, key func(member) string) []slot {
	byKey := map[string][]member{}
	for _, h := range hosts {
		seen := map[string]bool{}
		for _, m := range members(h) {
			if k := key(m); k != "" && !seen[k] {
				seen[k] = true
				byKey[k] = append(byKey[k], m)
			}
		}
	}
	var out []slot
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		if len(byKey[k]) > 1 {
			out = append(out, slot{byKey[k], true})
		}
	}
	return out
}

// transport is what the port speaks, "" where that was not read.
func transport(m member) string { return checks.Transport(m.device, m.port) }

// odd finds what most of values say, and who says otherwise. Where no value has
// more than any other, better decides (true: keep the first), else the first
// host's is kept: of two hosts the first is held to be the good one.
func odd[T comparable](values []T, better func(a, b T) bool) (kept T, others int, odds []int) {
	count := map[T]int{}
	first := map[T]int{}
	for i, v := range values {
		if count[v]++; count[v] == 1 {
			first[v] = i
		}
	}
	kept = slices.MinFunc(slices.Collect(maps.Keys(count)), func(a, b T) int {
		if c := cmp.Compare(count[b], count[a]); c != 0 {
			return c
		}
		if better != nil && better(a, b) != better(b, a) {
			if better(a, b) {
				return -1
			}
			return 1
		}
		return cmp.Compare(first[a], first[b])
	})
	for i, v := range values {
		if v != kept {
			odds = append(odds, i)
		}
	}
	return kept, count[kept], odds
}
