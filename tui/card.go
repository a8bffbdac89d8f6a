package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// card is one answer of the first screen: a diagnosis, or what can be said
// where there is none.
type card struct {
	mark  span
	head  string // what it means for work, and what to do with the node
	tone  tone   // of the head
	right string // what it is about
	title string
	aside string // how sure
	text  []string
	steps []knowledge.Step
	diag  *knowledge.Diagnosis // nil where it is none
}

// cards are the answers in order. The first is what one must know.
func (m *Model) cards() []card {
	e := m.exam
	var cs []card
	switch st := e.state(); {
	case st == failed:
		cs = append(cs, m.errorCard())
	case len(e.serious()) > 0:
	case st == interrupted:
		cs = append(cs, m.errorCard())
	case st == waiting || st == running:
		cs = append(cs, m.runningCard())
	case st == cut:
		cs = append(cs, card{mark: span{m.theme.warn, warning}, tone: warning, head: "CUT SHORT",
			title: "The stream ended without a summary",
			text:  []string{"What came before is shown; what would have followed is not known."}})
	case e.noRDMA() && len(e.diagnoses) > 0:
		// The diagnosis says it better than a verdict could.
	default:
		cs = append(cs, m.verdictCard())
	}
	for _, d := range e.diagnoses {
		cs = append(cs, m.diagnosisCard(d))
	}
	return cs
}

func (m *Model) diagnosisCard(d *knowledge.Diagnosis) card {
	c := card{mark: m.theme.severityMark(d.Severity), head: impactWord(d), right: m.exam.subjects(d),
		title: d.Title, aside: string(d.Confidence), text: []string{d.Message}, steps: d.Fix, diag: d}
	c.tone = c.mark.tone
	if m.exam.noRDMA() && d.Impact != knowledge.Down {
		c.head = "NO RDMA"
	}
	if s := m.exam.summary; s != nil && s.Advice != "" && d.Severity != checks.Info {
		c.head += m.theme.dot + adviceWords(s.Advice)
	}
	if len(d.Fix) == 0 && d.Cause != "" {
		c.text = append(c.text, d.Cause)
	}
	return c
}

// runningCard says what is being done, and the worst that is known already.
func (m *Model) runningCard() card {
	e := m.exam
	c := card{mark: span{m.theme.waiting, accent}, tone: accent, head: "EXAMINING",
		title: "Waiting for the first message"}
	if e.run != nil {
		c.title = "Collecting facts"
	}
	if s := e.step; s != nil {
		c.title = doing(s)
	}
	if f := e.worst(); f != nil {
		c.text = append(c.text, "So far: "+f.Subject+": "+f.Message)
	} else if n := len(e.results); n > 0 {
		c.text = append(c.text, "So far: "+plural(n, "check")+", nothing found.")
	}
	return c
}

// worst is the worst finding so far, or nil.
func (e *exam) worst() *checks.Finding {
	var w *checks.Finding
	for _, r := range e.results {
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Severity != checks.Info && (w == nil || severityRank[f.Severity] > severityRank[w.Severity]) {
				w = f
			}
		}
	}
	return w
}

func (m *Model) errorCard() card {
	e := m.exam
	state := e.state()
	c := card{mark: span{m.theme.fail, bad}, tone: bad, head: "ERROR"}
	if state == interrupted {
		c.mark, c.tone, c.head = span{m.theme.warn, warning}, warning, "INTERRUPTED"
		c.title = "The examination was interrupted"
	}
	switch {
	case e.err != nil:
		c.title, c.text = e.err.Message, []string{e.err.Hint}
		if state == failed {
			c.aside = string(e.err.Kind)
		}
		if e.err.Kind == report.TimeoutError {
			c.head, c.aside = "TIMED OUT", ""
		}
	case e.overErr != nil:
		c.title = e.overErr.Error()
	}
	if n := len(e.results); n > 0 {
		c.text = append(c.text, "The "+plural(n, "check")+" that had ended by then are below.")
	}
	return c
}

