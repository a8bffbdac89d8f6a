package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// portMap is the table of ports over the whole width.
type portMap struct {
	m    *Model
	rows list
}

func newPortMap(m *Model) *portMap { return &portMap{m: m, rows: newList()} }

func (s *portMap) ports() []port {
	ps := slices.Clone(s.m.exam.ports())
	slices.SortStableFunc(ps, func(a, b port) int { return byName(a.link, b.link) })
	return ps
}

// entries are the ports; only how they are drawn needs the width.
func (s *portMap) entries(w int) []entry {
	ps := s.ports()
	tb := newTable(s.m.theme, ps, w)
	var es []entry
	for _, p := range ps {
		match := []string{p.link, p.netdev, p.pci, p.numa, p.rate, p.mtu, p.gid, p.ip, p.state, string(p.worst)}
		for _, f := range p.findings {
			match = append(match, f.Code)
		}
		es = append(es, entry{id: p.link, match: strings.Join(match, " "),
			row:  func(int) row { return tb.row(p) },
			open: func() screen { return newPort(s.m, p.link) }})
	}
	return es
}

func (s *portMap) update(msg tea.KeyPressMsg) tea.Cmd {
	es := s.entries(minWidth)
	if s.rows.update(msg, s.m.keys, es) {
		return nil
	}
	switch {
	case on(msg, s.m.keys.ports):
		s.m.pop()
	case on(msg, s.m.keys.open):
		if e := s.rows.current(es); e != nil {
			s.m.push(e.open())
		}
	}
	return nil
}

func (s *portMap) view(w, h int) []row {
	t, e := s.m.theme, s.m.exam
	es := s.entries(w)
	if len(es) > 0 {
		head := newTable(t, s.ports(), w).head()
		return append([]row{head}, s.rows.view(t, es, w, h-1)...)
	}
	if e.noRDMA() {
		return t.indent(s.m.noRDMA(w-1, h))
	}
	return t.indent(t.lines(dim, e.noPorts(), w-2))
}

func (s *portMap) title() row {
	t := s.m.theme
	return row{t.text(strong, "ports"), t.text(dim, "  "+plural(len(s.ports()), "port"))}
}

func (s *portMap) status() (left, right row) {
	return nil, s.m.theme.row(dim, s.rows.where(s.m.theme))
}

func (s *portMap) keys() []key.Binding {
	k := s.m.keys
	return []key.Binding{k.open, k.filter, named(k.ports, "back to the layers")}
}

func (s *portMap) list() *list { return &s.rows }
