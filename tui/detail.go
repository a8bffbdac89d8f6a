package tui

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// detail is a text to scroll: a diagnosis or a check. It names its subject and
// looks it up for each frame, so that it follows a new run.
type detail struct {
	m      *Model
	window scroll
	of     subject
}

// subject is what a detail shows.
type subject interface {
	// rows is the text, or nil where the run has no such thing.
	rows(m *Model, w int) []row
	name(m *Model) row
	steps(m *Model) []knowledge.Step
	// beside is the subject n further on in its list, and its place.
	beside(m *Model, n int) (next subject, at, of int)
	kindName() string
}

func newDiagnosis(m *Model, d *knowledge.Diagnosis) *detail {
	return &detail{m: m, of: diagnosisSubject{d.Code, d.Subject}}
}

func newCheck(m *Model, id string, l checks.Layer) *detail {
	return &detail{m: m, of: checkSubject{id, l}}
}

func (s *detail) update(msg tea.KeyPressMsg) tea.Cmd {
	k := s.m.keys
	if s.window.update(msg, k) {
		return nil
	}
	switch {
	case on(msg, k.next), on(msg, k.ports):
		s.turn(1)
	case on(msg, k.prev):
		s.turn(-1)
	case on(msg, k.copyFix):
		return s.m.copyFirst(s.of.steps(s.m))
	case on(msg, k.copyStep):
		return s.m.copyNth(s.of.steps(s.m), msg)
	}
	return nil
}

func (s *detail) turn(by int) {
	if next, _, _ := s.of.beside(s.m, by); next != nil {
		s.of, s.window.offset = next, 0
	}
}

func (s *detail) view(w, h int) []row {
	rows := s.of.rows(s.m, w)
	if rows == nil {
		text := "The run that goes on now has not come to this " + s.of.kindName() + "..."
		if s.m.exam.ended() {
			text = "This run has no such " + s.of.kindName() + ": what was wrong before is not found any more, or was not looked at."
		}
		rows = s.m.theme.indent(s.m.theme.lines(normal, text, w-2))
	}
	return s.window.view(rows, h)
}

func (s *detail) title() row { return s.of.name(s.m) }

func (s *detail) status() (left, right row) {
	t := s.m.theme
	if _, at, of := s.of.beside(s.m, 0); of > 1 {
		left = append(row{t.text(dim, fmt.Sprintf(" %s %d of %d ", s.of.kindName(), at+1, of))}, t.inline(s.m.keys.next)...)
	}
	return left, t.row(dim, s.window.where(t))
}

func (s *detail) keys() []key.Binding {
	k := s.m.keys
	steps := s.of.steps(s.m)
	_, fix := firstCommand(steps)
	_, _, of := s.of.beside(s.m, 0)
	return []key.Binding{
		when(fix, k.copyFix),
		when(len(steps) > 1, k.copyStep),
		when(of > 1, named(k.next, "next "+s.of.kindName())),
		when(of > 1, named(k.prev, "previous")),
		when(of > 1, named(k.ports, "next "+s.of.kindName())),
	}
}

func (s *detail) list() *list { return nil }

type diagnosisSubject struct{ code, subject string }

func (d diagnosisSubject) rows(m *Model, w int) []row {
	if g := m.exam.diagnosis(d.code, d.subject); g != nil {
		return m.explain(g, w)
	}
	return nil
}

func (d diagnosisSubject) name(m *Model) row {
	t := m.theme
	return row{t.text(strong, d.code), t.text(dim, "  "+d.subject)}
}

func (d diagnosisSubject) steps(m *Model) []knowledge.Step {
	if g := m.exam.diagnosis(d.code, d.subject); g != nil {
		return g.Fix
	}
	return nil
}

func (d diagnosisSubject) beside(m *Model, n int) (subject, int, int) {
	ds := m.exam.diagnoses
	at := slices.IndexFunc(ds, func(g *knowledge.Diagnosis) bool { return g.Code == d.code && g.Subject == d.subject })
	if len(ds) == 0 {
		return nil, 0, 0
	}
	to := (max(at, 0) + n + len(ds)) % len(ds)
	return diagnosisSubject{ds[to].Code, ds[to].Subject}, to, len(ds)
}

func (diagnosisSubject) kindName() string { return "diagnosis" }

// checkSubject is a check, in the list of a layer or of all.
type checkSubject struct {
	id    string
	layer checks.Layer
}

func (c checkSubject) rows(m *Model, w int) []row {
	if r := m.exam.result(c.id); r != nil {
		return m.examined(r, w)
	}
	return nil
}

func (c checkSubject) name(m *Model) row { return m.theme.row(strong, c.id) }

func (c checkSubject) steps(m *Model) []knowledge.Step {
	r := m.exam.result(c.id)
	if r == nil {
		return nil
	}
	for _, d := range m.exam.explainers(r.Findings) {
		if len(d.Fix) > 0 {
			return d.Fix
		}
	}
	return nil
}

func (c checkSubject) beside(m *Model, n int) (subject, int, int) {
	rs := newCheckList(m, c.layer).results()
	if len(rs) == 0 {
		return nil, 0, 0
	}
	at := slices.IndexFunc(rs, func(r *checks.Result) bool { return r.ID == c.id })
	to := (max(at, 0) + n + len(rs)) % len(rs)
	return checkSubject{rs[to].ID, c.layer}, to, len(rs)
}

func (checkSubject) kindName() string { return "check" }
