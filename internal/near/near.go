// Package near finds the known words that look most like one that is not
// known, so that an error can say what was perhaps meant.
package near

import (
	"slices"
	"strings"
)

// Words returns at most three of known that are close to word, nearest first:
// within a third of its length in edits, or containing it.
func Words(word string, known []string) []string {
	type hit struct {
		word string
		dist int
	}
	word = strings.ToLower(word)
	if len(word) == 0 || len(word) > 64 {
		return nil
	}
	var hits []hit
	for _, k := range known {
		d := distance(word, k)
		if len(word) > 2 && strings.Contains(k, word) {
			d = min(d, 1)
		}
		if d <= max(1, len(word)/3) {
			hits = append(hits, hit{k, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return a.dist - b.dist })
	var out []string
	for _, h := range hits[:min(3, len(hits))] {
		out = append(out, h.word)
	}
	return out
}

// distance is the number of single-byte edits between a and b, where two
// neighbours that changed places are one (optimal string alignment).
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
