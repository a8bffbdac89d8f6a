package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// TextOptions shape the text report.
type TextOptions struct {
	Width int  // in cells; 0 is 80
	Color bool // the marks and headings are coloured
}

// Text writes the report for a person: the decision, the answer with what to
// do about it, the further findings, each check, and what was not looked at.
func Text(w io.Writer, d *Document, opt TextOptions) error {
	p := &page{width: opt.Width, color: opt.Color}
	if p.width <= 0 {
		p.width = 80
	}
	p.head(d)
	p.diagnoses(d)
	p.timeline(d)
	p.hosts(d)
	p.ladders(d)
	p.measurements(d)
	p.ports(d)
	p.checks(d)
	p.unseen(d)
	p.foot(d)
	if _, err := w.Write(p.buf.Bytes()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// page collects the lines of a text report.
type page struct {
	buf   bytes.Buffer
	width int
	color bool
}

func (p *page) line(s string) { p.buf.WriteString(strings.TrimRight(s, " ") + "\n") }

func (p *page) blank() { p.buf.WriteByte('\n') }

// para writes text wrapped, the first line after first, the others indented to
// the same column. first may hold colours; indent is its width in cells.
func (p *page) para(first string, indent int, text string) {
	pad := strings.Repeat(" ", indent)
	for i, l := range wrap(Clean(text), max(20, p.width-indent)) {
		if i == 0 {
			p.line(first + l)
		} else {
			p.line(pad + l)
		}
	}
}

func (p *page) heading(s string) { p.line(p.paint(s, bold)) }

// Colours are the terminal's own first sixteen, which its user chose.
var (
	bold   = lipgloss.NewStyle().Bold(true)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	green  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	faint  = lipgloss.NewStyle().Faint(true)
)

func (p *page) paint(s string, st lipgloss.Style) string {
	if !p.color {
		return s
	}
	return st.Render(s)
}

// The marks carry the meaning, colour only repeats it.
var marks = map[checks.Status]string{checks.Passed: "ok", checks.Warned: "!", checks.Failed: "x",
	checks.Skipped: "-", checks.Unknown: "?"}

// mark is two cells wide.
func (p *page) mark(s checks.Status) string {
	m := fmt.Sprintf("%-2s", marks[s])
	switch s {
	case checks.Passed:
		return p.paint(m, green)
	case checks.Warned:
		return p.paint(m, yellow)
	case checks.Failed:
		return p.paint(m, red)
	case checks.Skipped:
		return p.paint(m, faint)
	}
	if marks[s] == "" {
		m = "? "
	}
	return m
}

// severityMark is the mark of a finding or diagnosis.
func (p *page) severityMark(s checks.Severity) string {
	switch s {
	case checks.Fail:
		return p.mark(checks.Failed)
	case checks.Warn:
		return p.mark(checks.Warned)
	}
	return p.paint("i ", faint)
}

// adviceWords open the report.
var adviceWords = map[Advice]string{Drain: "drain", Keep: "keep", NotRDMA: "not RDMA", NoIdea: "unknown"}

func (p *page) head(d *Document) {
	word := adviceWords[d.Summary.Advice]
	if word == "" {
		word = adviceWords[NoIdea]
	}
	st := bold
	switch d.Summary.Advice {
	case Drain:
		st = st.Inherit(red)
	case Keep:
		st = st.Inherit(green)
	}
	p.para(p.paint(word, st)+": ", len(word)+2, d.Summary.AdviceReason)
	var where []string
	for _, s := range []string{d.Host, d.Origin, taken(d.Started), strings.TrimSpace(d.Tool.Name + " " + d.Tool.Version)} {
		if s != "" {
			where = append(where, s)
		}
	}
	p.para("", 0, strings.Join(where, " · "))
	if d.Error != nil {
		p.para(p.paint("stopped early: ", bold), 15, d.Error.Message)
		if d.Error.Hint != "" {
			p.para(strings.Repeat(" ", 15), 15, d.Error.Hint)
		}
	}
}

func taken(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func (p *page) foot(d *Document) {
	s := d.Summary
	p.blank()
	p.para("", 0, fmt.Sprintf("%d pass, %d warn, %d fail, %d skip, %d unknown, %d info · %.1f s · exit %d",
		s.Pass, s.Warn, s.Fail, s.Skip, s.Unknown, s.Info, d.DurationSeconds, s.ExitCode))
}
