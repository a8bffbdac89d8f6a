package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// port is one port of the map, as text. What was not read is a question mark,
// what does not apply a dash.
type port struct {
	link     string // "mlx5_0/1"
	device   string
	netdev   string
	pci      string // "0000:3b:00.0"
	numa     string // "n0"
	rate     string // "400G"
	mtu      string // of the netdev, in bytes
	gid      string // "v2#3"
	ip       string // the address behind that GID
	state    string
	worst    checks.Severity // of the findings about it, "" for none
	active   bool
	dev      *facts.Device
	facts    *facts.Port
	findings []checks.Finding
}

const (
	notRead       = "?"
	notApplicable = "-"
)

// ports lists the ports of the snapshot with what was found about each.
func (e *exam) ports() []port {
	if e.snap == nil || e.table != nil {
		return e.table
	}
	var ps []port
	for i := range e.snap.Devices {
		d := &e.snap.Devices[i]
		for j := range d.Ports {
			ps = append(ps, e.port(d, &d.Ports[j]))
		}
	}
	e.table = ps
	return ps
}

func (e *exam) port(d *facts.Device, p *facts.Port) port {
	q := port{
		link: facts.LinkName(d.Name, p.Number), device: d.Name, dev: d, facts: p,
		netdev: p.Netdev.Or(notApplicable), pci: d.PCI.Or(notApplicable),
		numa: numa(d), rate: notRead, mtu: notRead, state: string(p.State.Or(notRead)),
		active: p.State.Or("") == facts.StateActive,
	}
	if len(d.Ports) > 1 {
		q.device = q.link
	}
	if last, ok := p.StateLast.Get(); ok && last != p.State.Or(last) {
		q.state, q.active = q.state+" then "+string(last), false
	}
	if r, ok := p.Rate.Get(); ok {
		q.rate = shortRate(r)
	}
	if !q.active && q.state != notRead {
		q.rate = q.state // The rate of a port that is not up says nothing.
	}
	if n := e.snap.Netdev(p.Netdev.Or("")); n != nil {
		if m, ok := n.MTU.Get(); ok {
			q.mtu = strconv.Itoa(m)
		}
	} else if m, ok := p.ActiveMTU.Get(); ok {
		q.mtu = strconv.Itoa(m)
	}
	q.gid, q.ip = inUse(d, p)
	for _, r := range e.results {
		for _, f := range r.Findings {
			if about(f, d, p) {
				q.findings = append(q.findings, f)
				q.worst = worse(q.worst, f.Severity)
			}
		}
	}
	return q
}

func numa(d *facts.Device) string {
	switch n, ok := d.NUMANode.Get(); {
	case !ok || n < 0:
		return notApplicable
	default:
		return "n" + strconv.Itoa(n)
	}
}

// shortRate is a rate in the way ports are called: "400G", "2.5G".
func shortRate(r facts.BitsPerSecond) string {
	return strings.Replace(strings.TrimSuffix(r.String(), "b/s"), " ", "", 1)
}

// shortPCI leaves out a domain and a function of zero: "3b:00".
func shortPCI(addr string) string {
	addr = strings.TrimPrefix(addr, "0000:")
	return strings.TrimSuffix(addr, ".0")
}

// inUse is the GID that an application meets if it picks well: RoCE v2 before
// v1, routable before link-local, an IPv4 address before IPv6. InfiniBand is
// addressed by LID.
func inUse(d *facts.Device, p *facts.Port) (label, ip string) {
	if p.LinkLayer.Or("") == facts.InfiniBand {
		if lid, ok := p.LID.Get(); ok {
			return "lid " + strconv.FormatUint(uint64(lid), 10), ""
		}
		return notRead, ""
	}
	if !facts.RoCE(d, p) {
		return notApplicable, ""
	}
	best, rank := -1, 0
	for i, g := range p.GIDs {
		if r := gidRank(g); r > rank {
			best, rank = i, r
		}
	}
	switch {
	case best < 0 && !p.GIDTableLen.Known():
		return notRead, ""
	case best < 0:
		return "none", ""
	}
	g := p.GIDs[best]
	kind := "v1"
	switch {
	case g.LinkLocal():
		kind = "ll"
	case g.Type.Or("") == facts.GIDTypeRoCEv2:
		kind = "v2"
	}
	return kind + "#" + strconv.Itoa(g.Index), gidAddress(g.Value)
}

