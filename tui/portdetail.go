package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// portSubject is one port, by its link name.
type portSubject struct{ link string }

func newPort(m *Model, link string) *detail { return &detail{m: m, of: portSubject{link}} }

func (s portSubject) find(m *Model) (port, bool) {
	ps := m.exam.ports()
	i := slices.IndexFunc(ps, func(p port) bool { return p.link == s.link })
	if i < 0 {
		return port{}, false
	}
	return ps[i], true
}

func (s portSubject) kindName() string { return "port" }

func (s portSubject) name(m *Model) row { return m.theme.row(strong, s.link) }

// diagnoses are those that explain what was found about the port.
func (s portSubject) diagnoses(m *Model) []*knowledge.Diagnosis {
	p, ok := s.find(m)
	if !ok {
		return nil
	}
	return m.exam.explainers(p.findings)
}

func (s portSubject) steps(m *Model) []knowledge.Step {
	for _, d := range s.diagnoses(m) {
		if len(d.Fix) > 0 {
			return d.Fix
		}
	}
	return nil
}

func (s portSubject) beside(m *Model, n int) (subject, int, int) {
	ps := (&portMap{m: m}).ports()
	if len(ps) == 0 {
		return nil, 0, 0
	}
	at := slices.IndexFunc(ps, func(p port) bool { return p.link == s.link })
	to := (max(at, 0) + n + len(ps)) % len(ps)
	return portSubject{ps[to].link}, to, len(ps)
}

// rows shows the port's facts, what was found about it, and why.
func (s portSubject) rows(m *Model, w int) []row {
	q, ok := s.find(m)
	if !ok {
		return nil
	}
	t := m.theme
	p := &page{t: t, w: w}
	mark := q.mark(t)
	p.rows = append(p.rows, row{space(1), mark, space(1), t.text(strong, q.link), t.text(normal, "  "+q.state)})
	for _, f := range q.findings {
		sev := t.severityMark(f.Severity)
		rows := []row{{sev, space(1), t.text(sev.tone, f.Code)}}
		p.part("found", append(rows, p.text(normal, f.Message)...)...)
	}
	d, f := q.dev, q.facts
	p.part("link", p.text(normal, join(t, f.LinkLayer.Or(""), f.PhysState.Or(""), lanes(f), prefixed("netdev ", q.netdev), "mtu "+q.mtu))...)
	p.part("device", p.text(normal, join(t, d.Driver.Or(""), d.HCAType.Or(""), prefixed("firmware ", d.FirmwareVersion.Or("")),
		prefixed("pci ", d.PCI.Or("")), prefixed("numa ", strings.TrimPrefix(q.numa, "n")), d.Uverbs.Or("")))...)
	p.part("gids", p.gids(f.GIDs, q.gid)...)
	if c, ok := f.Choice.Get(); ok {
		p.part("taken", p.text(normal, "by default: "+c.String())...)
	}
	p.part("moved", p.moved(m.exam.snap, f)...)
	for _, g := range s.diagnoses(m) {
		p.rows = append(p.rows, nil, t.rule(w, t.row(dim, "explained by")))
		p.rows = append(p.rows, m.explain(g, w, q.findings...)...)
	}
	return p.rows
}

// thousands is n with a comma after every third digit.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func lanes(f *facts.Port) string {
	var parts []string
	if r, ok := f.Rate.Get(); ok {
		parts = append(parts, r.String())
	}
	if n, ok := f.Width.Get(); ok {
		parts = append(parts, strconv.Itoa(n)+"X")
	}
	if s, ok := f.Speed.Get(); ok {
		parts = append(parts, s)
	}
	if d, ok := f.DataRate.Get(); ok && d != f.Rate.Or(0) {
		parts = append(parts, "(data "+d.String()+")")
	}
	return strings.Join(parts, " ")
}

func prefixed(what, s string) string {
	if s == "" || s == notApplicable {
		return ""
	}
	return what + s
}

func join(t *theme, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), t.dot)
}

// gids lists the table, with the entry that is in use marked.
func (p *page) gids(gs []facts.GID, used string) []row {
	var rows []row
	for _, g := range gs {
		index := strconv.Itoa(g.Index)
		tn, mark := normal, " "
		if strings.HasSuffix(used, "#"+index) {
			tn, mark = strong, p.t.cursor
		}
		line := fmt.Sprintf(" %3s  %-10s %s", index, g.Type.Or(notRead), gidAddress(g.Value))
		rows = append(rows, row{p.t.text(strong, mark), p.t.text(tn, line)})
	}
	return rows
}

// moved lists the counters that grew between the samples, by name.
func (p *page) moved(s *facts.Snapshot, f *facts.Port) []row {
	if s == nil || s.Interval <= 0 {
		return nil
	}
	var rows []row
	for _, set := range []map[string]facts.Counter{f.Counters, f.HWCounters, f.CM} {
		names := make([]string, 0, len(set))
		for n := range set {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			if d, ok := set[n].Delta(); ok && d > 0 {
				rows = append(rows, row{p.t.text(dim, pad(n, 28)), p.t.text(normal, fmt.Sprintf(" +%s in %s", thousands(d), s.Interval))})
			}
		}
	}
	return rows
}
