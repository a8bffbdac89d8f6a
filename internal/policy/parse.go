package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/near"
)

// MaxSize is the longest policy that is read, in bytes.
const MaxSize = 1 << 20

// Errors are all mistakes of a file, in the order of its lines.
type Errors []Error

// Error is one mistake.
type Error struct {
	Line    int
	Message string // the key, what was found and what is wanted
}

func (es Errors) Error() string {
	var lines []string
	for _, e := range es {
		lines = append(lines, fmt.Sprintf("line %d: %s", e.Line, e.Message))
	}
	return strings.Join(lines, "\n")
}

// Parse reads a policy. The error is of type Errors.
func Parse(text []byte) (*Policy, error) {
	if len(text) > MaxSize {
		return nil, Errors{{1, fmt.Sprintf("the file is longer than %d KiB", MaxSize>>10)}}
	}
	d := &decoder{}
	p := &Policy{}
	var doc yaml.Node
	if empty(text) {
		d.empty(&doc)
		return nil, d.errs
	}
	if err := yaml.Load(text, &doc); err != nil {
		return nil, Errors{syntax(err)}
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		d.empty(&doc)
	} else {
		d.policy(doc.Content[0], p)
	}
	if len(d.errs) > 0 {
		slices.SortStableFunc(d.errs, func(a, b Error) int { return cmp.Compare(a.Line, b.Line) })
		return nil, d.errs[:min(len(d.errs), maxErrors)]
	}
	return p, nil
}

// empty reports whether a file has nothing but comments.
func empty(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func (d *decoder) empty(n *yaml.Node) {
	d.fail(n, "the file is empty: want version: %d and what is demanded", Version)
}

// maxErrors is how many mistakes are told at once.
const maxErrors = 20

// syntax is what the YAML parser says, with its line.
func syntax(err error) Error {
	var many *yaml.LoadErrors
	if errors.As(err, &many) && len(many.Errors) > 0 {
		return Error{max(many.Errors[0].Mark.Line, 1), "no YAML: " + many.Errors[0].Message}
	}
	var one *yaml.LoadError
	if errors.As(err, &one) {
		return Error{max(one.Mark.Line, 1), "no YAML: " + one.Message}
	}
	return Error{1, "no YAML: " + err.Error()}
}

// decoder reads nodes and collects mistakes.
type decoder struct{ errs Errors }

func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	d.errs = append(d.errs, Error{max(n.Line, 1), fmt.Sprintf(format, args...)})
}

// keys reads a mapping: of each key that read knows, its value.
func (d *decoder) keys(n *yaml.Node, what string, read map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s: want a mapping of keys, found %s", what, kind(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f, known := read[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !known:
			d.fail(key, "%s: unknown key %q: want %s", what, short(key.Value), suggest(key.Value, read))
		case seen[key.Value]:
			d.fail(key, "%s: key %q is given twice", what, key.Value)
		case value.Kind == yaml.AliasNode:
			d.fail(value, "%s: write the value out, aliases are not read", key.Value)
		default:
			seen[key.Value] = true
			f(value)
		}
	}
}

func suggest[T any](word string, known map[string]T) string {
	var names []string
	for k := range known {
		names = append(names, k)
	}
	slices.Sort(names)
	if alike := near.Words(word, names); len(alike) > 0 {
		return "perhaps " + strings.Join(alike, " or ")
	}
	return "one of " + strings.Join(names, ", ")
}

func (d *decoder) policy(n *yaml.Node, p *Policy) {
	given := false
	d.keys(n, "the policy", map[string]func(*yaml.Node){
		"version": func(n *yaml.Node) { given, p.Version = true, d.integer(n, "version", Version, Version) },
		"devices": func(n *yaml.Node) { p.Devices = d.devices(n) },
		"ports": func(n *yaml.Node) {
			d.each(n, "ports", func(n *yaml.Node) { p.Ports = append(p.Ports, d.entry(n, p.Ports)) })
		},
		"dark":   func(n *yaml.Node) { p.Dark = d.patterns(n, "dark") },
		"limits": func(n *yaml.Node) { p.Limits = d.limits(n) },
		"module_parameters": func(n *yaml.Node) {
			p.Modules = map[string]map[string]string{}
			d.pairs(n, "module_parameters", "a module", func(key, value *yaml.Node) {
				of := "parameters of " + short(key.Value)
				values := map[string]string{}
				p.Modules[key.Value] = values
				d.pairs(value, of, "a parameter", func(key, value *yaml.Node) { values[key.Value] = d.text(value, of+": "+short(key.Value)) })
			})
		},
		"firmware": func(n *yaml.Node) {
			p.Firmware = map[string][]string{}
			d.pairs(n, "firmware", "a board id", func(key, value *yaml.Node) {
				p.Firmware[key.Value] = d.words(value, "firmware of "+short(key.Value))
			})
		},
	})
	if n.Kind == yaml.MappingNode && !given {
		d.fail(n, "version is missing: want version: %d", Version)
	}
}

