package tui

import (
	"image/color"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// struck are keys that a random walk presses.
var struck = []string{"up", "down", "left", "right", "enter", "esc", "tab", "home", "end", "pgup", "pgdown", "space", "backspace",
	"y", "n", "p", "u", "r", "w", "/", "?", "1", "2", "9", "g", "G", "h", "j", "k", "l", "q", "x", "ctrl+z", "ctrl+u", "漢"}

// FuzzModel presses keys, changes sizes and mixes messages of several runs in
// any order, and asks for a frame of the right size each time.
func FuzzModel(f *testing.F) {
	var pool []report.Message
	for _, name := range []string{"sick", "hostile", "nordma", "infiniband", "interrupted", "failed"} {
		pool = append(pool, load(f, name)...)
	}
	f.Add([]byte("start\x00\x01\x02\x03\x04\x05"))
	f.Add([]byte{0, 80, 24, 1, 0, 1, 4, 2, 4, 1, 4, 3, 2, 19, 2, 20, 1, 200, 2, 4})
	f.Add([]byte{0, 0, 0, 0, 255, 255, 1, 30, 1, 31, 1, 32, 2, 17, 3, 2, 18, 2, 19, 4, 5})
	f.Fuzz(func(t *testing.T, script []byte) {
		m := New(everything())
		m.Update(size(80, 24))
		for len(script) >= 3 {
			op, a, b := script[0], int(script[1]), int(script[2])
			script = script[3:]
			switch op % 6 {
			case 0:
				m.Update(size(a*2, b))
			case 1:
				m.Update(batch{items: []item{{msg: pool[(a*256+b)%len(pool)]}}})
			case 2, 3:
				m.Update(stroke(struck[a%len(struck)]))
				m.Update(stroke(struck[b%len(struck)]))
			case 4:
				m.Update(batch{items: []item{{end: true}}})
				m.Update(ticked{})
				m.Update(armed{m.dialog})
			case 5:
				m.Update(tea.BackgroundColorMsg{Color: color.Gray{uint8(a)}})
				m.Update(tea.PasteMsg{Content: poison})
				m.Update(written{path: "x"})
			}
			if m.w > 0 && m.h > 0 {
				lines(t, m)
			}
		}
	})
}
