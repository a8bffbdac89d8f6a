package knowledge

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

// leftToReaderRE finds a placeholder that had no value.
var leftToReaderRE = pattern.Of(`<[a-z][a-z0-9_ -]*>`)

// step fills one remedy for one finding.
func (a Remedy) step(v values) Step {
	return Step{
		Command:    fillIf(a.Command, v),
		Text:       fillText(a.Text, v),
		Where:      a.Where,
		Disrupts:   a.Disrupts,
		Changes:    fillText(a.Changes, v),
		Persistent: a.Persistent,
	}
}

func fillIf(command string, v values) string {
	if command == "" {
		return ""
	}
	return fillCommand(command, v)
}

// Runnable reports whether a step can be pasted into a root shell of this host
// as it stands: a command for the host in which nothing is left to the reader.
func (s Step) Runnable() bool {
	return s.Command != "" && s.Where == "host" && !leftToReaderRE.MatchString(s.Command)
}

// steps fills the remedies for each finding: first what cures now, on every
// subject, then the next step on every subject. Equal lines are shown once.
func steps(remedies []Remedy, vs []values) []Step {
	out := []Step{}
	seen := map[Step]bool{}
	for _, a := range remedies {
		for _, v := range vs {
			if !a.If.Holds(v) {
				continue
			}
			if s := a.step(v); !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

func lines(ls []Line, vs []values) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, l := range ls {
		for _, v := range vs {
			if !l.If.Holds(v) {
				continue
			}
			if s := fillCommand(l.Command, v); !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// applicable names the steps that hold for a finding, so that findings whose
// fix differs are not shown as one.
func applicable(remedies []Remedy, v values) string {
	var b strings.Builder
	for _, a := range remedies {
		if a.If.Holds(v) {
			b.WriteByte('x')
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}
