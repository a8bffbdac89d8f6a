package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// helpScreen lists the keys of the screen beneath, those that work everywhere,
// and what the signs mean.
type helpScreen struct {
	m      *Model
	window scroll
	own    []key.Binding
	common []key.Binding
}

func newHelp(m *Model) *helpScreen {
	return &helpScreen{m: m, own: m.top().keys(), common: m.common()}
}

func (s *helpScreen) update(msg tea.KeyPressMsg) tea.Cmd {
	s.window.update(msg, s.m.keys)
	return nil
}

func (s *helpScreen) view(w, h int) []row {
	t := s.m.theme
	rows := []row{{space(1), t.text(strong, "On this screen")}}
	seen := map[string]bool{}
	add := func(keys []key.Binding) {
		for _, b := range keys {
			if h := b.Help(); b.Enabled() && !seen[h.Key] {
				seen[h.Key] = true
				rows = append(rows, row{space(3), t.text(accent, pad(h.Key, 14)), t.text(normal, h.Desc)})
			}
		}
	}
	add(s.own)
	rows = append(rows, nil, row{space(1), t.text(strong, "Everywhere")})
	add(s.common)
	rows = append(rows, row{space(3), t.text(accent, pad("ctrl+c", 14)), t.text(normal, "quit at once")})
	rows = append(rows, nil, row{space(1), t.text(strong, "Signs")})
	for _, g := range []struct {
		mark span
		what string
	}{
		{span{t.pass, good}, "passed, or a port that is ACTIVE"},
		{span{t.warn, warning}, "a warning"},
		{span{t.fail, bad}, "a failure"},
		{span{t.unknown, unsure}, "wanted to look and could not"},
		{span{t.skip, dim}, "skipped: nothing here to examine, or another check stands in the way"},
		{span{t.info, accent}, "unusual, without harm shown"},
		{span{"idle", dim}, "too little traffic between the samples to judge"},
		{span{"v2#3", normal}, "GID in use: RoCE v2 at index 3; v1 is RoCE v1, ll is link-local only"},
	} {
		rows = append(rows, append(append(row{space(3)}, t.fit(row{g.mark}, 14)...), t.text(normal, g.what)))
	}
	return s.window.view(rows, h)
}

func (s *helpScreen) title() row { return s.m.theme.row(strong, "help") }

func (s *helpScreen) status() (left, right row) {
	return nil, s.m.theme.row(dim, s.window.where(s.m.theme))
}

func (s *helpScreen) keys() []key.Binding {
	k := s.m.keys
	return []key.Binding{named(k.help, "close"), named(k.quit, "close"), named(k.up, "scroll"), k.pageUp, k.top}
}

func (s *helpScreen) list() *list { return nil }
