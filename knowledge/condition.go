package knowledge

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// A Condition says which findings a step is for: "param" has a value, "!param"
// has none, "param=value" has that value, "param!=value" has another or none.
// Several joined by commas must all hold. The empty condition always holds.
type Condition string

var termRE = pattern.Of(`^(!?)([a-z][a-z0-9_]*)(!?=[A-Za-z0-9_.:/-]+)?$`)

// check tells what is wrong with the condition's form.
func (c Condition) check() error {
	for _, t := range c.terms() {
		m := termRE.FindStringSubmatch(t)
		if m == nil || m[1] != "" && m[3] != "" {
			return fmt.Errorf("condition %q: want \"param\", \"!param\", \"param=value\" or \"param!=value\"", t)
		}
	}
	return nil
}

func (c Condition) terms() []string {
	if c == "" {
		return nil
	}
	ts := strings.Split(string(c), ",")
	for i := range ts {
		ts[i] = strings.TrimSpace(ts[i])
	}
	return ts
}

// Names lists the parameters that the condition looks at.
func (c Condition) Names() []string {
	var names []string
	for _, t := range c.terms() {
		if m := termRE.FindStringSubmatch(t); m != nil {
			names = append(names, m[2])
		}
	}
	return names
}

// Needs lists the parameters that must have a value for the condition to hold.
func (c Condition) Needs() []string {
	var names []string
	for _, t := range c.terms() {
		if m := termRE.FindStringSubmatch(t); m != nil && m[1] == "" && !strings.HasPrefix(m[3], "!") {
			names = append(names, m[2])
		}
	}
	return names
}

// Holds reports whether the condition is true for the values.
func (c Condition) Holds(v values) bool {
	for _, t := range c.terms() {
		name, want, compare := strings.Cut(t, "=")
		before, notBefore := strings.CutPrefix(name, "!")
		name, notAfter := strings.CutSuffix(before, "!")
		got := v.value(name)
		holds := got != ""
		if compare {
			holds = got == want
		}
		if holds == (notBefore || notAfter) {
			return false
		}
	}
	return true
}
