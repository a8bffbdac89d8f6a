package policy

import (
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// each reads the entries of a list; a single value is a list of one.
func (d *decoder) each(n *yaml.Node, what string, read func(*yaml.Node)) {
	switch n.Kind {
	case yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind == yaml.AliasNode {
				d.fail(item, "%s: write the value out, aliases are not read", what)
				continue
			}
			read(item)
		}
	case yaml.ScalarNode:
		if n.Tag == "!!null" {
			d.fail(n, "%s: want a list, found nothing", what)
			return
		}
		read(n)
	default:
		d.fail(n, "%s: want a list, found %s", what, kind(n))
	}
}

// pairs reads a mapping whose keys are the file's own.
func (d *decoder) pairs(n *yaml.Node, what, key string, read func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s: want a mapping from %s, found %s", what, key, kind(n))
		return
	}
	var seen []string
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Kind != yaml.ScalarNode:
			d.fail(k, "%s: want %s, found %s", what, key, kind(k))
		case slices.Contains(seen, k.Value):
			d.fail(k, "%s: %q is given twice", what, short(k.Value))
		default:
			seen = append(seen, k.Value)
			read(k, v)
		}
	}
}

// text reads one word or sentence.
func (d *decoder) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Value == "" {
		d.fail(n, "%s: want a value, found %s", what, kind(n))
		return ""
	}
	return n.Value
}

// words reads a list of names.
func (d *decoder) words(n *yaml.Node, what string) []string {
	var list []string
	d.each(n, what, func(n *yaml.Node) {
		if w := d.text(n, what); w != "" {
			list = append(list, w)
		}
	})
	return list
}

// word reads one of the words given.
func (d *decoder) word(n *yaml.Node, what string, known ...string) string {
	w := d.text(n, what)
	if w != "" && !slices.Contains(known, w) {
		d.fail(n, "%s: want %s, found %q", what, strings.Join(known, " or "), short(w))
	}
	return w
}

// integer reads a number within bounds.
func (d *decoder) integer(n *yaml.Node, what string, least, most int) int {
	v, err := strconv.Atoi(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode:
		d.fail(n, "%s: want a number, found %s", what, kind(n))
	case err != nil || v < least || v > most:
		want := "a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)
		if least == most {
			want = strconv.Itoa(least)
		}
		d.fail(n, "%s: want %s, found %q", what, want, short(n.Value))
		return least
	}
	return v
}

// boolean reads true or false, which may be written on and off as well.
func (d *decoder) boolean(n *yaml.Node, what string) *bool {
	yes := true
	switch strings.ToLower(n.Value) {
	case "true", "on", "yes":
		return &yes
	case "false", "off", "no":
		yes = false
		return &yes
	}
	d.fail(n, "%s: want on or off, found %q", what, short(n.Value))
	return nil
}

// kind is what a node is, in words.
func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Value == "" || n.Tag == "!!null":
		return "nothing"
	}
	return strconv.Quote(short(n.Value))
}

// short cuts what is quoted from a file.
func short(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
