package tui

import (
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// golden compares text with a file of testdata, or writes it with -update.
func golden(t *testing.T, name, have string) {
	t.Helper()
	path := filepath.Join("testdata", "frames", name+".golden")
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(have), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if have != string(want) {
		t.Errorf("the frame is not that of %s (go test -update ./tui writes it anew):\n%s\nwant:\n%s", path, have, want)
	}
}

// unpadded leaves out the blanks at the ends of lines, which editors eat.
func unpadded(frame string) string {
	ls := strings.Split(frame, "\n")
	for i := range ls {
		ls[i] = strings.TrimRight(ls[i], " ")
	}
	return strings.Join(ls, "\n") + "\n"
}

func TestFrames(t *testing.T) {
	cases := []struct{ stream, route string }{
		{"sick", "home"}, {"sick", "second card"}, {"sick", "diagnosis"}, {"sick", "layer"}, {"sick", "check"},
		{"sick", "all checks"}, {"sick", "typing"}, {"sick", "ports"}, {"sick", "port"}, {"sick", "gaps"},
		{"sick", "help"}, {"sick", "dialog"}, {"sick", "bottom"},
		{"spotless", "home"}, {"spotless", "gaps"}, {"healthy", "home"}, {"running", "home"}, {"running", "layer"}, {"waiting", "home"}, {"waiting", "ports"}, {"waiting", "gaps"},
		{"interrupted", "home"}, {"failed", "home"}, {"failed", "ports"}, {"nordma", "home"}, {"timeout", "home"}, {"timeout", "ports"}, {"nordma", "ports"},
		{"many", "home"}, {"many", "ports"}, {"infiniband", "home"}, {"infiniband", "ports"}, {"hostile", "home"}, {"hostile", "diagnosis"},
	}
	for _, c := range cases {
		for _, s := range [][2]int{{80, 24}, {120, 40}} {
			m := shown(load(t, c.stream), s[0], s[1], everything())
			press(m, routes[c.route]...)
			name := fmt.Sprintf("%s-%s-%dx%d", c.stream, strings.ReplaceAll(c.route, " ", "-"), s[0], s[1])
			golden(t, name, unpadded(text(t, m)))
		}
	}
}

func TestFramesSmall(t *testing.T) {
	for _, stream := range []string{"sick", "healthy", "nordma", "many"} {
		m := shown(load(t, stream), 60, 16, everything())
		golden(t, stream+"-home-60x16", unpadded(text(t, m)))
	}
}

func TestFrameASCII(t *testing.T) {
	opts := everything()
	opts.ASCII = true
	golden(t, "sick-home-ascii-80x24", unpadded(text(t, shown(load(t, "sick"), 80, 24, opts))))
}

// TestFrameColour keeps the colours for a dark, a light and an untold
// background.
func TestFrameColour(t *testing.T) {
	for name, c := range map[string]color.Color{"dark": color.Black, "light": color.White, "untold": nil} {
		m := shown(load(t, "sick"), 80, 24, everything())
		if c != nil {
			m.Update(tea.BackgroundColorMsg{Color: c})
		}
		golden(t, "sick-home-colour-"+name+"-80x24", strings.ReplaceAll(strings.Join(lines(t, m), "\n"), "\x1b", "^[")+"\n")
	}
}
