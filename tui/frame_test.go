package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

func size(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }

// shown returns a model of w by h cells that has seen the messages.
func shown(ms []report.Message, w, h int, opts Options) *Model {
	m := New(opts)
	m.doc = func(string) string { return "It matters." }
	m.Update(size(w, h))
	feed(m, ms)
	return m
}

// lines are those of the frame, as they go to the terminal. The test fails
// where the frame is not exactly as large as the screen.
func lines(t testing.TB, m *Model) []string {
	t.Helper()
	ls := strings.Split(m.View().Content, "\n")
	if len(ls) != m.h {
		t.Fatalf("%dx%d: a frame of %d lines", m.w, m.h, len(ls))
	}
	for i, l := range ls {
		if n := ansi.StringWidth(l); n != m.w {
			t.Fatalf("%dx%d: line %d is %d cells wide: %q", m.w, m.h, i+1, n, ansi.Strip(l))
		}
	}
	return ls
}

func text(t testing.TB, m *Model) string {
	t.Helper()
	return ansi.Strip(strings.Join(lines(t, m), "\n"))
}

// routes are keys that lead to each screen.
var routes = map[string][]string{
	"home":        nil,
	"second card": {"n"},
	"diagnosis":   {"enter"},
	"layer":       {"down", "down", "down", "down", "down", "enter"},
	"check":       {"down", "down", "down", "down", "down", "enter", "enter"},
	"all checks":  {"/", "p", "enter"},
	"typing":      {"/", "p", "c", "i"},
	"ports":       {"tab"},
	"port":        {"tab", "down", "down", "enter"},
	"gaps":        {"u"},
	"help":        {"?"},
	"dialog":      {"2"},
	"bottom":      {"enter", "end"},
}

func TestEverySizeOnTheFirstScreen(t *testing.T) {
	for name := range streams {
		dw, dh := 9, 7
		if !testing.Short() && (name == "sick" || name == "many" || name == "hostile") {
			dw, dh = 1, 1
		}
		m := shown(load(t, name), 60, 16, Options{})
		frames := 0
		for w := 60; w <= 200; w += dw {
			for h := 16; h <= 60; h += dh {
				m.Update(size(w, h))
				lines(t, m)
				frames++
			}
		}
		if want := (140/dw + 1) * (44/dh + 1); frames != want {
			t.Errorf("%s: %d frames, want %d", name, frames, want)
		}
	}
}

func TestEverySizeOnEveryScreen(t *testing.T) {
	for name := range streams {
		ms := load(t, name)
		for route, keys := range routes {
			for _, opts := range []Options{{}, {ASCII: true}} {
				m := shown(ms, 60, 16, opts)
				press(m, keys...)
				for _, s := range [][2]int{{60, 16}, {61, 19}, {79, 20}, {80, 24}, {81, 25}, {99, 30}, {120, 40}, {160, 50}, {200, 60}} {
					m.Update(size(s[0], s[1]))
					for _, l := range lines(t, m) {
						if opts.ASCII && !plain(ansi.Strip(l)) {
							t.Fatalf("%s, %s: not ASCII: %q", name, route, ansi.Strip(l))
						}
					}
				}
			}
		}
	}
}

// TestTooSmall asks for one line that says so, at any size.
func TestTooSmall(t *testing.T) {
	ms := load(t, "sick")
	for _, s := range [][2]int{{1, 1}, {5, 2}, {59, 16}, {60, 15}, {200, 3}} {
		m := shown(ms, s[0], s[1], Options{})
		want := fmt.Sprintf("%dx%d is too small; 60x16 is the least", s[0], s[1])
		first, _, _ := strings.Cut(text(t, m), "\n")
		if s[0] >= len(want) && strings.TrimSpace(first) != want {
			t.Errorf("%v: %q, want %q", s, first, want)
		}
	}
	if v := shown(ms, 0, 0, Options{}).View(); v.Content != "" {
		t.Errorf("no size: %q, want nothing", v.Content)
	}
}

// TestHostile asks that nothing of a report reaches the terminal but text:
// no sequence other than the program's own colours.
func TestHostile(t *testing.T) {
	ms := load(t, "hostile")
	for route, keys := range routes {
		m := shown(ms, 100, 30, Options{From: "a" + poison})
		press(m, keys...)
		for _, l := range lines(t, m) {
			if bad := foreign(l); bad != "" {
				t.Errorf("%s: %q in %q", route, bad, l)
			}
		}
		if title := m.View().WindowTitle; !plain(title) {
			t.Errorf("window title %q", title)
		}
	}
}

// ours are the attributes that the themes use.
var ours = []string{"1", "2", "7", "31", "32", "33", "34", "35", "36", "91", "92", "93", "94", "95", "96", "0", ""}

// foreign returns what is in a line that this program does not write itself.
func foreign(l string) string {
	var state byte
	for len(l) > 0 {
		seq, w, n, next := ansi.DecodeSequence(l, state, nil)
		state = next
		switch {
		case w > 0 || unicode.In(first(seq), unicode.Mn):
			if clean(seq, false) != seq && !unicode.In(first(seq), unicode.Mn) {
				return seq
			}
		case strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m"):
			for _, p := range strings.Split(seq[2:len(seq)-1], ";") {
				if !slices.Contains(ours, p) {
					return seq
				}
			}
		default:
			return seq
		}
		l = l[n:]
	}
	return ""
}

func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func TestForeignSeesPoison(t *testing.T) {
	for _, s := range []string{"\x1b[2J", "\x1b]0;x\x07", "\x1b[5m", "\x07", "\u0085", "a\u202eb"} {
		if foreign("text "+s) == "" {
			t.Errorf("%q goes unseen, so that TestHostile could not fail", s)
		}
	}
}
