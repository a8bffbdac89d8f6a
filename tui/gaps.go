package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// gapScreen lists what could not be looked at, and what would help.
type gapScreen struct {
	m    *Model
	rows list
}

func newGaps(m *Model) *gapScreen { return &gapScreen{m: m, rows: newList()} }

// gapKind is one kind of gap with what it means.
type gapKind struct {
	kind facts.GapKind
	head string
}

// kinds are the gaps in the order in which something can be done about them.
var kinds = []gapKind{
	{facts.Denied, "Denied: run as root, on the host rather than in a container"},
	{facts.Timeout, "No answer in time: the driver or its firmware may hang"},
	{facts.Malformed, "Not in the documented form"},
	{facts.Unsupported, "Not supported by this kernel, driver or kind of input"},
	{facts.Absent, "Not there on this host"},
}

// gapKinds are the known kinds, and those of a later version's report.
func (e *exam) gapKinds() []gapKind {
	ks := slices.Clone(kinds)
	for _, g := range e.gaps {
		if !slices.ContainsFunc(ks, func(k gapKind) bool { return k.kind == g.Kind }) {
			ks = append(ks, gapKind{g.Kind, string(g.Kind)})
		}
	}
	return ks
}

func (s *gapScreen) entries() []entry {
	t, e := s.m.theme, s.m.exam
	var es []entry
	head := func(text string) {
		es = append(es, entry{id: "head " + text, head: true, row: func(int) row {
			return row{space(1), t.text(strong, text)}
		}})
	}
	line := func(id, left, right string, mark span, open func() screen) {
		es = append(es, entry{id: id, match: left + " " + right, open: open, row: func(w int) row {
			l := append(row{space(2)}, t.fit(row{mark}, 3)...)
			return t.fit(append(append(l, t.text(normal, left), space(2)), t.text(dim, right)), w)
		}})
	}
	first := true
	for _, r := range e.results {
		if r.Status != checks.Unknown && len(r.Unread) == 0 {
			continue
		}
		if first {
			head("Checks that could not judge all they wanted to")
			first = false
		}
		why := r.Reason
		if why == "" {
			why = "not read: " + r.Unread[0]
		}
		line("check "+r.ID, r.ID, why, t.statusMark(r), func() screen { return newCheck(s.m, r.ID, 0) })
	}
	for _, k := range e.gapKinds() {
		mark := span{t.unknown, unsure}
		if k.kind == facts.Absent {
			mark = span{t.skip, dim}
		}
		for i, g := range e.gapsOf(k.kind) {
			if i == 0 {
				head(k.head)
			}
			left := g.whats[0]
			if n := len(g.whats) - 1; n > 0 {
				left += fmt.Sprintf(" +%d", n)
			}
			right := string(g.source) + pick(g.detail != "", ": "+g.detail, "")
			line(fmt.Sprint("gap ", g.source, k.kind, g.detail), left, right, mark, func() screen { return &detail{m: s.m, of: g.gapKey} })
			es[len(es)-1].match += " " + strings.Join(g.whats, " ")
		}
	}
	return es
}

func (s *gapScreen) update(msg tea.KeyPressMsg) tea.Cmd {
	es := s.entries()
	if s.rows.update(msg, s.m.keys, es) {
		return nil
	}
	if on(msg, s.m.keys.open) {
		if e := s.rows.current(es); e != nil {
			s.m.push(e.open())
		}
	}
	return nil
}

func (s *gapScreen) view(w, h int) []row {
	es := s.entries()
	if len(es) == 0 {
		text := "Everything that was wanted was read."
		if !s.m.exam.ended() {
			text = "Nothing so far..."
		}
		return []row{{space(1), s.m.theme.text(dim, text)}}
	}
	return s.rows.view(s.m.theme, es, w, h)
}

func (s *gapScreen) title() row {
	t := s.m.theme
	unknown, gaps := s.m.exam.unseen()
	return row{t.text(strong, "not looked at"), t.text(dim, "  "+plural(unknown, "unknown check")+t.dot+plural(gaps, "gap"))}
}

func (s *gapScreen) status() (left, right row) {
	return nil, s.m.theme.row(dim, s.rows.where(s.m.theme))
}

func (s *gapScreen) keys() []key.Binding {
	k := s.m.keys
	return []key.Binding{k.open, k.filter}
}

func (s *gapScreen) list() *list { return &s.rows }
