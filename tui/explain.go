package tui

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// label is the width of the words at the left of an explanation.
const label = 11

// page collects the rows of a text with labels at the left.
type page struct {
	t    *theme
	w    int
	rows []row
}

// part adds rows under a label. Without rows it adds nothing.
func (p *page) part(name string, rows ...row) {
	if len(rows) == 0 {
		return
	}
	p.rows = append(p.rows, nil)
	p.more(name, rows...)
}

// more is part without the blank line above.
func (p *page) more(name string, rows ...row) {
	for i, r := range rows {
		head := row{space(label)}
		if i == 0 {
			head = row{p.t.text(strong, pad(" "+name, label))}
		}
		p.rows = append(p.rows, append(head, r...))
	}
}

// text breaks a text into rows that fit right of the labels.
func (p *page) text(tn tone, s string) []row {
	if s == "" {
		return nil
	}
	return p.t.lines(tn, s, p.w-label-1)
}

// prose is a section of a page, whose lines were broken for a file.
func (p *page) prose(s string) []row {
	if s == "" {
		return nil
	}
	return p.text(normal, knowledge.Reflow(s, p.w-label-1))
}

func (p *page) texts(tn tone, all []string) []row {
	var rows []row
	for _, s := range all {
		rows = append(rows, p.text(tn, s)...)
	}
	return rows
}

// explain is all there is to know about a diagnosis, in the order in which one
// needs it: what and why, the way out, then how one can see it.
//
// said are findings that stand above it already.
func (m *Model) explain(d *knowledge.Diagnosis, w int, said ...checks.Finding) []row {
	t := m.theme
	p := &page{t: t, w: w}
	mark := t.severityMark(d.Severity)
	p.rows = append(p.rows, row{space(1), mark, space(1), t.text(mark.tone, impactWord(d)),
		t.text(dim, t.dot+string(d.Confidence)+t.dot), t.text(accent, m.exam.subjects(d)), t.text(dim, t.dot+d.Code)})
	for _, r := range t.lines(strong, d.Title, w-2) {
		p.rows = append(p.rows, append(row{space(1)}, r...))
	}
	if !slices.ContainsFunc(said, func(f checks.Finding) bool { return f.Message == d.Message }) {
		p.part("seen", p.text(normal, d.Message)...)
	}
	p.part("cause", p.prose(d.Cause)...)
	for i, s := range d.Fix {
		name := "fix"
		if len(d.Fix) > 1 {
			name = fmt.Sprintf("fix %d", i+1)
		}
		text, tn := stepText(s)
		rows := append(p.text(tn, text), stepNotes(t, s))
		rows = append(rows, p.text(dim, s.Changes)...)
		p.part(name, rows...)
	}
	m.background(p, d)
	return p.rows
}

// background is what an explanation has beside what and what to do.
func (m *Model) background(p *page, d *knowledge.Diagnosis) {
	p.part("verify", p.texts(command, d.Verify)...)
	p.part("symptom", p.prose(d.Symptom)...)
	if len(d.Subjects) > 1 {
		p.part("where", p.texts(normal, d.Subjects)...)
	}
	p.part("evidence", p.evidence(d.Evidence)...)
	p.part("explains", m.explained(p, d)...)
	p.part("by hand", p.texts(command, d.Reproduce)...)
	p.part("read", p.texts(accent, d.References)...)
}

// evidence is each source with the text that it held.
func (p *page) evidence(all []checks.Evidence) []row {
	var rows []row
	for _, e := range all {
		one := row{p.t.text(dim, e.Source), p.t.text(normal, "  "+e.Value)}
		if one.width() <= p.w-label-1 && !multiline(e.Value) {
			rows = append(rows, one)
			continue
		}
		rows = append(rows, p.text(dim, e.Source)...)
		for _, r := range p.t.lines(normal, e.Value, p.w-label-3) {
			rows = append(rows, append(row{space(2)}, r...))
		}
	}
	return rows
}

func multiline(s string) bool {
	for _, r := range s {
		if r == '\n' {
			return true
		}
	}
	return false
}

// explained lists the findings that the diagnosis accounts for: its own first,
// then its consequences.
func (m *Model) explained(p *page, d *knowledge.Diagnosis) []row {
	if len(d.Findings) < 2 {
		return nil
	}
	var rows []row
	for _, ref := range d.Findings {
		r := row{p.t.text(accent, ref.Code), space(1), p.t.text(normal, ref.Subject)}
		if f := m.exam.finding(ref); f != nil {
			r = append(row{p.t.severityMark(f.Severity), space(1)}, r...)
			rows = append(rows, p.t.fit(r, p.w-label-1))
			if ref.Code != d.Code {
				for _, l := range p.t.lines(dim, f.Message, p.w-label-3) {
					rows = append(rows, append(row{space(2)}, l...))
				}
			}
			continue
		}
		rows = append(rows, p.t.fit(r, p.w-label-1))
	}
	return rows
}

// examined is all there is to know about a check: how it ended, on what, what
// was found, and the diagnoses that explain it.
func (m *Model) examined(r *checks.Result, w int) []row {
	t := m.theme
	p := &page{t: t, w: w}
	mark := t.statusMark(r)
	p.rows = append(p.rows, row{space(1), mark, space(1), t.text(mark.tone, string(r.Status)),
		t.text(dim, t.dot+r.Layer.String()+t.dot+r.ID), t.text(dim, fmt.Sprintf("%s%d examined", t.dot, r.Examined))})
	for _, l := range t.lines(strong, r.Title, w-2) {
		p.rows = append(p.rows, append(row{space(1)}, l...))
	}
	p.part("reason", p.text(normal, r.Reason)...)
	for _, f := range r.Findings {
		sev := t.severityMark(f.Severity)
		rows := []row{{sev, space(1), t.text(sev.tone, f.Subject), t.text(dim, "  "+f.Code)}}
		rows = append(rows, p.text(normal, f.Message)...)
		p.part("found", append(rows, p.evidence(f.Evidence)...)...)
	}
	p.part("not read", p.texts(normal, r.Unread)...)
	p.part("why", p.text(dim, m.doc(r.ID))...)
	for _, d := range m.exam.explainers(r.Findings) {
		p.rows = append(p.rows, nil, t.rule(w, t.row(dim, "explained by")))
		p.rows = append(p.rows, m.explain(d, w, r.Findings...)...)
	}
	return p.rows
}
