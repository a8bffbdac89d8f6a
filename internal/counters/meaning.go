package counters

import (
	_ "embed" // The meanings are a table, not code.
	"strings"
	"sync"
)

// Meaning is what a counter counts and what mostly makes it grow, in words.
type Meaning struct {
	Text  string
	Cause string // "" where nothing in particular does
}

//go:embed meanings.tsv
var meaningsFile string

var meanings = sync.OnceValue(func() map[key]Meaning { return parseMeanings(meaningsFile) })

var placeNames = map[string]Place{"port": Port, "device": Device, "ethtool": Ethtool, "fec": FEC, "netdev": Netdev, "cm": CM}

// String is the place as a reader looks for it.
func (p Place) String() string {
	switch p {
	case Port:
		return "ports/N/counters"
	case Device:
		return "hw_counters"
	case Ethtool:
		return "ethtool -S"
	case FEC:
		return "ethtool -I --show-fec"
	case CM:
		return "ports/N/cm_*"
	}
	return "ip -s -s link"
}

// Places are all places.
func Places() []Place { return []Place{Port, Device, Ethtool, FEC, Netdev, CM} }

// parseMeanings reads lines of place, name, meaning and cause with tabs
// between.
func parseMeanings(text string) map[key]Meaning {
	m := map[key]Meaning{}
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if place, ok := placeNames[f[0]]; ok && len(f) == 4 {
			m[key{place, f[1]}] = Meaning{f[2], f[3]}
		}
	}
	return m
}

// Describe tells what the counter called name counts.
func (p Place) Describe(name string) (Meaning, bool) {
	c, _, ok := Lookup(p, name)
	if !ok {
		return Meaning{}, false
	}
	m, ok := meanings()[key{p, c.Name}]
	return m, ok
}
