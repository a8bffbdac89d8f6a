package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// scroll is a window on rows. It is clamped when it is drawn, since only then
// the size is known.
type scroll struct {
	offset int
	height int // when last drawn
	total  int // when last drawn
}

// update moves the window and reports whether msg was a key for it.
func (s *scroll) update(msg tea.KeyPressMsg, k keymap) bool {
	switch {
	case on(msg, k.up):
		s.offset--
	case on(msg, k.down):
		s.offset++
	case on(msg, k.pageUp):
		s.offset -= max(s.height-1, 1)
	case on(msg, k.pageDown):
		s.offset += max(s.height-1, 1)
	case on(msg, k.top):
		s.offset = 0
	case on(msg, k.bottom):
		s.offset = s.total
	default:
		return false
	}
	s.clamp()
	return true
}

func (s *scroll) clamp() { s.offset = max(0, min(s.offset, s.total-s.height)) }

// view is the part of rows in the window of h rows.
func (s *scroll) view(rows []row, h int) []row {
	s.height, s.total = h, len(rows)
	s.clamp()
	return rows[s.offset:min(s.offset+h, len(rows))]
}

// show moves the window so that row i is in it.
func (s *scroll) show(i int) {
	s.offset = max(min(s.offset, i), i-s.height+1)
	s.clamp()
}

// where says which part is seen, or nothing where all of it is.
func (s *scroll) where(t *theme) string {
	if s.total <= s.height {
		return ""
	}
	return fmt.Sprintf("%d-%d of %d %s%s", s.offset+1, min(s.offset+s.height, s.total), s.total,
		pick(s.offset > 0, t.above, " "), pick(s.offset+s.height < s.total, t.below, " "))
}

func pick(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}
