package knowledge

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	nearby "github.com/rdmadoctor/rdmadoctor/internal/near"
)

// nearestMax is how many pages Nearest offers: more is no help.
const nearestMax = 5

// Nearest returns the pages that a text may mean, the best first: a misspelt
// code, or words of a title or symptom. It returns none where nothing fits.
func Nearest(text string) []*Page {
	type hit struct {
		page  *Page
		score float64
	}
	query := strings.ToLower(strings.TrimSpace(text))
	words := tokens(query)
	var codes []string
	for _, p := range Pages() {
		codes = append(codes, p.Code)
	}
	alike := nearby.Words(strings.ReplaceAll(query, " ", "-"), codes)
	rare := map[string]int{} // in how many pages a word stands
	for _, p := range Pages() {
		for w := range p.words() {
			rare[w]++
		}
	}
	var hits []hit
	for _, p := range Pages() {
		score := 0.0
		if i := slices.Index(alike, p.Code); i >= 0 {
			score = 3 / float64(1+i)
		}
		have := p.words()
		for w := range words {
			if weight := have[w]; weight > 0 {
				score += weight / float64(rare[w])
			}
		}
		if score > 0 {
			hits = append(hits, hit{p, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	var out []*Page
	for _, h := range hits[:min(len(hits), nearestMax)] {
		if h.score >= hits[0].score/4 {
			out = append(out, h.page)
		}
	}
	return out
}

// words weighs the words of a page by where they stand.
func (p *Page) words() map[string]float64 {
	m := map[string]float64{}
	for _, part := range []struct {
		text   string
		weight float64
	}{{p.Symptom, 1}, {p.Title, 2}, {strings.ReplaceAll(p.Code, "-", " "), 4}} {
		for w := range tokens(strings.ToLower(part.text)) {
			m[w] = part.weight
		}
	}
	return m
}

// tokens are the words that carry meaning: three letters or more, digits
// with two.
func tokens(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len(w) >= 3 && !stopWords[w] {
			m[w] = true
		}
	}
	return m
}

var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("the and for with that this not are was has have but from its can does than then other only one all any every into out over when where which who why what will you your") {
		m[w] = true
	}
	return m
}()
