package tui

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// home is the first screen: the answer, the layers as a ladder, the ports.
type home struct {
	m *Model
	// chosen is the layer under the cursor; zero is the card.
	chosen checks.Layer
	card   int
	window scroll
}

func newHome(m *Model) *home { return &home{m: m} }

// current is the card that is shown, and how many there are.
func (s *home) current() (card, int) {
	cs := s.m.cards()
	s.card = max(0, min(s.card, len(cs)-1))
	return cs[s.card], len(cs)
}

func (s *home) update(msg tea.KeyPressMsg) tea.Cmd {
	k := s.m.keys
	c, n := s.current()
	switch {
	case on(msg, k.down):
		s.move(1)
	case on(msg, k.up):
		s.move(-1)
	case on(msg, k.pageUp), on(msg, k.top):
		s.chosen = 0
	case on(msg, k.pageDown), on(msg, k.bottom):
		s.move(len(s.m.exam.ladder()))
	case on(msg, k.next):
		s.card, s.chosen = (s.card+1)%n, 0
	case on(msg, k.prev):
		s.card, s.chosen = (s.card+n-1)%n, 0
	case on(msg, k.ports):
		s.m.push(newPortMap(s.m))
	case on(msg, k.filter):
		all := newCheckList(s.m, 0)
		all.update(msg)
		s.m.push(all)
	case on(msg, k.copyFix):
		return s.m.copyFirst(c.steps)
	case on(msg, k.copyStep):
		return s.m.copyNth(c.steps, msg)
	case on(msg, k.open) && s.chosen != 0:
		s.m.push(newCheckList(s.m, s.chosen))
	case on(msg, k.open):
		s.open(c)
	}
	return nil
}

// move takes the cursor along the card and the layers.
func (s *home) move(by int) {
	ts := s.m.exam.ladder()
	at := 0
	for i, t := range ts {
		if t.layer == s.chosen {
			at = i + 1
		}
	}
	at = max(0, min(at+by, len(ts)))
	s.chosen = 0
	if at > 0 {
		s.chosen = ts[at-1].layer
	}
}

func (s *home) open(c card) {
	switch {
	case c.diag != nil:
		s.m.push(newDiagnosis(s.m, c.diag))
	case len(s.m.exam.results) > 0:
		s.m.push(newCheckList(s.m, 0))
	}
}

func (s *home) list() *list { return nil }
func (s *home) title() row  { return nil }

func (s *home) keys() []key.Binding {
	k := s.m.keys
	c, n := s.current()
	_, fix := firstCommand(c.steps)
	opens := "checks"
	if s.chosen == 0 && c.diag != nil {
		opens = "why"
	}
	return []key.Binding{
		named(k.open, opens),
		when(fix, k.copyFix),
		when(n > 1, named(k.next, "next diagnosis")),
		k.ports,
		named(k.filter, "find a check"),
		when(len(c.steps) > 1, k.copyStep),
		when(n > 1, k.prev),
	}
}

// status names the next card, so that a second trouble is not missed.
func (s *home) status() (left, right row) {
	t, cs := s.m.theme, s.m.cards()
	_, n := s.current()
	if n < 2 {
		return nil, nil
	}
	next := cs[(s.card+1)%n]
	left = row{t.text(dim, " next "), next.mark, space(1), t.text(normal, next.title)}
	return left, append(row{t.text(dim, fmt.Sprintf("%d of %d ", s.card+1, n))}, t.inline(s.m.keys.next)...)
}

// Heights of the first screen's parts.
const (
	cardLeast   = 4
	cardMost    = 9
	previewMin  = 6  // with its rule
	besideWidth = 80 // from here on the ports stand beside the ladder
)

func (s *home) view(w, h int) []row {
	t := s.m.theme
	ladder := s.m.exam.ladder()
	cardH := max(cardLeast, min(h-len(ladder)-1, cardMost))
	c, _ := s.current()
	rows := c.draw(t, w, cardH, s.chosen == 0)
	rest := h - len(rows) - 1
	mid := min(len(ladder), rest)
	rows = append(rows, s.rule(w, len(ladder)-mid))
	var side []row
	lw := w
	if w >= besideWidth {
		lw = max(29, w/4)
		if need := len(s.m.exam.ports()) + 1; need > mid {
			mid = min(need, max(mid, rest-previewMin))
		}
		side = s.side(w-lw-2, mid)
	}
	left := s.ladder(ladder, lw, mid)
	for i := range mid {
		var r row
		if i < len(left) {
			r = left[i]
		}
		if lw < w {
			r = append(t.fit(r, lw), span{t.down, dim}, space(1))
			if i < len(side) {
				r = append(r, side[i]...)
			}
		}
		rows = append(rows, r)
	}
	if left := h - len(rows); left >= previewMin {
		rows = append(rows, s.preview(c, w, left)...)
	}
	return rows
}

// rule parts the answer from the layers and says what is not on the screen:
// hidden layers, and what could not be looked at.
func (s *home) rule(w, hidden int) row {
	t := s.m.theme
	r := row{t.text(dim, "layers")}
	if hidden > 0 {
		r = append(r, t.text(dim, fmt.Sprintf("%s%d more %s", t.dot, hidden, t.below)))
	}
	var unseen []string
	unknown, gaps := s.m.exam.unseen()
	if unknown > 0 {
		unseen = append(unseen, strconv.Itoa(unknown)+pick(w < besideWidth, " unseen", " could not be looked at"))
	}
	if gaps > 0 && (w >= besideWidth || unknown == 0) {
		unseen = append(unseen, plural(gaps, "gap"))
	}
	if len(unseen) > 0 {
		r = append(r, t.text(dim, t.dot), span{t.unknown + " ", unsure}, t.text(normal, strings.Join(unseen, ", ")), space(1))
		r = append(r, t.inline(s.m.keys.unseen)...)
	}
	if w < besideWidth {
		r = append(append(r, t.text(dim, t.dot+"ports ")), t.inline(s.m.keys.ports)...)
	}
	return t.rule(w, r)
}

// ladder draws the layers, with the one under the cursor in sight.
func (s *home) ladder(ts []tally, w, h int) []row {
	t := s.m.theme
	var rows []row
	at := 0
	for i, l := range ts {
		name := fmt.Sprintf("%-11s ", l.layer)
		here := l.layer == s.chosen
		r := row{t.text(strong, pick(here, t.cursor, " ")), space(1), t.text(normal, name)}
		r = append(r, l.counts(t, s.m.exam.ended())...)
		if here {
			r, at = t.choose(r, w), i
		}
		rows = append(rows, r)
	}
	s.window.height, s.window.total = h, len(rows)
	s.window.show(at)
	return s.window.view(rows, h)
}
