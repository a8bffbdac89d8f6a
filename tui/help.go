package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// helpWidth fits the keys of the binding that has most.
const helpWidth = 20

// longer says more than the footer has room for, by the footer's words.
var longer = map[string]string{
	"gaps":             "what could not be looked at, and why",
	"why":              "the diagnosis: cause, fix, evidence",
	"copy the fix":     "copy the first command of the fix (by OSC 52; tmux needs set-clipboard on)",
	"copy step":        "copy the command of that step of the fix",
	"ports":            "all ports: device, netdev, PCI, rate, MTU, GID",
	"find a check":     "find a check by name, code, subject or status",
	"filter":           "show only lines with these words",
	"run again":        "examine this host again",
	"write the report": "write the report of this run to a file",
}

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
	add := func(keys []key.Binding) {
		for _, b := range keys {
			if !b.Enabled() {
				continue
			}
			names := strings.Join(b.Keys(), " ")
			if len(names) > helpWidth {
				names = b.Help().Key
			}
			what := b.Help().Desc
			if l := longer[what]; l != "" {
				what = l
			}
			head := row{space(3), t.text(accent, pad(names, helpWidth+2))}
			for _, l := range t.lines(normal, what, w-helpWidth-6) {
				rows, head = append(rows, append(head, l...)), row{space(helpWidth + 5)}
			}
		}
	}
	add(s.own)
	add(s.m.keys.moves())
	rows = append(rows, nil, row{space(1), t.text(strong, "Everywhere")})
	add(s.common)
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
		head := append(row{space(3)}, t.fit(row{g.mark}, 7)...)
		for _, l := range t.lines(normal, g.what, w-11) {
			rows, head = append(rows, append(head, l...)), row{space(10)}
		}
	}
	return s.window.view(rows, h)
}

func (s *helpScreen) title() row { return s.m.theme.row(strong, "help") }

func (s *helpScreen) status() (left, right row) {
	return nil, s.m.theme.row(dim, s.window.where(s.m.theme))
}

func (s *helpScreen) keys() []key.Binding {
	k := s.m.keys
	return []key.Binding{named(k.help, "close"), named(k.quit, "close")}
}

func (s *helpScreen) list() *list { return nil }
