package tui

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ in, want, ascii string }{
		{"", "", ""},
		{"ens1f0np0", "ens1f0np0", "ens1f0np0"},
		{"a\nb\tc\r\nd", "a b c d", "a b c d"},
		{"bar\rfoo", `bar\x0dfoo`, `bar\x0dfoo`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred\x1b[0m`},
		{"\x9b31m\xff", `\x9b31m\xff`, `\x9b31m\xff`},
		{"\u009b31m", `\x9b31m`, `\x9b31m`},
		{"\u202eabc", `\u202eabc`, `\u202eabc`},
		{"\U000e0101", `\U000e0101`, `\U000e0101`},
		{"a → b · c", "a → b · c", "a -> b * c"},
		{"Ωnode", "Ωnode", `\u03a9node`},
		{"漢字", "漢字", `\u6f22\u5b57`},
		{"e\u0301", "e\u0301", `e\u0301`},
		{"e\u0301\u0301\u0301", "e\u0301\u0301" + `\u0301`, `e\u0301\u0301\u0301`},
		{"\u0301", `\u0301`, `\u0301`},
		{"a\u00a0b", "a b", "a b"},
	} {
		if got := clean(c.in, false); got != c.want {
			t.Errorf("clean(%q) = %q, want %q", c.in, got, c.want)
		}
		if got := clean(c.in, true); got != c.ascii {
			t.Errorf("clean(%q) in ASCII = %q, want %q", c.in, got, c.ascii)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "mlx5_0", poison, "\x1b", "\xc3", "a\u0301\u0301\u0301\u0301", "漢字 wraps here", strings.Repeat("x", 300)} {
		f.Add(s, 20)
	}
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = 1 + abs(w)%120
		for _, ascii := range []bool{false, true} {
			c := clean(s, ascii)
			if !utf8.ValidString(c) || foreign(c) != "" || ascii && !plain(c) {
				t.Fatalf("clean(%q, %v) = %q", s, ascii, c)
			}
			if again := clean(c, ascii); again != c {
				t.Fatalf("clean(%q) is cleaned again to %q", c, again)
			}
			th := newTheme(notTold, ascii)
			if n := th.fit(row{{c, normal}, {c, bad}}, w).width(); n != w {
				t.Fatalf("fit(%q, %d) is %d wide", c, w, n)
			}
			for _, l := range wrap(c, max(w, 2)) {
				if n := ansi.StringWidth(l); n > max(w, 2) {
					t.Fatalf("wrap(%q, %d) has a line %d wide: %q", c, w, n, l)
				}
			}
			if got := strings.Join(wrap(c, max(w, 2)), ""); letters(got) != letters(c) {
				t.Fatalf("wrap(%q, %d) loses text: %q", c, w, got)
			}
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func letters(s string) string { return strings.Join(strings.Fields(s), "") }

func TestByName(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"mlx5_2", "mlx5_10", -1}, {"mlx5_10", "mlx5_2", 1}, {"mlx5_2", "mlx5_2", 0}, {"a", "b", -1},
		{"mlx5_02", "mlx5_2", 0}, {"mlx5", "mlx5_1", -1}, {"", "", 0}, {"10", "9", 1},
	} {
		if got := byName(c.a, c.b); got != c.want {
			t.Errorf("byName(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
