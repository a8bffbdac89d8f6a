package pattern

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
)

// Check returns what is wrong with the first pattern of the program that is no
// regular expression, or that matches something without its literals. A test
// calls it.
func Check() error {
	for _, p := range all {
		re, err := syntax.Parse(p.text, syntax.Perl)
		if err != nil {
			return err
		}
		if len(p.literals) > 0 && !p.needs(re) {
			return fmt.Errorf("pattern %q matches what holds none of %q", p.text, p.literals)
		}
	}
	return nil
}

// needs reports whether each match of re holds a literal of p.
func (p *Pattern) needs(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if p.fold {
			text = strings.ToLower(text)
		}
		return slices.ContainsFunc(p.literals, func(l string) bool { return strings.Contains(text, l) }) &&
			(p.fold || re.Flags&syntax.FoldCase == 0)
	case syntax.OpCapture, syntax.OpPlus:
		return p.needs(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && p.needs(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, p.needs)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !p.needs(sub) })
	}
	return false
}
