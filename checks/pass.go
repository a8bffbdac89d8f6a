package checks

import (
	"fmt"
	"iter"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A Pass is one run of one check over one snapshot. Its iterators count what
// they yield and note the source they read, so that "nothing examined" is
// never a pass and a check's Needs can be tested against what it touched.
type Pass struct {
	snap    *facts.Snapshot
	opt     Options
	touched map[facts.Source]bool
	res     Result
	skip    string
}

// Read gives the whole snapshot to a check that needs more than the iterators
// offer; the check names the sources that it looks at.
func (p *Pass) Read(srcs ...facts.Source) *facts.Snapshot {
	for _, s := range srcs {
		p.touched[s] = true
	}
	return p.snap
}

// PortRef is a port together with the device that has it.
type PortRef struct {
	*facts.Port
	Device *facts.Device
}

// String is the link as rdma(8) writes it.
func (r PortRef) String() string { return facts.LinkName(r.Device.Name, r.Number) }

// Path is the sysfs file of one of the port's attributes.
func (r PortRef) Path(attr string) string {
	return fmt.Sprintf("/sys/class/infiniband/%s/ports/%d/%s", r.Device.Name, r.Number, attr)
}

// Where places the port.
func (r PortRef) Where() Where {
	return Where{Device: r.Device.Name, Port: r.Number, Netdev: r.Netdev.Or(""), PCI: r.Device.PCI.Or("")}
}

// RoCE keeps ports that speak RoCE.
func RoCE(r PortRef) bool { return facts.RoCE(r.Device, r.Port) }

// IB keeps ports whose link layer is InfiniBand.
func IB(r PortRef) bool { return r.LinkLayer.Or("") == facts.InfiniBand }

// Devices yields every device, and counts it as examined.
func (p *Pass) Devices(keep func(*facts.Device) bool) iter.Seq[*facts.Device] {
	p.touched[facts.SysfsRDMA] = true
	return func(yield func(*facts.Device) bool) {
		for i := range p.snap.Devices {
			d := &p.snap.Devices[i]
			if keep != nil && !keep(d) {
				continue
			}
			p.res.Examined++
			if !yield(d) {
				return
			}
		}
	}
}

// Ports yields the ports that keep reports true for, and counts them.
func (p *Pass) Ports(keep func(PortRef) bool) iter.Seq[PortRef] {
	p.touched[facts.SysfsRDMA] = true
	return func(yield func(PortRef) bool) {
		for i := range p.snap.Devices {
			d := &p.snap.Devices[i]
			for j := range d.Ports {
				ref := PortRef{&d.Ports[j], d}
				if keep != nil && !keep(ref) {
					continue
				}
				p.res.Examined++
				if !yield(ref) {
					return
				}
			}
		}
	}
}

// PortNetdev yields the kept ports whose netdev was read, with the netdev that
// owns the hardware queues (beneath VLAN and macvlan). A port whose netdev is
// not in this snapshot is noted as unread.
func (p *Pass) PortNetdev(keep func(PortRef) bool) iter.Seq2[PortRef, *facts.Netdev] {
	p.touched[facts.Links] = true
	return func(yield func(PortRef, *facts.Netdev) bool) {
		for port := range p.Ports(keep) {
			n := p.snap.Netdev(port.Netdev.Or(""))
			if n == nil {
				p.Unread(port.String(), "netdev")
				continue
			}
			if !yield(port, p.snap.Beneath(n)) {
				return
			}
		}
	}
}

// Unread notes that a fact the check wanted of a subject was not read, and
// uncounts the subject.
func (p *Pass) Unread(subject, fact string) {
	p.res.Examined--
	p.res.Unread = append(p.res.Unread, subject+" "+fact)
}

// NotApplicable uncounts a subject the question does not apply to.
func (p *Pass) NotApplicable() { p.res.Examined-- }

// Idle uncounts a subject that moved too little to be judged; a check that
// judged nothing else is skipped with this reason.
func (p *Pass) Idle(subject string) {
	p.res.Examined--
	p.skip = "idle: " + subject + " moved too few packets between the samples"
}

// SkipReason sets what to say if nothing was examined.
func (p *Pass) SkipReason(format string, args ...any) { p.skip = fmt.Sprintf(format, args...) }

// Examine counts n further subjects as judged, for checks that iterate
// themselves.
func (p *Pass) Examine(n int) { p.res.Examined += n }

// Report adds a finding.
func (p *Pass) Report(f Finding) {
	if f.Evidence == nil {
		f.Evidence = []Evidence{}
	}
	p.res.Findings = append(p.res.Findings, f)
}

// Wanted reports whether a port is wanted (judgement: the user or a policy
// names it, a process uses it, its netdev has a routable address, an
// InfiniBand port has link, or most of its siblings are up) and why.
func (p *Pass) Wanted(port PortRef) (bool, string) { return wanted(p.snap, p.opt, port) }

func wanted(s *facts.Snapshot, opt Options, port PortRef) (bool, string) {
	named := []string{port.String(), port.Device.Name}
	if n, ok := port.Netdev.Get(); ok {
		named = append(named, n)
	}
	for _, w := range opt.Wanted {
		if slices.Contains(named, w) {
			return true, "named by the user, a policy or a baseline"
		}
	}
	for _, proc := range s.Processes {
		if u, ok := port.Device.Uverbs.Get(); ok && slices.Contains(proc.Uverbs, u) {
			return true, fmt.Sprintf("pid %d (%s) has %s open", proc.PID, proc.Comm, u)
		}
	}
	if name, ok := port.Netdev.Get(); ok {
		if ip := routable(s, name, 0); ip != "" {
			return true, name + " has the address " + ip
		}
	}
	if IB(port) && port.PhysState.Or("") == "LinkUp" {
		return true, "the link is up"
	}
	up, siblings := 0, 0
	for i := range s.Devices {
		d := &s.Devices[i]
		if d == port.Device || !sibling(d, port.Device) {
			continue
		}
		for j := range d.Ports {
			if d.Ports[j].Number != port.Number {
				continue
			}
			siblings++
			if d.Ports[j].State.Or("") == facts.StateActive {
				up++
			}
		}
	}
	if siblings >= 2 && up*2 > siblings {
		return true, fmt.Sprintf("%d of %d devices of the same board are up", up, siblings)
	}
	return false, ""
}

// sibling tells devices of the same board and function number.
func sibling(a, b *facts.Device) bool {
	ba, ok1 := a.BoardID.Get()
	bb, ok2 := b.BoardID.Get()
	return ok1 && ok2 && ba == bb && function(a) == function(b)
}

func function(d *facts.Device) string {
	addr := d.PCI.Or("")
	if len(addr) == 0 {
		return ""
	}
	return addr[len(addr)-1:]
}

// routable is a global address of the netdev or of an upper one (VLAN, bond),
// or "".
func routable(s *facts.Snapshot, name string, depth int) string {
	n := s.Netdev(name)
	if n == nil || depth > 4 {
		return ""
	}
	for _, a := range n.Addresses {
		if a.Scope == "global" {
			return a.IP
		}
	}
	if m, ok := n.Master.Get(); ok {
		if ip := routable(s, m, depth+1); ip != "" {
			return ip
		}
	}
	for i := range s.Netdevs {
		up := &s.Netdevs[i]
		if k := up.Kind.Or(""); up.Lower.Or("") == name && (k == "vlan" || k == "macvlan" || k == "ipvlan") {
			if ip := routable(s, up.Name, depth+1); ip != "" {
				return ip
			}
		}
	}
	return ""
}
