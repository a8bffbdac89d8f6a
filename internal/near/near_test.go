package near

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	known := []string{"pfc-off", "pfc-storm", "ecn-off", "gid-none", "link"}
	for _, tc := range []struct {
		word string
		want []string
	}{
		{"pfc-of", []string{"pfc-off"}},
		{"pcf-off", []string{"pfc-off", "ecn-off"}},
		{"piks", nil},
		{"lnik", []string{"link"}},
		{"storm", []string{"pfc-storm"}},
		{"LINK", []string{"link"}},
		{"linq", []string{"link"}},
		{"", nil},
		{"completely-else", nil},
	} {
		if got := Words(tc.word, known); !slices.Equal(got, tc.want) {
			t.Errorf("Words(%q) = %q, want %q", tc.word, got, tc.want)
		}
	}
}
