package checks

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

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
	bare    string // the reason where nothing at all was met
}

// Read gives the whole snapshot to a check that needs more than the iterators
// offer; the check names the sources that it looks at.
func (p *Pass) Read(srcs ...facts.Source) *facts.Snapshot {
	for _, s := range srcs {
		p.touched[s] = true
	}
	return p.snap
}

// Named reports whether the user, a policy or a baseline names anything that
// must be here.
func (p *Pass) Named() bool { return len(p.opt.Wanted) > 0 }

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

// Params are the parameters every finding about the port has, and further
// ones as name, value pairs. An empty value is left out.
func (r PortRef) Params(pairs ...string) map[string]string {
	return params(append([]string{"device", r.Device.Name, "port", strconv.Itoa(r.Number),
		"netdev", r.Netdev.Or(""), "pci", r.Device.PCI.Or("")}, pairs...)...)
}

// params makes a map of name, value pairs; later pairs win, empty values are
// left out.
func params(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m[pairs[i]] = pairs[i+1]
		}
	}
	return m
}

// RoCE keeps ports that speak RoCE.
func RoCE(r PortRef) bool { return facts.RoCE(r.Device, r.Port) }

// IB keeps ports whose link layer is InfiniBand.
func IB(r PortRef) bool { return r.LinkLayer.Or("") == facts.InfiniBand }

// OnEthernet keeps ports that sit on an Ethernet netdev: RoCE and iWARP.
func OnEthernet(r PortRef) bool { return r.LinkLayer.Or("") == facts.Ethernet }

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
// owns the hardware queues (beneath VLAN and macvlan). A port on a bond is
// yielded, and counted, once for each member. A port whose netdev is not in
// this snapshot is noted as unread.
func (p *Pass) PortNetdev(keep func(PortRef) bool) iter.Seq2[PortRef, *facts.Netdev] {
	p.touched[facts.Links] = true
	return func(yield func(PortRef, *facts.Netdev) bool) {
		for port := range p.Ports(keep) {
			n := p.snap.Netdev(port.Netdev.Or(""))
			if n == nil {
				p.Unread(port.String(), "netdev")
				continue
			}
			for i, owner := range p.snap.Hardware(n) {
				if i > 0 {
					p.res.Examined++
				}
				if !yield(port, owner) {
					return
				}
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

// NotApplicable uncounts a subject the question does not apply to. The reason
// is shown if nothing else was examined.
func (p *Pass) NotApplicable(format string, args ...any) {
	p.res.Examined--
	p.SkipReason(format, args...)
}

// Idle uncounts a subject that moved too little to be judged; a check that
// judged nothing else is skipped with this reason.
func (p *Pass) Idle(subject string) {
	p.NotApplicable("idle: %s moved fewer than %d packets between the samples", subject, idlePackets)
}

// SkipReason sets what to say if nothing was examined. Of several reasons the
// first in lexical order is kept, so that the order of devices does not show.
func (p *Pass) SkipReason(format string, args ...any) {
	if why := fmt.Sprintf(format, args...); p.skip == "" || why < p.skip {
		p.skip = why
	}
}

// Otherwise sets the reason to give if nothing was examined and no other
// reason was met.
func (p *Pass) Otherwise(reason string) { p.bare = reason }

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

// gap finds why src could not be read of subject, a netdev or device name that
// What holds as a word.
func (p *Pass) gap(src facts.Source, subject string) (facts.Gap, bool) {
	for _, g := range p.snap.Gaps {
		if g.Source == src && hasWord(g.What, subject) {
			return g, true
		}
	}
	return facts.Gap{}, false
}

// hasWord reports whether text holds word between delimiters. A dot ends no
// word, as netdevs may be called "eth2.100", but one may come before it, as in
// "dcb-ieee-get.eth2".
func hasWord(text, word string) bool {
	if word == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || strings.IndexByte(" /:.,(", text[i-1]) >= 0) &&
			(end == len(text) || strings.IndexByte(" /:,)", text[end]) >= 0) {
			return true
		}
		from = i + 1
	}
}

// missing notes a fact that src did not give for a subject of port: where the
// driver or kernel does not offer it the question does not apply, else it is
// unread.
func (p *Pass) missing(src facts.Source, subject, fact string) {
	if g, ok := p.gap(src, subject); ok {
		if refused(g) {
			p.NotApplicable("%s does not offer %s (%s)", subject, fact, g.Detail)
			return
		}
		fact = fmt.Sprintf("%s (%s)", fact, g.Kind)
	}
	p.Unread(subject, fact)
}