const mapped = "0000:0000:0000:0000:0000:ffff:"

func gidRank(g facts.GID) int {
	r := 1
	if g.Type.Or("") == facts.GIDTypeRoCEv2 {
		r += 4
	}
	if !g.LinkLocal() {
		r += 8
	}
	if strings.HasPrefix(g.Value, mapped) {
		r += 2
	}
	return r
}

// gidAddress shows the IPv4 address in a GID that maps one, else the GID.
func gidAddress(gid string) string {
	rest, ok := strings.CutPrefix(gid, mapped)
	var a, b uint16
	if n, err := fmt.Sscanf(rest, "%04x:%04x", &a, &b); !ok || n != 2 || err != nil {
		return gid
	}
	return fmt.Sprintf("%d.%d.%d.%d", a>>8, a&0xff, b>>8, b&0xff)
}

// about reports whether a finding is about this port: by its place, else by
// the name of its subject.
func about(f checks.Finding, d *facts.Device, p *facts.Port) bool {
	if f.Where.Device != "" {
		return f.Where.Device == d.Name && (f.Where.Port == 0 || f.Where.Port == p.Number)
	}
	netdev, pci := p.Netdev.Or(""), d.PCI.Or("")
	switch {
	case netdev != "" && f.Where.Netdev == netdev, pci != "" && f.Where.PCI == pci:
		return true
	}
	return slices.Contains([]string{facts.LinkName(d.Name, p.Number), d.Name}, f.Subject) ||
		netdev != "" && f.Subject == netdev || pci != "" && f.Subject == pci
}

var severityRank = map[checks.Severity]int{checks.Info: 1, checks.Warn: 2, checks.Fail: 3}

func worse(a, b checks.Severity) checks.Severity {
	if severityRank[b] > severityRank[a] {
		return b
	}
	return a
}

// mark is the sign of a port: of its worst finding, else of its state.
func (p port) mark(th *theme) span {
	switch {
	case p.worst == checks.Fail || p.worst == checks.Warn:
		return th.severityMark(p.worst)
	case p.active:
		return span{th.pass, good}
	case p.state == notRead:
		return span{th.unknown, unsure}
	}
	return span{th.skip, dim}
}

// transports names what the host speaks, and its rates, for the header.
func (e *exam) transports() []string {
	if e.snap == nil || len(e.snap.Devices) == 0 && !e.noRDMA() {
		return nil
	}
	n := len(e.snap.Devices)
	out := []string{plural(n, "device")}
	var kinds, rates []string
	add := func(to *[]string, s string) {
		if s != "" && !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	for i := range e.snap.Devices {
		d := &e.snap.Devices[i]
		for j := range d.Ports {
			add(&kinds, transport(d, &d.Ports[j]))
			if r, ok := d.Ports[j].Rate.Get(); ok && r > 0 {
				add(&rates, shortRate(r))
			}
		}
	}
	if len(kinds) > 0 {
		out = append(out, strings.Join(kinds, "+"))
	}
	if len(rates) > 0 && len(rates) <= 2 {
		out = append(out, strings.Join(rates, "+"))
	}
	return out
}

func transport(d *facts.Device, p *facts.Port) string {
	switch {
	case d.Provider.Or("") == "efa":
		return "EFA"
	case d.Protocol.Or("") == "iw" || d.Provider.Or("") == "siw":
		return "iWARP"
	case p.LinkLayer.Or("") == facts.InfiniBand:
		return facts.InfiniBand
	case facts.RoCE(d, p):
		for _, g := range p.GIDs {
			if g.Type.Or("") == facts.GIDTypeRoCEv2 {
				return "RoCE v2"
			}
		}
		return "RoCE"
	}
	return p.LinkLayer.Or("")
}

// plural counts a noun.
func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "sis"):
		return strconv.Itoa(n) + " " + strings.TrimSuffix(noun, "is") + "es"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
