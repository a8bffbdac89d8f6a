package tui

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// key gives a key to whoever it is for: the dialog, a filter that is typed,
// the root, the screen.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice = span{}
	if on(msg, m.keys.abort) {
		if !m.exam.ended() {
			return tea.Interrupt // So that the exit code says so.
		}
		return tea.Quit
	}
	if m.dialog != nil {
		return m.answer(msg)
	}
	if l := m.top().list(); l != nil && l.typing {
		return m.top().update(msg)
	}
	_, helping := m.top().(*helpScreen)
	k := m.keys
	switch {
	case on(msg, k.suspend):
		return tea.Suspend
	case helping && (on(msg, k.quit) || on(msg, k.help)):
		m.pop()
	case on(msg, k.quit):
		return tea.Quit
	case on(msg, k.help):
		m.push(newHelp(m))
	case on(msg, k.again) && m.opts.Again != nil:
		return m.again()
	case on(msg, k.write) && m.opts.Write != nil:
		return m.write()
	case on(msg, k.unseen):
		if helping {
			m.pop()
		}
		if _, here := m.top().(*gapScreen); here {
			m.pop()
		} else {
			m.push(newGaps(m))
		}
	case on(msg, k.back) && !m.filtered():
		m.pop()
	default:
		return m.top().update(msg)
	}
	return nil
}

// filtered reports whether going back first drops a filter.
func (m *Model) filtered() bool {
	l := m.top().list()
	return l != nil && l.filter() != ""
}

// common are the keys that work on every screen.
func (m *Model) common() []key.Binding {
	k := m.keys
	if _, here := m.top().(*gapScreen); here {
		k.unseen = named(k.unseen, "back")
	}
	return []key.Binding{
		k.unseen,
		when(m.opts.Again != nil && m.idle, k.again),
		when(m.opts.Write != nil && m.exam.ended(), k.write),
		when(len(m.stack) > 1, k.back),
		k.help, k.quit, k.abort, k.suspend,
	}
}

// footerKeys are what the last line shows: help and the way out stand first,
// since they must not be cut off.
func (m *Model) footerKeys() []key.Binding {
	k := m.keys
	if m.dialog != nil {
		return []key.Binding{k.yes, k.no}
	}
	if l := m.top().list(); l != nil && l.typing {
		return []key.Binding{k.accept, k.clear}
	}
	if _, helping := m.top().(*helpScreen); helping {
		return append(m.top().keys(), k.moves()...)
	}
	first := []key.Binding{k.help, when(len(m.stack) > 1, k.back)}
	if len(m.stack) == 1 {
		first = append(first, k.quit)
	}
	return slices.Concat(first, m.top().keys(), m.common()[:3])
}

// again starts another run. What was found before leaves the screen at once,
// so that nobody takes it for the new run's.
func (m *Model) again() tea.Cmd {
	if !m.idle {
		m.say(warning, "a run is under way")
		return nil
	}
	ctx, again, feed := m.ctx, m.opts.Again, m.feed
	m.exam, m.idle = &exam{}, false
	return tea.Batch(m.tick(), func() tea.Msg {
		err := again(ctx)
		if feed != nil {
			feed.End(err) // A closed feed has nobody to tell.
		}
		return nil
	})
}

// written is what became of a report.
type written struct {
	path string
	err  error
}

func (m *Model) write() tea.Cmd {
	if !m.exam.ended() || len(m.exam.stream) == 0 {
		m.say(warning, "the report can be written when the run is over")
		return nil
	}
	ctx, write, stream := m.ctx, m.opts.Write, slices.Clone(m.exam.stream)
	m.say(dim, "writing the report...")
	return func() tea.Msg {
		path, err := write(ctx, stream)
		return written{path, err}
	}
}

func (m *Model) written(w written) {
	if w.err != nil {
		m.say(bad, "the report was not written: "+w.err.Error())
		return
	}
	m.say(good, "the report is in "+w.path)
}
