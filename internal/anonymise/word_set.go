package anonymise

import (
	"cmp"
	"slices"
	"strings"
)

// A wordSet finds words in a text. A host has thousands of programs and the log
// is long, for which a regular expression of all of them takes minutes.
type wordSet struct {
	byHead  map[string][]string // by their first two bytes, the longest first
	bounded bool                // only where no word goes on before or behind
}

// newWordSet is of words of two bytes and more; nil where there are none.
func newWordSet(words map[string]bool, bounded bool) *wordSet {
	w := &wordSet{byHead: map[string][]string{}, bounded: bounded}
	for word := range words {
		if len(word) >= 2 {
			w.byHead[word[:2]] = append(w.byHead[word[:2]], word)
		}
	}
	if len(w.byHead) == 0 {
		return nil
	}
	for _, list := range w.byHead {
		slices.SortFunc(list, func(x, y string) int { return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(x, y)) })
	}
	return w
}

// ReplaceAllStringFunc puts what with says in the place of each word, as the
// method of a regular expression does.
func (w *wordSet) ReplaceAllStringFunc(s string, with func(string) string) string {
	if w == nil {
		return s
	}
	var b strings.Builder
	from := 0
	for i := 0; i+2 <= len(s); i++ {
		word := w.at(s, i)
		if word == "" {
			continue
		}
		b.WriteString(s[from:i])
		b.WriteString(with(word))
		from = i + len(word)
		i = from - 1
	}
	return b.String() + s[from:]
}

// at is the longest word that begins at i, "" where none does.
func (w *wordSet) at(s string, i int) string {
	list := w.byHead[s[i:i+2]]
	if list == nil || w.bounded && i > 0 && inWord(s[i-1]) && inWord(s[i]) {
		return ""
	}
	for _, word := range list {
		end := i + len(word)
		if strings.HasPrefix(s[i:], word) && (!w.bounded || end == len(s) || !inWord(s[end]) || !inWord(s[end-1])) {
			return word
		}
	}
	return ""
}

func inWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
