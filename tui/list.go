package tui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// entry is one line of a list.
type entry struct {
	id    string          // stays the same when the list is made anew
	match string          // what a filter looks in
	row   func(w int) row // how it is drawn
	open  func() screen   // nil: it cannot be opened
	head  bool            // a heading: not chosen, shown while one of its own is
}

// list is a cursor and a filter over entries, which are made anew for each
// frame: the cursor stays on its entry while others come and go.
type list struct {
	scroll
	chosen string
	at     int
	typing bool
	input  textinput.Model
}

func newList() list {
	in := textinput.New()
	in.CharLimit = 40 // Fits the narrowest screen.
	return list{input: in}
}

func (l *list) filter() string { return l.input.Value() }

// shown are the entries that the filter keeps: those that hold every word of
// it, with the headings above them.
func (l *list) shown(all []entry) []entry {
	words := strings.Fields(strings.ToLower(l.filter()))
	if len(words) == 0 {
		return all
	}
	var out []entry
	var head *entry
next:
	for i := range all {
		e := all[i]
		if e.head {
			head = &all[i]
			continue
		}
		text := strings.ToLower(e.match)
		for _, w := range words {
			if !strings.Contains(text, w) {
				continue next
			}
		}
		if head != nil {
			out, head = append(out, *head), nil
		}
		out = append(out, e)
	}
	return out
}

// find puts the cursor back on its entry, or on the nearest that can be chosen.
func (l *list) find(es []entry) int {
	if l.at < len(es) && es[l.at].id == l.chosen && !es[l.at].head {
		return l.at // Also where a hostile report has an ID twice.
	}
	for i, e := range es {
		if e.id == l.chosen && !e.head {
			l.at = i
			return i
		}
	}
	l.at = max(0, min(l.at, len(es)-1))
	l.step(es, 0)
	return l.at
}

// step moves the cursor by n and on, away from a heading.
func (l *list) step(es []entry, n int) {
	if len(es) == 0 {
		l.chosen = ""
		return
	}
	at := max(0, min(l.at+n, len(es)-1))
	for _, dir := range []int{pickInt(n < 0, -1, 1), pickInt(n < 0, 1, -1)} {
		for i := at; i >= 0 && i < len(es); i += dir {
			if !es[i].head {
				l.at, l.chosen = i, es[i].id
				return
			}
		}
	}
}

func pickInt(ok bool, yes, no int) int {
	if ok {
		return yes
	}
	return no
}

// current is the entry under the cursor, or nil.
func (l *list) current(all []entry) *entry {
	es := l.shown(all)
	if len(es) == 0 {
		return nil
	}
	if i := l.find(es); !es[i].head {
		return &es[i]
	}
	return nil
}

// update takes a key and reports whether it was one for the list.
func (l *list) update(msg tea.KeyPressMsg, k keymap, all []entry) bool {
	if l.typing {
		switch {
		case on(msg, k.accept):
			l.stop()
		case on(msg, k.clear):
			l.input.SetValue("")
			l.stop()
		default:
			l.input, _ = l.input.Update(msg)
		}
		return true
	}
	es := l.shown(all)
	l.find(es)
	switch {
	case on(msg, k.filter):
		l.typing = true
		l.input.Focus()
	case on(msg, k.back) && l.filter() != "":
		l.input.SetValue("")
	case on(msg, k.up):
		l.step(es, -1)
	case on(msg, k.down):
		l.step(es, 1)
	case on(msg, k.pageUp):
		l.step(es, -max(l.height-1, 1))
	case on(msg, k.pageDown):
		l.step(es, max(l.height-1, 1))
	case on(msg, k.top):
		l.step(es, -len(es))
	case on(msg, k.bottom):
		l.step(es, len(es))
	default:
		return false
	}
	return true
}

func (l *list) stop() {
	l.typing = false
	l.input.Blur()
}

// view draws the entries that are seen, exactly as many rows as it needs.
func (l *list) view(t *theme, all []entry, w, h int) []row {
	es := l.shown(all)
	at := l.find(es)
	l.height, l.total = h, len(es)
	l.show(at)
	if at == 1 && es[0].head {
		l.offset = 0 // The heading above the first entry is seen too.
	}
	var rows []row
	for i := l.offset; i < min(l.offset+h, len(es)); i++ {
		r := es[i].row(w)
		if i == at && !es[i].head {
			r = t.choose(r, w)
		}
		rows = append(rows, r)
	}
	if len(es) == 0 && len(all) > 0 {
		rows = append(rows, row{space(1), t.text(dim, "nothing matches "+l.filter())})
	}
	return rows
}

// prompt is the line that a filter is typed on, or what it holds.
func (l *list) prompt(t *theme) row {
	switch {
	case l.typing:
		return row{space(1), t.text(strong, "/"), t.text(normal, l.filter())}
	case l.filter() != "":
		return row{space(1), t.text(dim, "filter "), t.text(strong, l.filter()), t.text(dim, "  esc drops it")}
	}
	return nil
}

// cursor is the column of the text cursor while a filter is typed, else -1.
func (l *list) cursor(t *theme) int {
	if !l.typing {
		return -1
	}
	before := []rune(l.filter())[:l.input.Position()]
	return 2 + row{t.text(normal, string(before))}.width()
}
