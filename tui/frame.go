package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// The smallest screen that frames are laid out for.
const (
	minWidth  = 60
	minHeight = 16
)

// View draws the frame, or gives the one it has while nothing changed.
func (m *Model) View() tea.View {
	if !m.drawn {
		m.view, m.drawn = m.draw(), true
	}
	return m.view
}

func (m *Model) draw() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.WindowTitle = m.windowTitle()
	if m.w < 1 || m.h < 1 {
		return v
	}
	rows, cursor := m.rows()
	if cursor >= 0 {
		v.Cursor = tea.NewCursor(min(cursor, m.w-1), m.h-2)
		v.Cursor.Blink = false
	}
	lines := make([]string, m.h)
	for i := range lines {
		var r row
		if i < len(rows) {
			r = rows[i]
		}
		lines[i] = m.theme.paint(m.theme.fit(r, m.w))
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// rows lays the frame out and tells the column of the text cursor, which is on
// the line above the last, or -1.
func (m *Model) rows() ([]row, int) {
	t := m.theme
	if m.w < minWidth || m.h < minHeight {
		small := fmt.Sprintf("%dx%d is too small; %dx%d is the least", m.w, m.h, minWidth, minHeight)
		return []row{t.row(warning, small)}, -1
	}
	top := m.top()
	rows := []row{m.header(), t.rule(m.w, top.title())}
	body := m.h - 4
	roomy := m.h >= 20
	if roomy {
		body--
	}
	inner := top.view(m.w, body)
	if m.dialog != nil {
		inner = m.dialog.over(t, inner, m.w, body)
	}
	for i := range body {
		if i < len(inner) {
			rows = append(rows, inner[i])
		} else {
			rows = append(rows, nil)
		}
	}
	if roomy {
		rows = append(rows, t.rule(m.w, nil))
	}
	cursor := -1
	left, right := top.status()
	if l := top.list(); l != nil {
		if p := l.prompt(t); p != nil {
			left = p
		}
		cursor = l.cursor(t)
	}
	if m.notice.text != "" {
		left = row{space(1), m.notice}
	}
	rows = append(rows, t.ends(left, append(right, space(1)), m.w))
	return append(rows, t.footer(m.footerKeys(), m.w)), cursor
}

// header says which host this is, what it has, and where the run stands.
func (m *Model) header() row {
	t, e := m.theme, m.exam
	left := row{space(1), t.text(strong, "rdmadoctor")}
	if e.run != nil {
		left = append(left, space(2), t.text(accent, e.run.Host))
	}
	if from := m.origin(); from != "" {
		left = append(left, space(2), t.text(unsure, from))
	}
	if ts := e.transports(); ts != nil {
		left = append(left, space(2), t.text(normal, strings.Join(ts, t.dot)))
	}
	return t.ends(left, append(m.progress(), space(1)), m.w)
}

// origin says what is shown where it is not this host now.
func (m *Model) origin() string {
	var parts []string
	if m.opts.From != "" {
		// The end of a path says more than its beginning.
		parts = append(parts, "from "+m.opts.From[strings.LastIndexByte(m.opts.From, '/')+1:])
	}
	if r := m.exam.run; r != nil && (r.Origin != "live" || m.opts.From != "") {
		if r.Origin != "live" && r.Origin != "" {
			parts = append(parts, r.Origin)
		}
		if !r.Started.IsZero() {
			parts = append(parts, r.Started.Format("2006-01-02 15:04 MST"))
		}
	}
	return strings.Join(parts, " ")
}

// progress is the state of the run in a word, with how long it took.
func (m *Model) progress() row {
	t, e := m.theme, m.exam
	switch e.state() {
	case waiting:
		return row{t.text(accent, m.busy()+" starting")}
	case running:
		return row{t.text(accent, m.busy()+" running")}
	case interrupted:
		return append(m.took(), t.text(warning, t.warn+" interrupted"))
	case failed:
		if e.err != nil && e.err.Kind == report.TimeoutError {
			return append(m.took(), t.text(warning, t.warn+" timed out"))
		}
		return append(m.took(), t.text(bad, t.fail+" error"))
	case cut:
		return row{t.text(warning, t.warn+" cut short")}
	}
	return append(m.took(), t.text(good, t.pass+" done"))
}

func (m *Model) busy() string { return m.theme.busy[m.frame%len(m.theme.busy)] }

func (m *Model) took() row {
	s := m.exam.summary
	if s == nil || s.DurationSeconds <= 0 {
		return nil
	}
	return row{m.theme.text(dim, strconv.FormatFloat(s.DurationSeconds, 'f', 1, 64)+" s"), space(2)}
}

func (m *Model) windowTitle() string {
	title := "rdmadoctor"
	if r := m.exam.run; r != nil {
		title += " " + clean(r.Host, true)
	}
	return title
}
