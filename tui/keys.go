package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// keymap holds every key of the program. Help and footer are made from it, so
// that they cannot disagree with what the keys do.
type keymap struct {
	up, down, pageUp, pageDown, top, bottom key.Binding
	open, back, next, prev, ports           key.Binding
	copyFix, copyStep                       key.Binding
	unseen, filter, again, write            key.Binding
	help, quit, abort, suspend              key.Binding
	accept, clear                           key.Binding // while a filter is typed
	yes, no                                 key.Binding // in a dialog
}

func newKeymap() keymap {
	bind := func(help, desc string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, desc))
	}
	return keymap{
		up:       bind("k", "up", "up", "k"),
		down:     bind("j", "down", "down", "j"),
		pageUp:   bind("pgup", "page up", "pgup", "ctrl+b", "ctrl+u"),
		pageDown: bind("pgdn", "page down", "pgdown", "ctrl+f", "ctrl+d", "space"),
		top:      bind("g", "first", "home", "g"),
		bottom:   bind("G", "last", "end", "G"),
		open:     bind("enter", "open", "enter", "l", "right"),
		back:     bind("esc", "back", "esc", "h", "left", "backspace"),
		next:     bind("n", "next", "n"),
		prev:     bind("p", "previous", "p", "N"),
		ports:    bind("tab", "ports", "tab"),
		copyFix:  bind("y", "copy the fix", "y"),
		copyStep: bind("1-9", "copy step", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
		unseen:   bind("u", "gaps", "u"),
		filter:   bind("/", "filter", "/"),
		again:    bind("r", "run again", "r"),
		write:    bind("w", "write the report", "w"),
		help:     bind("?", "help", "?"),
		quit:     bind("q", "quit", "q"),
		abort:    bind("ctrl+c", "quit, whatever is open", "ctrl+c"),
		suspend:  bind("ctrl+z", "suspend", "ctrl+z"),
		accept:   bind("enter", "keep the filter", "enter"),
		clear:    bind("esc", "drop the filter", "esc"),
		yes:      bind("y", "copy it", "y", "enter"),
		no:       bind("n/esc", "leave it", "n", "esc", "q"),
	}
}

// on reports whether msg is the key of b, and b works now.
func on(msg tea.KeyPressMsg, b key.Binding) bool { return key.Matches(msg, b) }

// named is b with another description, for a screen where it means something
// more exact.
func named(b key.Binding, desc string) key.Binding {
	b.SetHelp(b.Help().Key, desc)
	return b
}

// when is b, switched off where ok is false.
func when(ok bool, b key.Binding) key.Binding {
	b.SetEnabled(ok)
	return b
}

// moves are the keys that move a cursor or a window.
func (k keymap) moves() []key.Binding {
	return []key.Binding{k.up, k.down, k.pageUp, k.pageDown, k.top, k.bottom}
}

// inline shows the key of b within a line: "[u]".
func (t *theme) inline(b key.Binding) row {
	return row{t.text(dim, "["), t.text(strong, b.Help().Key), t.text(dim, "]")}
}

// footer lists keys as far as they fit into w cells.
func (t *theme) footer(keys []key.Binding, w int) row {
	var r row
	for _, k := range keys {
		h := k.Help()
		if !k.Enabled() {
			continue
		}
		one := row{space(1), t.text(strong, h.Key), t.text(dim, " "+h.Desc), space(1)}
		if r.width()+one.width() > w {
			break
		}
		r = append(r, one...)
	}
	return r
}
