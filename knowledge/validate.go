package knowledge

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// titleMax leaves room for a mark and some air on a terminal of 80 columns.
const titleMax = 76

// valueError is what is wrong with one value of the front matter: keys lead to
// it, as lineOf takes them.
type valueError struct {
	keys  []any
	cause error
}

// validate checks one page by itself.
func (p *Page) validate() *valueError {
	bad := func(keys []any, format string, args ...any) *valueError {
		return &valueError{keys, fmt.Errorf(format, args...)}
	}
	at := func(keys ...any) []any { return keys }
	switch {
	case p.Layer == 0:
		return bad(at("code"), "code %q is not in the list of permanent codes", p.Code)
	case p.Title == "" || strings.HasSuffix(p.Title, ".") || len(p.Title) > titleMax:
		return bad(at("title"), "title %q: want a sentence without a period, at most %d characters", p.Title, titleMax)
	case !slices.Contains(confidences, p.Confidence):
		return bad(at("confidence"), "confidence %q: want one of %v", p.Confidence, confidences)
	case !slices.Contains(impacts, p.Impact):
		return bad(at("impact"), "impact %q: want one of %v", p.Impact, impacts)
	case len(p.References) == 0:
		return bad(at("references"), "references are missing")
	}
	for _, s := range p.Explains.scopes() {
		for i, c := range s.Codes {
			if _, ok := LayerOf(c); !ok || c == p.Code || slices.Contains(s.Codes[:i], c) {
				return bad(at("explains", string(s.Scope), i), "explains %q: unknown, itself or given twice", c)
			}
		}
	}
	for i, a := range p.Fix {
		if err := a.check(); err != nil {
			return bad(at("fix", i), "step %d: %w", i+1, err)
		}
	}
	for name, ls := range map[string][]Line{"verify": p.Verify, "reproduce": p.Reproduce} {
		for i, l := range ls {
			if err := l.check(); err != nil {
				return bad(at(name, i), "%s %d: %w", name, i+1, err)
			}
		}
	}
	for i, r := range p.References {
		if err := checkReference(r); err != nil {
			return bad(at("references", i), "%w", err)
		}
	}
	return nil
}

func (a Remedy) check() error {
	switch {
	case (a.Command == "") == (a.Text == ""):
		return fmt.Errorf("want either command or text")
	case !slices.Contains(Places, a.Where):
		return fmt.Errorf("where %q: want one of %v", a.Where, Places)
	case !slices.Contains(Disruptions, a.Disrupts):
		return fmt.Errorf("disrupts %q: want one of %v", a.Disrupts, Disruptions)
	case a.Changes == "":
		return fmt.Errorf("changes is missing")
	}
	if err := checkCommand(a.Command); err != nil {
		return err
	}
	return a.If.check()
}

func (l Line) check() error {
	if l.Command == "" {
		return fmt.Errorf("line is empty")
	}
	if err := checkCommand(l.Command); err != nil {
		return err
	}
	return l.If.check()
}

// reparsesRE finds programs that read an argument as a language of their own,
// where quoting for the shell protects nothing.
var reparsesRE = pattern.Of(`\b(eval|sh -c|bash -c|su -c|ssh|awk|perl|python3?)\b`)

// checkCommand rejects templates in which a filled value could not be made
// safe by quoting it once.
func checkCommand(t string) error {
	if strings.ContainsAny(t, "\n\r\t") {
		return fmt.Errorf("command %q: want one line without tabs", t)
	}
	if strings.Contains(t, "${") {
		return fmt.Errorf("command %q: ${ looks like a placeholder, use $name", t)
	}
	var q shellState
	last := 0
	for _, m := range placeholderRE.Regexp().FindAllStringIndex(t, -1) {
		q.read(t[last:m[0]])
		last = m[1]
		if strings.HasPrefix(t[m[0]:], "{{") || strings.HasPrefix(t[m[0]:], "}}") {
			q.read(t[m[0] : m[0]+1])
			continue
		}
		name := t[m[0]:m[1]]
		switch {
		case q.escaped:
			return fmt.Errorf("command %q: backslash before %s", t, name)
		case q.quoted != 0 && reparsesRE.MatchString(t):
			return fmt.Errorf("command %q: quoted %s is read twice, pass it as an argument", t, name)
		case q.quoted == '"' && (strings.Contains(t, "$(") || strings.Contains(t, "`")):
			return fmt.Errorf("command %q: %s inside double quotes beside a command substitution", t, name)
		}
	}
	q.read(t[last:])
	if q.quoted != 0 || q.escaped {
		return fmt.Errorf("command %q: quote is not closed", t)
	}
	return nil
}

var manPageRE = pattern.Of(`^[A-Za-z0-9_.:-]+\([1-9][a-z]*\)$`)

// checkReference wants an https address or a manual page such as dcb-pfc(8).
func checkReference(r string) error {
	if manPageRE.MatchString(r) {
		return nil
	}
	u, err := url.Parse(r)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.ContainsAny(r, " <>") {
		return fmt.Errorf("reference %q: want an https address or a manual page", r)
	}
	return nil
}
