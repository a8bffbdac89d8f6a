package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// Nobody reads the fortieth subject: the rest is counted.
const subjectsShown = 6

func (p *page) diagnoses(d *Document) {
	p.blank()
	if len(d.Diagnoses) == 0 {
		switch {
		case d.Summary.Warn+d.Summary.Fail > 0:
			p.para("", 0, "No known cause explains the findings below.")
		case d.Summary.Pass == 0:
			p.para("", 0, "Nothing was judged.")
		default:
			p.para("", 0, "Nothing wrong was found in what could be looked at.")
		}
		return
	}
	p.answer(&d.Diagnoses[0])
	var infos []*knowledge.Diagnosis
	also := false
	for i := range d.Diagnoses[1:] {
		n := &d.Diagnoses[1+i]
		if n.Severity == checks.Info {
			infos = append(infos, n)
			continue
		}
		if !also {
			p.blank()
			p.heading("Also")
			also = true
		}
		p.further(n)
	}
	if len(infos) > 0 {
		p.blank()
		p.heading("For information")
		for _, n := range infos {
			p.para("  "+p.severityMark(n.Severity)+" ", 5, about(*n)+" ["+n.Code+"]")
		}
	}
}

// answer shows the diagnosis at the top in full.
func (p *page) answer(d *knowledge.Diagnosis) {
	p.titleLine(d)
	p.para("   ", 3, strings.Join(nonEmpty(subjects(d), d.Layer.String(), impact(d), string(d.Confidence)), " · "))
	if d.Message != "" {
		p.blank()
		p.para("   ", 3, d.Message)
	}
	// What to type comes first: whoever reads this at night acts before he asks
	// why.
	if len(d.Fix) > 0 {
		p.part("Fix")
		p.steps(d.Fix)
	}
	p.prose("Symptom", d.Symptom)
	p.prose("Cause", d.Cause)
	p.evidence(d.Evidence)
	if cs := consequences(d); len(cs) > 0 {
		p.part("Explains")
		for _, f := range cs {
			p.para("     ", 7, strings.Join(nonEmpty(f.Code, f.Subject), "  "))
		}
	}
	p.commands("Verify", d.Verify)
	if !slices.Equal(d.Reproduce, d.Verify) {
		p.commands("See it with the standard tools", d.Reproduce)
	}
	if len(d.References) > 0 {
		p.part("References")
		for _, r := range d.References {
			p.para("     ", 7, r)
		}
	}
}

// titleLine is the mark, the title and, at the right, the code.
func (p *page) titleLine(d *knowledge.Diagnosis) {
	title, code := Clean(d.Title), Clean(d.Code)
	if title == "" {
		title = code
	}
	gap := p.width - 3 - ansi.StringWidth(title) - ansi.StringWidth(code)
	if gap < 2 {
		p.para(p.severityMark(d.Severity)+" ", 3, title)
		p.line("   " + p.paint(code, faint))
		return
	}
	p.line(p.severityMark(d.Severity) + " " + p.paint(title, bold) + strings.Repeat(" ", gap) + p.paint(code, faint))
}

// further shows one of the next diagnoses in a few lines.
func (p *page) further(d *knowledge.Diagnosis) {
	p.titleLine(d)
	p.para("   ", 3, strings.Join(nonEmpty(subjects(d), impact(d), string(d.Confidence)), " · "))
	if d.Message != "" {
		p.para("   ", 3, d.Message)
	}
	for i := range d.Fix {
		if d.Fix[i].Command != "" {
			p.command("   fix: ", "        ", d.Fix[i].Command)
			break
		}
	}
	p.para("   ", 3, "more: rdmadoctor explain "+d.Code)
}

func (p *page) part(name string) {
	p.blank()
	p.line("   " + p.paint(name, bold))
}

func (p *page) evidence(es []checks.Evidence) {
	if len(es) == 0 {
		return
	}
	p.part("Evidence")
	for _, e := range es {
		p.para("     ", 7, e.Source)
		p.para("       ", 7, e.Value)
	}
}

// steps shows the steps of a fix and what they do to the host. Steps in a row
// that do the same, such as one command for each of eight ports, say it once.
func (p *page) steps(fix []knowledge.Step) {
	first := 0
	for i := range fix {
		s := &fix[i]
		num := fmt.Sprintf("%4d. ", i+1)
		pad := strings.Repeat(" ", len(num))
		effect := s.Effect()
		if s.Command != "" {
			p.command(num, pad, s.Command)
			num = pad
		}
		if s.Text != "" {
			p.para(num, len(num), s.Text)
		}
		if i+1 < len(fix) && fix[i+1].Effect() == effect {
			continue
		}
		if first < i {
			effect = fmt.Sprintf("%d to %d, each: %s", first+1, i+1, effect)
		}
		p.para(pad, len(pad), effect)
		first = i + 1
	}
}

// prose shows a section of a page with its paragraphs and lists.
func (p *page) prose(name, body string) {
	if body == "" {
		return
	}
	p.part(name)
	body = knowledge.Reflow(strings.Join(cleanLines(body), "\n"), max(20, p.width-5))
	for l := range strings.Lines(body) {
		p.line("     " + strings.TrimSuffix(l, "\n"))
	}
}

func (p *page) commands(name string, cs []string) {
	if len(cs) == 0 {
		return
	}
	p.part(name)
	for _, c := range cs {
		p.command("     ", "     ", c)
	}
}

// command keeps a command in a form that can be pasted.
func (p *page) command(first, pad, command string) {
	for _, l := range cleanLines(command) {
		for _, part := range wrapCommand(l, p.width-len(first)) {
			p.line(first + part)
			first = pad
		}
	}
}

// impact is the word for what a diagnosis means, which stands between others.
func impact(d *knowledge.Diagnosis) string {
	if d.Impact == knowledge.None {
		return "no impact"
	}
	return string(d.Impact)
}

func subjects(d *knowledge.Diagnosis) string {
	list := d.Subjects
	if len(list) == 0 {
		return d.Subject
	}
	if n := len(list) - subjectsShown; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:subjectsShown], ", "), n)
	}
	return strings.Join(list, ", ")
}

// consequences are the findings that the cause explains besides its own.
func consequences(d *knowledge.Diagnosis) []knowledge.FindingRef {
	return slices.DeleteFunc(slices.Clone(d.Findings), func(f knowledge.FindingRef) bool { return f.Code == d.Code })
}

func nonEmpty(ss ...string) []string {
	return slices.DeleteFunc(ss, func(s string) bool { return s == "" })
}

func (p *page) hosts(d *Document) {
	if len(d.Hosts) == 0 {
		return
	}
	p.blank()
	p.heading("Hosts")
	for _, h := range d.Hosts {
		p.para("  ", 4, strings.Join(nonEmpty(h.Host, h.Origin, h.Summary), " · "))
	}
}
