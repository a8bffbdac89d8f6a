package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// checks shows each layer: what passed, in one line, then what did not with
// its findings, then what was not examined, one line a reason.
func (p *page) checks(d *Document) {
	if len(d.Checks) == 0 {
		return
	}
	p.blank()
	p.heading("Checks")
	for _, layer := range checks.Layers() {
		p.layer(layer, d.Checks)
	}
}

func (p *page) layer(layer checks.Layer, all []checks.Result) {
	var passed []string
	var told []*checks.Result
	var quiet []*checks.Result // skipped and unknown without a finding
	n := 0
	for i := range all {
		r := &all[i]
		if r.Layer != layer {
			continue
		}
		n++
		switch {
		case len(r.Findings) > 0:
			told = append(told, r)
		case r.Status == checks.Passed:
			passed = append(passed, counted(r))
		default:
			quiet = append(quiet, r)
		}
	}
	if n == 0 {
		return
	}
	p.line("  " + p.paint(layer.String(), bold))
	if len(passed) > 0 {
		p.para("    "+p.mark(checks.Passed)+" ", 7, strings.Join(passed, ", "))
	}
	for _, r := range told {
		text := counted(r)
		if r.Reason != "" {
			text += ": " + r.Reason
		}
		p.para("    "+p.mark(r.Status)+" ", 7, text)
		for _, f := range alike(r.Findings) {
			p.para("       "+p.severityMark(f.Severity)+" ", 10, findingText(f))
		}
	}
	for len(quiet) > 0 {
		first := quiet[0]
		var ids []string
		quiet = slices.DeleteFunc(quiet, func(r *checks.Result) bool {
			same := r.Status == first.Status && r.Reason == first.Reason
			if same {
				ids = append(ids, r.ID)
			}
			return same
		})
		text := strings.Join(ids, ", ")
		if first.Reason != "" {
			text += ": " + first.Reason
		}
		p.para("    "+p.mark(first.Status)+" ", 7, text)
	}
}

// counted is a check's name with how many subjects it judged.
func counted(r *checks.Result) string {
	if r.Examined > 1 {
		return fmt.Sprintf("%s (%d)", r.ID, r.Examined)
	}
	return r.ID
}

// alike makes one of the findings that say the same of several subjects, as
// those of a host's eight ports often do.
func alike(fs []checks.Finding) []checks.Finding {
	var out []checks.Finding
	for _, f := range fs {
		i := slices.IndexFunc(out, func(o checks.Finding) bool {
			return o.Code == f.Code && o.Severity == f.Severity && o.Message == f.Message && f.Subject != ""
		})
		if i >= 0 {
			out[i].Subject += ", " + f.Subject
			continue
		}
		out = append(out, f)
	}
	return out
}

// findingText names the subject unless the sentence already begins with it.
func findingText(f checks.Finding) string {
	text := f.Message
	if f.Subject != "" && !strings.HasPrefix(text, f.Subject) {
		text = f.Subject + ": " + text
	}
	return text + " [" + f.Code + "]"
}

// unseen lists what nobody looked at, so that a reader cannot take it for
// health. Gaps of one kind are one line with examples: a host of nine ports
// lacks the same file nine times.
func (p *page) unseen(d *Document) {
	unknown, skipped := 0, 0
	for _, r := range d.Checks {
		switch r.Status {
		case checks.Passed, checks.Warned, checks.Failed:
		case checks.Skipped:
			skipped++
		default:
			unknown++
		}
	}
	if unknown+skipped+len(d.Gaps) == 0 {
		return
	}
	p.blank()
	p.heading(fmt.Sprintf("Not looked at: %d unknown, %d skipped, %s", unknown, skipped, plural(len(d.Gaps), "gap")))
	for _, text := range gapLines(d.Gaps) {
		p.para("     ", 7, text)
	}
}

// gapLines are the gaps, those of one kind in one line.
func gapLines(gaps []facts.Gap) (lines []string) {
	type kind struct {
		source facts.Source
		kind   facts.GapKind
		detail string
	}
	var order []kind
	var never []string // sources that the input never holds
	what := map[kind][]string{}
	for _, g := range gaps {
		if g.Kind == facts.Unsupported && g.Detail == facts.NotInForm {
			if !slices.Contains(never, string(g.Source)) {
				never = append(never, string(g.Source))
			}
			continue
		}
		k := kind{g.Source, g.Kind, g.Detail}
		if what[k] == nil {
			order = append(order, k)
		}
		what[k] = append(what[k], g.What)
	}
	if never != nil {
		lines = append(lines, facts.NotInForm+": "+strings.Join(never, ", "))
	}
	for _, k := range order {
		text := fmt.Sprintf("%s %s", k.source, k.kind)
		if k.detail != "" {
			text += " (" + k.detail + ")"
		}
		ws := what[k]
		text += ": " + strings.Join(ws[:min(gapsShown, len(ws))], ", ")
		if more := len(ws) - gapsShown; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		lines = append(lines, text)
	}
	if slices.ContainsFunc(gaps, func(g facts.Gap) bool { return g.Kind == facts.Denied }) {
		lines = append(lines, "to read what was denied, run as root, on the host rather than in a container")
	}
	return lines
}

// gapsShown is how many gaps of one kind a text names; JSON has them all.
const gapsShown = 3
