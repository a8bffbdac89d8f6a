package knowledge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// NoCheck stands on the pages of codes that no check of a host reports.
const NoCheck = "no check of a host reports it"

// Text is the whole page for a terminal of the given width, without escape
// sequences. What only a host can fill in stands as "<name>". Commands are
// never broken, so that they can be copied.
func (p *Page) Text(width int) string {
	var b strings.Builder
	b.WriteString(Reflow(p.Code+": "+p.Title, width))
	fmt.Fprintf(&b, "layer %s, impact %s, confidence %s\n", p.Layer, p.Impact, p.Confidence)
	if by := checks.Reporting(p.Code); by != nil {
		b.WriteString(Reflow("reported by "+strings.Join(by, ", "), width))
	} else {
		b.WriteString(NoCheck + "\n")
	}
	section := func(name, body string) {
		if body != "" {
			fmt.Fprintf(&b, "\n%s\n%s", name, indent(Reflow(body, width-2), "  "))
		}
	}
	section("Symptom", p.Symptom)
	section("Cause", p.Cause)
	section("Notes", p.Notes)
	if len(p.Fix) > 0 {
		b.WriteString("\nFix\n")
	}
	for i, a := range p.Fix {
		b.WriteString(a.text(i+1, width))
	}
	writeLines(&b, "Verify", p.Verify)
	writeLines(&b, "Seen with the standard tools", p.Reproduce)
	if codes := p.Explains.Codes(); len(codes) > 0 {
		section("Can be behind", strings.Join(codes, ", "))
	}
	b.WriteString("\nReferences\n")
	for _, r := range p.References {
		fmt.Fprintf(&b, "  %s\n", r)
	}
	return b.String()
}

func (a Remedy) text(n, width int) string {
	s := a.step(values{})
	var b strings.Builder
	if s.Command != "" {
		fmt.Fprintf(&b, "  %d. %s\n", n, s.Command)
	} else {
		t := indent(Reflow(s.Text, width-5), "     ")
		fmt.Fprintf(&b, "  %d. %s", n, strings.TrimPrefix(t, "     "))
	}
	note := s.Effect()
	if a.If != "" {
		note = "if " + string(a.If) + ": " + note
	}
	b.WriteString(indent(Reflow(note, width-5), "     "))
	return b.String()
}

// onlyLooks is what a step changes that only looks.
const onlyLooks = "nothing"

// Effect says in one sentence where a step is done, what it changes, what it
// interrupts and whether it lasts. What somebody does by hand, such as
// starting a job anew, lasts or not as everybody knows.
func (s Step) Effect() string {
	if s.Changes == onlyLooks {
		return fmt.Sprintf("%s; changes nothing", s.Where.at())
	}
	lasts := ""
	switch {
	case s.Persistent:
		lasts = "; survives a reboot"
	case s.Command != "":
		lasts = "; gone after a reboot"
	}
	return fmt.Sprintf("%s; disrupts %s%s: %s", s.Where.at(), s.Disrupts.named(), lasts, s.Changes)
}

// at is the place with its preposition, as one says it.
func (p Place) at() string {
	switch p {
	case "container", "application":
		return "in the " + string(p)
	case "bios":
		return "in the BIOS"
	case "sm":
		return "at the subnet manager"
	case "cloud":
		return "at the cloud provider"
	case "vendor":
		return "at the vendor"
	}
	return "on the " + string(p)
}

// named is what is disrupted, as one says it.
func (d Disrupts) named() string {
	if d == "nothing" {
		return string(d)
	}
	return "the " + string(d)
}

func writeLines(b *strings.Builder, name string, ls []Line) {
	if len(ls) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", name)
	for _, l := range ls {
		fmt.Fprintf(b, "  %s\n", fillCommand(l.Command, values{}))
	}
}

// Codes lists the explained codes, each once.
func (e Explains) Codes() []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range e.scopes() {
		for _, c := range s.Codes {
			if !seen[c] {
				seen[c] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// Reflow breaks the paragraphs and list items of a section to the given
// width. Lines that begin with four spaces are kept as they are.
func Reflow(body string, width int) string {
	var b strings.Builder
	var words []string
	first, rest := "", ""
	flush := func() {
		wrap(&b, words, first, rest, width)
		words, first, rest = nil, "", ""
	}
	for _, l := range strings.Split(body, "\n") {
		item, isItem := strings.CutPrefix(l, "- ")
		switch {
		case strings.HasPrefix(l, "    "):
			flush()
			b.WriteString(l + "\n")
		case strings.TrimSpace(l) == "":
			flush()
			b.WriteString("\n")
		case isItem:
			flush()
			first, rest = "- ", "  "
			words = strings.Fields(item)
		default:
			words = append(words, strings.Fields(l)...)
		}
	}
	flush()
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// wrap fills lines with words; a word longer than the width gets its own line.
func wrap(b *strings.Builder, words []string, first, rest string, width int) {
	line := first
	n := utf8.RuneCountInString(first)
	empty := true
	for _, w := range words {
		size := utf8.RuneCountInString(w)
		if !empty && n+1+size > width {
			b.WriteString(line + "\n")
			line, n, empty = rest, utf8.RuneCountInString(rest), true
		}
		if !empty {
			line += " "
			n++
		}
		line += w
		n += size
		empty = false
	}
	if !empty {
		b.WriteString(line + "\n")
	}
}

func indent(text, by string) string {
	ls := strings.SplitAfter(text, "\n")
	for i, l := range ls {
		if strings.TrimSpace(l) != "" {
			ls[i] = by + l
		}
	}
	return strings.Join(ls, "")
}
