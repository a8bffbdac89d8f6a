package doctor

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/near"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// A NameError is a word in --only or --skip that names nothing.
type NameError struct {
	Name string
	Near []string // names that look like it
}

func (e *NameError) Error() string {
	return fmt.Sprintf("%q is no code, check or layer", e.Name)
}

// Names lists every word that --only and --skip take: layers, check ids and
// finding codes share one namespace.
func Names() []string {
	var ns []string
	for _, l := range checks.Layers() {
		ns = append(ns, l.String())
	}
	for _, c := range checks.All() {
		ns = append(ns, c.ID)
		ns = append(ns, c.Codes...)
	}
	for id, codes := range expectedCodes {
		ns = append(append(ns, id), codes...)
	}
	slices.Sort(ns)
	return slices.Compact(ns)
}

// Select returns the checks that only and skip leave, in run order. A check
// that is required by a selected one runs too.
func Select(only, skip []string) ([]*checks.Check, error) {
	names := Names()
	for _, n := range slices.Concat(only, skip) {
		if !slices.Contains(names, n) {
			return nil, &NameError{Name: n, Near: near.Words(n, names)}
		}
	}
	names1 := func(c *checks.Check) []string { return append([]string{c.ID, c.Layer.String()}, c.Codes...) }
	hit := func(c *checks.Check, words []string) bool {
		return slices.ContainsFunc(names1(c), func(n string) bool { return slices.Contains(words, n) })
	}
	keep := map[*checks.Check]bool{}
	var add func(*checks.Check)
	add = func(c *checks.Check) {
		if keep[c] {
			return
		}
		keep[c] = true
		for _, r := range c.Requires {
			add(r)
		}
	}
	for _, c := range checks.All() {
		if len(only) > 0 && !hit(c, only) {
			continue
		}
		// A skipped code leaves its check in place: the check may report others.
		if slices.Contains(skip, c.ID) || slices.Contains(skip, c.Layer.String()) {
			continue
		}
		add(c)
	}
	return slices.DeleteFunc(checks.All(), func(c *checks.Check) bool { return !keep[c] }), nil
}

// codeWanted reports whether a finding of this code is to be shown. Naming a
// code in --only hides the other codes of the same check.
func codeWanted(opt Options, code string) bool {
	if slices.Contains(opt.Skip, code) {
		return false
	}
	var codes []string
	for _, n := range opt.Only {
		if _, isCode := codeOwner(n); isCode {
			codes = append(codes, n)
		} else {
			return true // a layer or check was named: everything it finds
		}
	}
	return len(codes) == 0 || slices.Contains(codes, code)
}

func codeOwner(name string) (*checks.Check, bool) {
	for _, c := range checks.All() {
		if c.ID != name && slices.Contains(c.Codes, name) {
			return c, true
		}
	}
	for id, codes := range expectedCodes {
		if id != name && slices.Contains(codes, name) {
			return nil, true
		}
	}
	return nil, false
}

// Relations tells which places belong together on this host.
func Relations(s *facts.Snapshot) knowledge.Relations {
	var rel knowledge.Relations
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			p := &d.Ports[j]
			r := knowledge.Relation{Device: d.Name, Port: p.Number, PCI: d.PCI.Or("")}
			if n := s.Netdev(p.Netdev.Or("")); n != nil {
				r.Netdevs = append(r.Netdevs, n.Name)
				if b := s.Beneath(n); b != n {
					r.Netdevs = append(r.Netdevs, b.Name)
				}
			}
			rel = append(rel, r)
		}
	}
	return rel
}
