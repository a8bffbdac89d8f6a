// Package pattern holds regular expressions that are compiled when they are
// first needed. The program is started often and for moments, by monitoring and
// before jobs, and the reading child with it: what a run does not match against
// should cost it nothing.
package pattern

import (
	"regexp"
	"strings"
	"sync"
)

// A Pattern is a regular expression in the syntax of package regexp. It may be
// used by several goroutines at once.
type Pattern struct {
	text     string
	literals []string
	fold     bool // the literals are in lower case and stand for either
	compiled func() *regexp.Regexp
}

var all []*Pattern

// Of returns the pattern that text says, for package variables: a text that is
// no regular expression panics at its first use, and Check finds it. Whatever
// matches holds one of the literals, if there are any: a line without them costs
// a search for plain text. They are in lower case where text begins with (?i).
func Of(text string, literals ...string) *Pattern {
	p := &Pattern{text: text, literals: literals, fold: strings.HasPrefix(text, "(?i)")}
	p.compiled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(p.text) })
	all = append(all, p)
	return p
}

// String is the text of the pattern.
func (p *Pattern) String() string { return p.text }

// Regexp is the compiled pattern.
func (p *Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// MatchString is that of regexp.Regexp.
func (p *Pattern) MatchString(s string) bool { return p.may(s) && p.compiled().MatchString(s) }

// FindString is that of regexp.Regexp.
func (p *Pattern) FindString(s string) string {
	if !p.may(s) {
		return ""
	}
	return p.compiled().FindString(s)
}

// FindStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatch(s string) []string {
	if !p.may(s) {
		return nil
	}
	return p.compiled().FindStringSubmatch(s)
}

// FindAllString is that of regexp.Regexp.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

// FindAllStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllStringFunc is that of regexp.Regexp.
func (p *Pattern) ReplaceAllStringFunc(s string, with func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, with)
}

// FindAllStringSubmatchIndex is that of regexp.Regexp.
func (p *Pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}

// may reports whether s holds what a match needs.
func (p *Pattern) may(s string) bool {
	for _, literal := range p.literals {
		if p.fold && containsFold(s, literal) || !p.fold && strings.Contains(s, literal) {
			return true
		}
	}
	return len(p.literals) == 0
}

// containsFold reports whether s has lower, which is of plain ASCII, in any
// case. A match of (?i) may also hold the few letters beyond ASCII that fold to
// ASCII ones, which no driver writes.
func containsFold(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i]|0x20 == lower[0]|0x20 && strings.EqualFold(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}
