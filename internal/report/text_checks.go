package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// checks lists every check under its layer, with what it found.
func (p *page) checks(d *Document) {
	if len(d.Checks) == 0 {
		return
	}
	p.blank()
	p.heading("Checks")
	sorted := slices.SortedStableFunc(slices.Values(d.Checks), func(a, b checks.Result) int {
		return cmp.Compare(a.Layer, b.Layer)
	})
	last := checks.Layer(0)
	for i := range sorted {
		r := &sorted[i]
		if r.Layer != last {
			p.line("  " + p.paint(r.Layer.String(), bold))
			last = r.Layer
		}
		p.check(r)
	}
}

func (p *page) check(r *checks.Result) {
	text := r.Title
	if text == "" {
		text = r.ID
	}
	if r.Examined > 1 {
		text += fmt.Sprintf(" (%d)", r.Examined)
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	p.para("    "+p.mark(r.Status)+" ", 7, text)
	for _, f := range r.Findings {
		p.para("       "+p.severityMark(f.Severity)+" ", 10, findingText(f))
	}
}

// findingText names the subject unless the sentence already begins with it.
func findingText(f checks.Finding) string {
	text := f.Message
	if f.Subject != "" && !strings.HasPrefix(text, f.Subject) {
		text = f.Subject + ": " + text
	}
	return text + " [" + f.Code + "]"
}

// unseen lists what nobody looked at, so that a reader cannot take it for
// health.
func (p *page) unseen(d *Document) {
	var unknown []checks.Result
	skipped := 0
	for _, r := range d.Checks {
		switch r.Status {
		case checks.Passed, checks.Warned, checks.Failed:
		case checks.Skipped:
			skipped++
		default:
			unknown = append(unknown, r)
		}
	}
	if len(unknown)+skipped+len(d.Gaps) == 0 {
		return
	}
	p.blank()
	p.heading(fmt.Sprintf("Not looked at: %d unknown, %d skipped, %s", len(unknown), skipped, plural(len(d.Gaps), "gap")))
	for i := range unknown {
		r := &unknown[i]
		text := r.ID + ": " + r.Reason
		if n := len(r.Unread); n > 0 {
			text += fmt.Sprintf(" (%d unread: %s)", n, strings.Join(r.Unread[:min(n, subjectsShown)], ", "))
		}
		p.para("  ?  ", 5, text)
	}
	for _, g := range d.Gaps {
		text := string(g.Source) + " " + g.What + ": " + string(g.Kind)
		if g.Detail != "" {
			text += " (" + g.Detail + ")"
		}
		p.para("     ", 7, text)
	}
}
