package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// checkList is the checks of one layer, or of all.
type checkList struct {
	m     *Model
	layer checks.Layer // zero: all
	rows  list
}

func newCheckList(m *Model, l checks.Layer) *checkList {
	return &checkList{m: m, layer: l, rows: newList()}
}

// statusRank puts what wants attention first.
var statusRank = map[checks.Status]int{checks.Failed: 0, checks.Warned: 1, checks.Unknown: 2, checks.Passed: 3, checks.Skipped: 4}

// results are the checks of the list, the worst first, else in run order.
func (s *checkList) results() []*checks.Result {
	var rs []*checks.Result
	for _, r := range s.m.exam.results {
		if s.layer == 0 || r.Layer == s.layer {
			rs = append(rs, r)
		}
	}
	slices.SortStableFunc(rs, func(a, b *checks.Result) int {
		return cmp.Compare(statusRank[a.Status], statusRank[b.Status])
	})
	return rs
}

func (s *checkList) entries() []entry {
	var es []entry
	for _, r := range s.results() {
		match := r.ID + " " + r.Title + " " + string(r.Status) + " " + r.Layer.String()
		for _, f := range r.Findings {
			match += " " + f.Code + " " + f.Subject
		}
		es = append(es, entry{id: r.ID, match: match,
			row:  func(w int) row { return s.m.checkRow(r, w, s.layer == 0) },
			open: func() screen { return newCheck(s.m, r.ID, s.layer) }})
	}
	return es
}

// checkRow is one check on one line: what holds or does not, and over how much.
func (m *Model) checkRow(r *checks.Result, w int, layer bool) row {
	t := m.theme
	left := append(row{space(1)}, t.fit(row{t.statusMark(r)}, 3)...)
	if layer {
		left = append(left, t.text(dim, fmt.Sprintf("%-11s ", r.Layer)))
	}
	tn := normal
	if r.Status == checks.Skipped {
		tn = dim
	}
	left = append(left, t.text(tn, r.Title))
	aside := row{t.text(dim, m.outcome(r)), space(1)}
	if most := max(w-left.width()-2, w/3); aside.width() > most {
		aside = t.fit(aside, most)
	}
	return t.ends(left, aside, w)
}

// outcome says in a few words how a check ended.
func (m *Model) outcome(r *checks.Result) string {
	switch r.Status {
	case checks.Skipped, checks.Unknown:
		return r.Reason
	}
	s := strconv.Itoa(r.Examined) + " examined"
	switch n := len(r.Findings); {
	case n == 1:
		s = r.Findings[0].Subject
	case n > 1:
		s = fmt.Sprintf("%s +%d", r.Findings[0].Subject, n-1)
	}
	if r.Status == checks.Passed && len(r.Findings) > 0 {
		s = m.theme.info + " " + s
	}
	if n := len(r.Unread); n > 0 {
		s += fmt.Sprintf("%s%d not read", m.theme.dot, n)
	}
	return s
}

// nothingIn says why a layer has no checks to show.
func (m *Model) nothingIn(l checks.Layer) string {
	switch {
	case !m.exam.ended():
		return "no result yet..."
	case probed[l]:
		return "This layer is judged by active probes, and none were run."
	case l == 0:
		return "No check has run."
	}
	return "No check of this layer has run."
}

func (s *checkList) update(msg tea.KeyPressMsg) tea.Cmd {
	es := s.entries()
	if s.rows.update(msg, s.m.keys, es) {
		return nil
	}
	e := s.rows.current(es)
	switch {
	case e == nil:
	case on(msg, s.m.keys.open):
		s.m.push(e.open())
	case on(msg, s.m.keys.copyFix):
		return s.m.copyFirst(checkSubject{e.id, s.layer}.steps(s.m))
	}
	return nil
}

func (s *checkList) view(w, h int) []row {
	es := s.entries()
	if len(es) == 0 {
		return []row{{space(1), s.m.theme.text(dim, s.m.nothingIn(s.layer))}}
	}
	return s.below(s.rows.view(s.m.theme, es, w, h), s.rows.current(es), w, h)
}

// below fills what a short list leaves free with what opening the line would
// show.
func (s *checkList) below(rows []row, e *entry, w, h int) []row {
	if h-len(rows)-1 >= previewMin && e != nil {
		rows = append(rows, nil, s.m.theme.rule(w, nil))
		rows = append(rows, s.m.examined(s.m.exam.result(e.id), w)...)
	}
	return rows[:min(h, len(rows))]
}

// peek is the list without a cursor, for where another screen shows it.
func (s *checkList) peek(w, h int) []row {
	es := s.entries()
	if len(es) == 0 {
		return s.view(w, h)
	}
	var rows []row
	for _, e := range es {
		rows = append(rows, e.row(w))
	}
	if len(rows) < h {
		return s.below(rows, &es[0], w, h)
	}
	return rows
}

func (s *checkList) title() row {
	t := s.m.theme
	name := "all checks"
	if s.layer != 0 {
		name = s.layer.String()
	}
	sum := tally{layer: s.layer}
	for _, r := range s.results() {
		sum.add(r)
	}
	return append(row{t.text(strong, name), space(2)}, sum.counts(t, s.m.exam.ended())...)
}

func (s *checkList) status() (left, right row) {
	return nil, s.m.theme.row(dim, s.rows.where(s.m.theme))
}

func (s *checkList) keys() []key.Binding {
	k := s.m.keys
	fix := false
	if e := s.rows.current(s.entries()); e != nil {
		_, fix = firstCommand(checkSubject{e.id, s.layer}.steps(s.m))
	}
	return []key.Binding{k.open, when(fix, k.copyFix), k.filter}
}

func (s *checkList) list() *list { return &s.rows }
