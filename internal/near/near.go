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

// distance is the number of single-byte edits between a and b (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
