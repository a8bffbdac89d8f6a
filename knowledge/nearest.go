package knowledge

import (
	"cmp"
	"slices"
	"strings"
	"sync"
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
	pages := Pages()
	codes := make([]string, len(pages))
	have := make([]map[string]float64, len(pages))
	for i, p := range pages {
		codes[i], have[i] = p.Code, p.words()
	}
	alike := nearby.Words(strings.ReplaceAll(query, " ", "-"), codes)
	rare := map[string]int{} // in how many pages a word stands
	for w := range words {
		for i := range pages {
			if weigh(have[i], w) > 0 {
				rare[w]++
			}
		}
	}
	var hits []hit
	for n, p := range pages {
		score := 0.0
		if i := slices.Index(alike, p.Code); i >= 0 {
			score = 3 / float64(1+i)
		}
		for w := range words {
			if weight := weigh(have[n], w); weight > 0 {
				score += weight / float64(rare[w])
			}
		}
		if len(words) > 1 && p.quotes(query) {
			score += phraseScore
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

// phraseScore is for a page that has the whole query, such as an error message,
// in one piece. It weighs more than any sum of rare words.
const phraseScore = 10

// quotes reports whether the text stands in the page's title or symptom as it
// is, line breaks aside.
func (p *Page) quotes(text string) bool {
	page := strings.ToLower(p.Title + "\n" + p.Symptom)
	return strings.Contains(strings.Join(strings.Fields(page), " "), strings.Join(strings.Fields(text), " "))
}

// stemLength is how long a word must be to stand for longer ones, as "lock"
// does for "locked".
const stemLength = 4

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

// weigh is what a word counts among the words of a page, 0 where it is not
// there. A word that only begins another one counts half.
func weigh(have map[string]float64, word string) float64 {
	best := have[word]
	if len(word) >= stemLength {
		for w, weight := range have {
			if strings.HasPrefix(w, word) {
				best = max(best, weight/2)
			}
		}
	}
	return best
}

// tokens are the words that carry meaning: three letters or more, digits
// with two.
func tokens(text string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len(w) >= 3 && !stopWords()[w] {
			m[w] = true
		}
	}
	return m
}

var stopWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("the and for with that this not are was has have but from its can does than then other only one all any every into out over when where which who why what will you your") {
		m[w] = true
	}
	return m
})
