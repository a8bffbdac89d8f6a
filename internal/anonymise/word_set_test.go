package anonymise

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestWordSet(t *testing.T) {
	words := map[string]bool{"gpu-017": true, "gpu-017.acme": true, "acme": true, "7": true, "al": true, "x+": true}
	for _, tc := range []struct{ in, bounded, unbounded string }{
		{"gpu-017 gpu-017.acme gpu-0170", "[gpu-017] [gpu-017.acme] gpu-0170", "[gpu-017] [gpu-017.acme] [gpu-017]0"},
		{"acmeacme-acme_", "acmeacme-acme_", "[acme][acme]-[acme]_"},
		{"al", "[al]", "[al]"},
		{"7 a x+y x+", "7 a [x+]y [x+]", "7 a [x+]y [x+]"},
		{"", "", ""},
		{"\x00acme\x00", "\x00[acme]\x00", "\x00[acme]\x00"},
	} {
		mark := func(s string) string { return "[" + s + "]" }
		if got := newWordSet(words, true).ReplaceAllStringFunc(tc.in, mark); got != tc.bounded {
			t.Errorf("%q becomes %q, want %q", tc.in, got, tc.bounded)
		}
		if got := newWordSet(words, false).ReplaceAllStringFunc(tc.in, mark); got != tc.unbounded {
			t.Errorf("%q becomes %q without bounds, want %q", tc.in, got, tc.unbounded)
		}
	}
	if newWordSet(nil, true).ReplaceAllStringFunc("acme", strings.ToUpper) != "acme" {
		t.Error("no words replace something")
	}
}

// The set finds what an expression of all its words finds.
func FuzzWordSet(f *testing.F) {
	f.Add("gpu-017 acme,bob", "on gpu-017.acme bobacme")
	f.Fuzz(func(t *testing.T, list, text string) {
		words := map[string]bool{}
		var quoted []string
		for _, w := range strings.FieldsFunc(list, func(c rune) bool { return !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-') }) {
			if len(w) >= 2 && inWord(w[0]) && inWord(w[len(w)-1]) && !words[w] {
				words[w] = true
				quoted = append(quoted, regexp.QuoteMeta(w))
			}
		}
		slices.SortFunc(quoted, func(x, y string) int { return len(y) - len(x) })
		if quoted == nil {
			return
		}
		mark := func(s string) string { return "[" + s + "]" }
		want := regexp.MustCompile(`\b(?:`+strings.Join(quoted, "|")+`)\b`).ReplaceAllStringFunc(text, mark)
		if got := newWordSet(words, true).ReplaceAllStringFunc(text, mark); got != want {
			t.Errorf("%q in %q: %q, want %q", list, text, got, want)
		}
	})
}
