package tui

import (
	"regexp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// grace is how long a dialog takes no answer, so that a key meant for the
// screen beneath, y pressed twice, does not give one.
const grace = 400 * time.Millisecond

// dialog asks before a command that disrupts something is copied.
type dialog struct {
	step  knowledge.Step
	armed bool
}

// armed says that a dialog's grace period is over.
type armed struct{ dialog *dialog }

// disruptive reports whether a step interrupts a port or more. What this
// program does not know is taken for the worst.
func disruptive(s knowledge.Step) bool {
	return s.Disrupts != "nothing" && s.Disrupts != "process" && s.Disrupts != ""
}

func (m *Model) ask(s knowledge.Step) tea.Cmd {
	d := &dialog{step: s}
	m.dialog = d
	return tea.Tick(grace, func(time.Time) tea.Msg { return armed{d} })
}

// answer takes a key while a dialog is open.
func (m *Model) answer(msg tea.KeyPressMsg) tea.Cmd {
	d := m.dialog
	switch {
	case on(msg, m.keys.no):
		m.dialog = nil
		m.say(dim, "nothing was copied")
	case on(msg, m.keys.yes) && d.armed:
		m.dialog = nil
		return m.copy(d.step)
	}
	return nil
}

// copyStep copies the command of a step, after asking where it disrupts.
func (m *Model) copyStep(s knowledge.Step) tea.Cmd {
	switch {
	case s.Command == "":
		m.say(warning, "this step is no command: "+s.Text)
		return nil
	case hostile(s.Command):
		m.say(bad, "not copied: the command holds control characters")
		return nil
	case disruptive(s):
		return m.ask(s)
	}
	return m.copy(s)
}

// copyFirst copies the first command of the steps.
func (m *Model) copyFirst(steps []knowledge.Step) tea.Cmd {
	if s, ok := firstCommand(steps); ok {
		return m.copyStep(s)
	}
	m.say(dim, "there is no command to copy here")
	return nil
}

// copyNth copies the step that a digit names.
func (m *Model) copyNth(steps []knowledge.Step, msg tea.KeyPressMsg) tea.Cmd {
	n := int(msg.String()[0] - '1')
	if n >= len(steps) {
		m.say(dim, "there is no step "+msg.String())
		return nil
	}
	return m.copyStep(steps[n])
}

func (m *Model) copy(s knowledge.Step) tea.Cmd {
	said := "to the clipboard: "
	if s.Where != "host" && s.Where != "" {
		said = "to the clipboard, for " + placeName(s.Where) + ": "
	}
	if placeholder.MatchString(s.Command) {
		said = "to the clipboard, fill in what is in <>: "
	}
	m.say(good, said+s.Command)
	if m.opts.Copy != nil {
		return m.opts.Copy(s.Command)
	}
	return tea.SetClipboard(s.Command)
}

// placeholder is what only the reader knows (knowledge.Step.Command).
var placeholder = regexp.MustCompile(`<[A-Za-z][A-Za-z0-9 _-]*>`)

// hostile reports whether text holds what a shell or terminal would act on
// when it is pasted. A here-document has line breaks; nothing needs others.
func hostile(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) || r == 0xfffd ||
			r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	})
}

// over draws the dialog over rows, in the middle of w by h cells.
func (d *dialog) over(t *theme, under []row, w, h int) []row {
	bw := min(w-4, 76)
	in := bw - 4
	text := []row{t.row(warning, "This step disrupts "+disrupted(d.step.Disrupts)+".")}
	text = append(text, t.lines(command, d.step.Command, in)...)
	if d.step.Changes != "" {
		text = append(text, t.lines(normal, "It changes: "+d.step.Changes, in)...)
	}
	if most := h - 4; len(text) > most {
		text = append(text[:most-1], t.row(dim, t.more))
	}
	keys := dim
	if d.armed {
		keys = strong
	}
	text = append(text, nil, row{t.text(keys, "y"), t.text(dim, " copy it    "), t.text(strong, "n"), t.text(dim, " leave it")})
	edge := row{{"+" + strings.Repeat("-", bw-2) + "+", warning}}
	side := span{"|", warning}
	if !t.ascii {
		edge = row{{"┌" + strings.Repeat("─", bw-2) + "┐", warning}}
		side = span{"│", warning}
	}
	box := []row{edge}
	for _, r := range text {
		box = append(box, append(append(row{side, space(1)}, t.fit(r, in)...), space(1), side))
	}
	if !t.ascii {
		edge = row{{"└" + strings.Repeat("─", bw-2) + "┘", warning}}
	}
	box = append(box, edge)
	out := make([]row, h)
	copy(out, under)
	x, y := (w-bw)/2, max((h-len(box))/2, 0)
	for i, b := range box {
		if y+i < h {
			out[y+i] = t.insert(t.fit(out[y+i], w), b, x, bw)
		}
	}
	return out
}

// insert puts part, n cells wide, into r at column x.
func (t *theme) insert(r, part row, x, n int) row {
	var left, right row
	at := 0
	for _, s := range r {
		sw := cells(s.text)
		if at < x {
			left = append(left, span{ansi.Truncate(s.text, x-at, ""), s.tone})
		}
		if at+sw > x+n {
			right = append(right, span{ansi.Cut(s.text, max(x+n-at, 0), sw), s.tone})
		}
		at += sw
	}
	out := append(t.fit(left, x), part...)
	return append(out, right...)
}
