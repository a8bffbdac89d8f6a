package scenario

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// Judge says what is wrong with a report of a scenario's sick host, or of
// its healthy one, and with the exit code that came with it.
func (s Scenario) Judge(r Report, exit int) []string {
	bad := consistent(r, exit)
	say := func(format string, args ...any) {
		bad = append(bad, fmt.Sprintf(format, args...))
	}
	if n := s.judged(r); n < s.MinPass {
		say("%d checks passed, want at least %d", n, s.MinPass)
	}
	if s.Exit != nil && exit != *s.Exit {
		say("exit code %d, want %d", exit, *s.Exit)
	}
	for _, id := range slices.Sorted(maps.Keys(s.WantStatus)) {
		if got := r.status(id); got != s.WantStatus[id] {
			say("check %s: got %s, want %s", id, got, s.WantStatus[id])
		}
	}
	if got := r.brokenStep(); s.WantStep != "" && got != s.WantStep {
		say("first failed step is %q, want %q", got, s.WantStep)
	}
	for _, code := range s.Forbid {
		if r.Has(code) {
			say("%s found, which is forbidden", code)
		}
	}
	for _, f := range r.Findings() {
		known := slices.Contains(s.Want, f.Code)
		switch {
		case f.Severity == "info" && !known && !slices.Contains(s.AllowInfo, f.Code):
			say("not in allow_info: %v", f)
		case f.Severity != "info" && !known && !slices.Contains(s.Allow, f.Code):
			say("false alarm: %v", f)
		}
	}
	if s.Healthy() {
		if exit != 0 && s.Exit == nil {
			say("exit code %d on a healthy host", exit)
		}
		return bad
	}
	return append(bad, s.judgeWanted(r)...)
}

// judged is how many checks passed, in a comparison how many there were that
// came to a verdict: one alone looks at what is different there.
func (s Scenario) judged(r Report) int {
	n := r.Summary.Pass
	if s.Compare {
		n += r.Summary.Warn + r.Summary.Fail
	}
	return n
}

// judgeWanted compares the top diagnosis and the findings with Want.
func (s Scenario) judgeWanted(r Report) []string {
	var bad []string
	for _, code := range s.Want {
		if !r.Has(code) {
			bad = append(bad, code+" not found")
		}
	}
	if len(r.Diagnoses) == 0 {
		return append(bad, fmt.Sprintf("no diagnosis, want %s", s.Want[0]))
	}
	top := r.Diagnoses[0]
	if top.Code != s.Want[0] {
		bad = append(bad, fmt.Sprintf("top diagnosis is %s, want %s", top.Code,
			s.Want[0]))
	}
	if got := r.codes(); len(s.Order) > 0 && !slices.Equal(got, s.Order) {
		bad = append(bad, fmt.Sprintf("diagnoses are %q, want %q", got, s.Order))
	}
	if s.WantSeverity != "" && top.Severity != s.WantSeverity {
		bad = append(bad, fmt.Sprintf("top diagnosis is of severity %s, want %s",
			top.Severity, s.WantSeverity))
	}
	if s.WantSubject != "" && top.Subject != s.WantSubject {
		bad = append(bad, fmt.Sprintf("top diagnosis is of %q, want %q",
			top.Subject, s.WantSubject))
	}
	return bad
}

// consistent says what a report contradicts itself in, and the exit code.
func consistent(r Report, exit int) []string {
	var bad []string
	if r.Error != nil {
		bad = append(bad, fmt.Sprintf("error of kind %s: %s", r.Error.Kind,
			r.Error.Message))
	}
	if r.Summary.ExitCode != exit {
		bad = append(bad, fmt.Sprintf("exit code %d, and the summary says %d", exit,
			r.Summary.ExitCode))
	}
	count := make(map[string]int)
	for _, c := range r.Checks {
		count[c.Status]++
	}
	for _, said := range []struct {
		status string
		n      int
	}{
		{"pass", r.Summary.Pass}, {"warn", r.Summary.Warn},
		{"fail", r.Summary.Fail}, {"skip", r.Summary.Skip},
		{"unknown", r.Summary.Unknown},
	} {
		if count[said.status] != said.n {
			bad = append(bad, fmt.Sprintf("summary says %d %s, and there are %d",
				said.n, said.status, count[said.status]))
		}
	}
	return bad
}

// runnable returns the fix commands of a diagnosis that can be run on the
// host just as they are.
func runnable(d Diagnosis) ([]string, error) {
	var commands, left []string
	for _, f := range d.Fix {
		switch {
		case f.Where != "host" || f.Command == "":
		case placeholder.MatchString(f.Command):
			left = append(left, f.Command)
		default:
			commands = append(commands, f.Command)
		}
	}
	if len(commands) == 0 {
		return nil, fmt.Errorf("%s has no fix that can be run on the host; with "+
			"placeholders: %q", d.Code, left)
	}
	return commands, nil
}

// placeholder matches <name> in a command: what the reader has to fill in.
// Redirections have a blank or a path after the sign.
var placeholder = regexp.MustCompile(`<[A-Za-z][A-Za-z0-9 _-]*>`)