// verdictCard says what a finished run without a serious diagnosis means.
func (m *Model) verdictCard() card {
	t, e, s := m.theme, m.exam, m.exam.summary
	c := card{mark: span{t.pass, good}, tone: good, head: "HEALTHY"}
	if s == nil {
		s = &report.Summary{}
	}
	if s.Advice != "" {
		c.head += t.dot + adviceWords(s.Advice)
	}
	c.title = "Nothing wrong was found"
	if s.Unknown > 0 {
		// What was not looked at may be ill.
		c.head = strings.Replace(c.head, "HEALTHY", "NO FAULT FOUND", 1)
		c.title = "Nothing wrong was found in what could be looked at"
	}
	if s.AdviceReason != "" {
		c.text = append(c.text, s.AdviceReason)
	}
	switch s.Status {
	case "pass":
	case "warn", "fail":
		c.mark, c.tone = span{t.fail, bad}, bad
		c.head = "FINDINGS" + t.dot + adviceWords(s.Advice)
		c.title = fmt.Sprintf("%d failed, %d warned, and no known cause explains it", s.Fail, s.Warn)
		if f := e.worst(); f != nil {
			c.right, c.text = f.Subject, []string{f.Message}
		}
	default:
		c.mark, c.tone = span{t.unknown, unsure}, unsure
		c.head = "COULD NOT JUDGE"
		c.title = "Nothing passed, so nothing is known to be well"
		if e.noRDMA() {
			c.head, c.title = "NO RDMA", "This host has no RDMA device"
		}
	}
	if ps := e.ports(); len(ps) > 0 {
		active := 0
		for _, p := range ps {
			active += pickInt(p.active, 1, 0)
		}
		c.text = append(c.text, fmt.Sprintf("%d of %s ACTIVE", active, plural(len(ps), "port")))
	}
	if n := len(e.diagnoses); n > 0 {
		c.text = append(c.text, plural(n, "note")+" on what is unusual without harm shown [n]")
	}
	return c
}

// draw lays the card out on exactly h rows: the headline, the title, what was
// seen, the first step of the fix. A taller card has more of the text and of
// the steps.
func (c card) draw(t *theme, w, h int, chosen bool) []row {
	in := w - 2
	head := row{t.text(strong, pick(chosen, t.cursor, " ")), c.mark, space(1), t.text(c.tone, c.head)}
	rows := []row{t.ends(head, row{t.text(accent, c.right)}, w-1)}
	rows = append(rows, t.ends(row{space(1), t.text(strong, c.title)}, row{t.text(dim, c.aside)}, w-1))
	var fix [][]row
	for i, s := range c.steps {
		fix = append(fix, c.step(t, i, s))
	}
	room := h - len(rows)
	need := 0
	if len(fix) > 0 {
		need = min(len(fix[0]), max(room-1, 1))
	}
	var text []row
	for _, p := range c.text {
		if p != "" {
			text = append(text, t.lines(normal, p, in-1)...)
		}
	}
	if most := room - need; len(text) > most {
		text = text[:max(most, 0)]
		if most > 0 {
			text[most-1] = t.trim(append(text[most-1], span{" " + t.more, dim}), in-1)
		}
	}
	for _, r := range text {
		rows = append(rows, append(row{space(1)}, r...))
	}
	for i, f := range fix {
		left := h - len(rows)
		switch {
		case i > 0 && left < len(f):
			if left > 0 {
				rows = append(rows, row{space(7), t.text(dim, plural(len(fix)-i, "more step"))})
			}
			return rows[:h]
		case left < len(f):
			f = f[:left]
		}
		rows = append(rows, f...)
	}
	return append(rows, make([]row, h-len(rows))...)
}

// step is the command of one step and what to know about it.
func (c card) step(t *theme, i int, s knowledge.Step) []row {
	name := pick(i == 0, "fix ", "    ")
	if len(c.steps) > 1 && i < 9 {
		name += strconv.Itoa(i + 1)
	}
	text, tn := stepText(s)
	return []row{
		{space(1), t.text(strong, pad(name, 6)), t.text(tn, text)},
		append(row{space(7)}, stepNotes(t, s)...),
	}
}
