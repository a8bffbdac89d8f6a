package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// Markdown writes the report for a ticket: the decision, each diagnosis with
// evidence and fix, the checks as a table, and what was not looked at. Text
// from the host is escaped, so that it stays text wherever it is pasted.
func Markdown(w io.Writer, d *Document) error {
	m := &markdown{}
	word := adviceWords[d.Summary.Advice]
	if word == "" {
		word = adviceWords[NoIdea]
	}
	m.para("# " + word + ": " + escapeMarkdown(d.Summary.AdviceReason))
	m.para(escapeMarkdown(strings.Join(nonEmpty(d.Host, d.Origin, taken(d.Started), strings.TrimSpace(d.Tool.Name+" "+d.Tool.Version)), " · ")))
	if d.Error != nil {
		m.para("**Stopped early:** " + escapeMarkdown(strings.Join(nonEmpty(d.Error.Message, d.Error.Hint), ": ")))
	}
	m.diagnoses(d.Diagnoses)
	m.timeline(d.Timeline)
	m.hosts(d.Hosts)
	m.checks(d.Checks)
	m.gaps(d.Gaps)
	s := d.Summary
	m.para(fmt.Sprintf("%d pass, %d warn, %d fail, %d skip, %d unknown, %d info · exit %d",
		s.Pass, s.Warn, s.Fail, s.Skip, s.Unknown, s.Info, s.ExitCode))
	if _, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n"); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type markdown struct{ strings.Builder }

func (m *markdown) line(s string) { m.WriteString(s + "\n") }

func (m *markdown) para(s string) { m.WriteString(s + "\n\n") }

// diagnoses shows what is to be mended in full and information as a list: a
// ticket is read by people who have others.
func (m *markdown) diagnoses(ds []knowledge.Diagnosis) {
	var infos []string
	for i := range ds {
		if ds[i].Severity == checks.Info && i > 0 {
			infos = append(infos, "- "+escapeMarkdown(about(ds[i]))+" "+code(ds[i].Code))
			continue
		}
		m.diagnosis(&ds[i])
	}
	if len(infos) > 0 {
		m.para("## For information")
		m.para(strings.Join(infos, "\n"))
	}
}

// timeline is a list, since a text of the host in a table's cell can be long.
func (m *markdown) timeline(events []Event) {
	if len(events) == 0 {
		return
	}
	m.para("## Timeline")
	shown := weightiest(events)
	for _, e := range shown {
		m.line("- " + e.Time.UTC().Format("2006-01-02 15:04:05 UTC") + " " + escapeMarkdown(string(e.Kind)+" "+e.Subject+": "+e.Text))
	}
	if left := len(events) - len(shown); left > 0 {
		m.line(fmt.Sprintf("- and %d more", left))
	}
	m.line("")
}

// gaps names what could not be read as the text report does: those of one kind
// are one line with examples.
func (m *markdown) gaps(gaps []facts.Gap) {
	if len(gaps) == 0 {
		return
	}
	m.para("## Not looked at")
	for _, text := range gapLines(gaps) {
		m.line("- " + escapeMarkdown(text))
	}
	m.line("")
}

func (m *markdown) diagnosis(d *knowledge.Diagnosis) {
	m.para("## " + escapeMarkdown(about(*d)) + " " + code(d.Code))
	m.para(escapeMarkdown(strings.Join(nonEmpty(string(d.Severity), impact(d), string(d.Confidence), d.Layer.String()), " · ")))
	for _, s := range nonEmpty(d.Message, d.Cause) {
		for p := range strings.SplitSeq(s, "\n\n") {
			m.para(escapeMarkdown(p))
		}
	}
	if len(d.Evidence) > 0 {
		m.para("**Evidence**")
		for _, e := range d.Evidence {
			m.line("- " + code(e.Source) + ": " + code(e.Value))
		}
		m.line("")
	}
	if cs := consequences(d); len(cs) > 0 {
		m.para("**Explains**")
		for _, f := range cs {
			m.line("- " + code(f.Code) + " " + escapeMarkdown(f.Subject))
		}
		m.line("")
	}
	if len(d.Fix) > 0 {
		m.para("**Fix**")
	}
	for i := range d.Fix {
		s := &d.Fix[i]
		m.para(fmt.Sprintf("%d. %s", i+1, escapeMarkdown(strings.TrimSpace(s.Text+" ("+s.Effect()+")"))))
		if s.Command != "" {
			m.block(s.Command)
		}
	}
	m.commands("Verify", d.Verify)
	m.commands("See it with the standard tools", d.Reproduce)
	if len(d.References) > 0 {
		m.para("**References**")
		for _, r := range d.References {
			m.line("- " + escapeMarkdown(r))
		}
		m.line("")
	}
}

func (m *markdown) commands(name string, cs []string) {
	if len(cs) > 0 {
		m.para("**" + name + "**")
		m.block(strings.Join(cs, "\n"))
	}
}

func (m *markdown) hosts(hosts []HostRow) {
	if len(hosts) == 0 {
		return
	}
	m.para("## Hosts")
	for _, h := range hosts {
		m.line("- " + escapeMarkdown(strings.Join(nonEmpty(h.Host, h.Origin, h.Summary), " · ")))
	}
	m.line("")
}

func (m *markdown) checks(results []checks.Result) {
	if len(results) == 0 {
		return
	}
	m.para("## Checks")
	m.line("| layer | check | status | found |")
	m.line("|---|---|---|---|")
	for i := range results {
		r := &results[i]
		var found []string
		for _, f := range r.Findings {
			found = append(found, escapeMarkdown(findingText(f)))
		}
		if r.Reason != "" {
			found = append(found, escapeMarkdown(r.Reason))
		}
		m.line(fmt.Sprintf("| %s | %s | %s | %s |", r.Layer, escapeMarkdown(r.ID), escapeMarkdown(string(r.Status)), strings.Join(found, "; ")))
	}
	m.line("")
}

// block is a command in a fence that no text in it can close.
func (m *markdown) block(text string) {
	lines := cleanLines(text)
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	m.line(fence + "sh")
	for _, l := range lines {
		m.line(l)
	}
	m.para(fence)
}

// code is text in backquotes, more of them where it has some itself. It is not
// for tables, whose bars count in code too.
func code(s string) string {
	s = Clean(s)
	if s == "" {
		return "(empty)"
	}
	tick := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return tick + s + tick
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// escapeMarkdown makes text mean nothing to Markdown or HTML.
func escapeMarkdown(s string) string {
	s = Clean(s)
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
			continue
		case r == '&':
			b.WriteString("&amp;")
			continue
		case strings.ContainsRune("\\`*_[]|~", r), i == 0 && strings.ContainsRune("#>+-=", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
