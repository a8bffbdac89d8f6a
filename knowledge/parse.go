package knowledge

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// fence opens and closes the front matter.
const fence = "---"

// pageSections are the headings of a page, in their order, and whether each
// must be there.
var pageSections = []struct {
	name string
	must bool
}{{"Symptom", true}, {"Cause", true}, {"Notes", false}}

// parsePage reads one page. Errors name the file and the line.
func parsePage(file string, text []byte) (*Page, error) {
	front, body, bodyLine, err := splitPage(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	p := &Page{}
	// The front matter starts on the second line: with the fence kept as an
	// empty line, YAML counts lines as the file does.
	padded := []byte("\n" + front)
	if err := yaml.Load(padded, p, yaml.WithKnownFields()); err != nil {
		return nil, fmt.Errorf("%s:%w", file, yamlError(err))
	}
	if err := p.readSections(body, bodyLine); err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	if layer, ok := LayerOf(p.Code); ok {
		p.Layer = layer
	}
	if err := p.validate(); err != nil {
		// Only a bad page is read again to find the line: pages are read at run time.
		var doc yaml.Node
		if err := yaml.Load(padded, &doc); err != nil {
			return nil, fmt.Errorf("%s:%w", file, yamlError(err))
		}
		return nil, fmt.Errorf("%s:%w", file, lineError(lineOf(&doc, err.keys...), "%w", err.cause))
	}
	return p, nil
}

// lineError is an error at a line of the page.
func lineError(line int, format string, args ...any) error {
	return fmt.Errorf("%d: %w", line, fmt.Errorf(format, args...))
}

// yamlError puts the line first, as the other errors have it.
func yamlError(err error) error {
	var many *yaml.LoadErrors
	if errors.As(err, &many) && len(many.Errors) > 0 {
		e := many.Errors[0]
		return lineError(e.Mark.Line, "%s", e.Message)
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return lineError(one.Mark.Line, "%s", one.Message)
	}
	return lineError(1, "%w", err)
}

// splitPage cuts a page at its fences. bodyLine is the line that the body
// starts on.
func splitPage(text string) (front, body string, bodyLine int, err error) {
	text, ok := strings.CutPrefix(text, fence+"\n")
	if !ok {
		return "", "", 0, lineError(1, "want %q on the first line", fence)
	}
	front, body, ok = strings.Cut(text, "\n"+fence+"\n")
	if !ok {
		return "", "", 0, lineError(1, "front matter has no closing %q", fence)
	}
	return front + "\n", body, strings.Count(front, "\n") + 4, nil
}

// readSections fills Symptom, Cause and Notes from the text under "## Name".
func (p *Page) readSections(body string, line int) error {
	into := map[string]*string{"Symptom": &p.Symptom, "Cause": &p.Cause, "Notes": &p.Notes}
	var current *string
	next := 0
	for i, l := range strings.Split(body, "\n") {
		name, heading := strings.CutPrefix(l, "## ")
		switch {
		case heading:
			k := sectionIndex(name)
			if k < 0 {
				return lineError(line+i, "section %q: want Symptom, Cause or Notes", name)
			}
			if k < next {
				return lineError(line+i, "section %q: given twice or out of order", name)
			}
			next, current = k+1, into[name]
		case current == nil && strings.TrimSpace(l) != "":
			return lineError(line+i, "text before the first section")
		case strings.HasPrefix(l, "#"):
			return lineError(line+i, "heading %q: only \"## Name\" is one", l)
		case current != nil:
			*current += l + "\n"
		}
	}
	for _, s := range pageSections {
		*into[s.name] = strings.TrimSpace(*into[s.name])
		if s.must && *into[s.name] == "" {
			return lineError(line, "section %q is missing or empty", s.name)
		}
		if ps := Placeholders(*into[s.name]); len(ps) > 0 {
			return lineError(line, "section %q: {%s}: only steps and commands are filled in", s.name, ps[0])
		}
	}
	return nil
}

func sectionIndex(name string) int {
	for i, s := range pageSections {
		if s.name == name {
			return i
		}
	}
	return -1
}

// UnmarshalYAML reads a line that is a string, or a map with a condition.
func (l *Line) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return n.Decode(&l.Command)
	}
	type plain Line
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i].Value; k != "command" && k != "if" {
			return fmt.Errorf("field %s not found in a line", k)
		}
	}
	return n.Decode((*plain)(l))
}

// lineOf finds the line of a value in the front matter: keys are map keys
// (string) and list indexes (int). It stops at the last part that is there.
func lineOf(n *yaml.Node, keys ...any) int {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, k := range keys {
		next := child(n, k)
		if next == nil {
			break
		}
		n = next
	}
	return max(n.Line, 1)
}

func child(n *yaml.Node, key any) *yaml.Node {
	switch k := key.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && k < len(n.Content) {
			return n.Content[k]
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == k {
				return n.Content[i+1]
			}
		}
	}
	return nil
}

// normal makes line ends uniform before a page is parsed.
func normal(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