func (d *decoder) devices(n *yaml.Node) *Devices {
	v := &Devices{}
	d.keys(n, "devices", map[string]func(*yaml.Node){
		"count":   func(n *yaml.Node) { v.Count = d.integer(n, "count", 1, mostDevices) },
		"present": func(n *yaml.Node) { v.Present = d.names(n, "present") },
	})
	return v
}

// entry reads an entry for ports that comes after others. One for names that
// all have an entry already would never be a port's.
func (d *decoder) entry(n *yaml.Node, before []Ports) Ports {
	v := d.ports(n)
	given := map[string]int{}
	for _, b := range before {
		for _, name := range b.Match {
			given[name] = b.line
		}
	}
	for _, name := range v.Match {
		if given[name] == 0 {
			return v
		}
	}
	if len(v.Match) > 0 {
		d.fail(n, "ports: %q has an entry in line %d, and the first that matches a port is the port's", short(v.Match[0]), given[v.Match[0]])
	}
	return v
}

func (d *decoder) ports(n *yaml.Node) Ports {
	v := Ports{line: n.Line}
	d.keys(n, "ports", map[string]func(*yaml.Node){
		"match":     func(n *yaml.Node) { v.Match = d.patterns(n, "match") },
		"transport": func(n *yaml.Node) { v.Transport = d.word(n, "transport", "RoCE", "InfiniBand", "iWARP") },
		"rate": func(n *yaml.Node) {
			v.Rate = d.text(n, "rate")
			var ok bool
			if v.rate, ok = parseRate(v.Rate); !ok {
				d.fail(n, "rate: want a speed as 400 Gb/s, found %q", short(v.Rate))
			}
		},
		"mtu": func(n *yaml.Node) { v.MTU = d.integer(n, "mtu", leastMTU, mostMTU) },
		"pfc": func(n *yaml.Node) {
			list := []int{}
			d.each(n, "pfc", func(n *yaml.Node) { list = append(list, d.integer(n, "pfc", 0, 7)) })
			v.PFC = &list
		},
		"dscp": func(n *yaml.Node) {
			v.DSCP = map[string]int{}
			d.pairs(n, "dscp", "a DSCP", func(key, value *yaml.Node) {
				dscp := d.integer(key, "dscp", 0, 63)
				v.DSCP[strconv.Itoa(dscp)] = d.integer(value, "priority of DSCP "+short(key.Value), 0, 7)
			})
		},
		"trust": func(n *yaml.Node) { v.Trust = d.word(n, "trust", "dscp", "pcp") },
		"ecn":   func(n *yaml.Node) { v.ECN = d.boolean(n, "ecn") },
	})
	if n.Kind == yaml.MappingNode && len(v.Match) == 0 {
		d.fail(n, "ports: match is missing: want the names of the ports that this is for")
	}
	return v
}

func (d *decoder) limits(n *yaml.Node) *Limits {
	v := &Limits{}
	d.keys(n, "limits", map[string]func(*yaml.Node){
		"memlock": func(n *yaml.Node) {
			v.Memlock = Bytes(d.text(n, "memlock"))
			if _, err := strconv.ParseUint(string(v.Memlock), 10, 64); err != nil && v.Memlock != unlimited {
				d.fail(n, "memlock: want a number of bytes or unlimited, found %q", short(string(v.Memlock)))
			}
		},
		"nofile":        func(n *yaml.Node) { v.Nofile = d.integer(n, "nofile", 1, 1<<30) },
		"max_map_count": func(n *yaml.Node) { v.MaxMapCount = d.integer(n, "max_map_count", 1, mostMapCount) },
	})
	return v
}

// Bounds of figures. RFC 791 gives the least MTU, the kernel's IP_MAX_MTU the
// largest, and vm.max_map_count is an int.
const (
	mostDevices       = 1024
	leastMTU, mostMTU = 68, 65535
	mostMapCount      = 1<<31 - 1
)

// unlimited is the word of a limit that is none.
const unlimited = "unlimited"

// parseRate reads what facts.BitsPerSecond prints.
func parseRate(s string) (facts.BitsPerSecond, bool) {
	for unit, factor := range map[string]float64{"Gb/s": 1e9, "Mb/s": 1e6, "kb/s": 1e3} {
		if figure, ok := strings.CutSuffix(s, unit); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(figure), 64)
			return facts.BitsPerSecond(f * factor), err == nil && f > 0 && f < 1e6
		}
	}
	return 0, false
}

// names reads names that stand for themselves.
func (d *decoder) names(n *yaml.Node, what string) []string {
	list := d.words(n, what)
	for _, name := range list {
		if strings.ContainsAny(name, "*?[") {
			d.fail(n, "%s: want a name, found the pattern %q", what, short(name))
		}
	}
	return list
}

// patterns reads names with * ? and [].
func (d *decoder) patterns(n *yaml.Node, what string) []string {
	list := d.words(n, what)
	for _, p := range list {
		if _, err := path.Match(p, ""); err != nil {
			d.fail(n, "%s: %q is no pattern: a [ has no ]", what, short(p))
		}
	}
	return list
}
