package expect

import (
	"fmt"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// An End is one end of a path.
type End struct {
	Host     string // empty: this host
	Snapshot *facts.Snapshot
	Device   *facts.Device
	Port     *facts.Port
}

// String names the port, with its host where that is another.
func (e End) String() string { return e.place(facts.LinkName(e.Device.Name, e.Port.Number)) }

func (e End) place(name string) string {
	if e.Host != "" {
		return e.Host + " " + name
	}
	return name
}

// function is the PCI function of the end's device, nil where it has none.
func (e End) function() *facts.PCIFunction { return e.Snapshot.PCITree()[e.Device.PCI.Or("")] }

// A Ceiling is one thing that bounds a path.
type Ceiling struct {
	Name    string // "link", "PCIe", "window"
	At      string // "mlx5_0/1", "hostB 0000:3b:00.0"
	Rate    facts.BitsPerSecond
	Formula string
}

// String is the ceiling with the way to it.
func (c Ceiling) String() string {
	return fmt.Sprintf("%s of %s: %s = %s", c.Name, c.At, c.Formula, Rate(float64(c.Rate)))
}

// An Expectation is what a path should carry, one way.
type Expectation struct {
	Link     Ceiling // Rate 0: it is a loopback or the link's rate was not read
	Limit    Ceiling // the lowest
	Ceilings []Ceiling
}

// Bandwidth works out what a transfer between the ends should reach. A
// loopback (one end) never leaves the card: PCIe bounds it, and the card, which
// is made for the rate of its port. It is false where nothing is known that
// bounds the path.
func Bandwidth(ends []End, path *facts.Path, window Ceiling) (Expectation, bool) {
	var x Expectation
	if len(ends) > 1 && path != nil {
		if c, ok := link(ends, path); ok {
			x.Link, x.Ceilings = c, append(x.Ceilings, c)
		}
	}
	for _, e := range ends {
		if c, ok := pcie(e); ok {
			x.Ceilings = append(x.Ceilings, c)
		}
	}
	if len(ends) == 1 && path != nil && len(x.Ceilings) > 0 {
		if c, ok := link(ends, path); ok {
			c.Name = "card"
			x.Ceilings = append(x.Ceilings, c)
		}
	}
	if window.Rate > 0 {
		x.Ceilings = append(x.Ceilings, window)
	}
	for i, c := range x.Ceilings {
		if i == 0 || c.Rate < x.Limit.Rate {
			x.Limit = c
		}
	}
	return x, len(x.Ceilings) > 0 && (x.Link.Rate > 0 || len(ends) == 1)
}

// Window is the ceiling that the bytes outstanding set: they cross once a
// round trip. It is nothing where the round trip is not known.
func Window(qps, depth, size int, rtt time.Duration) Ceiling {
	bytes := float64(max(qps, 1)) * float64(depth) * float64(size)
	if bytes <= 0 || rtt <= 0 {
		return Ceiling{}
	}
	return Ceiling{Name: "window", At: "the queue pairs", Rate: facts.BitsPerSecond(bytes * 8 / rtt.Seconds()),
		Formula: fmt.Sprintf("QPs %d x outstanding %d x %d bytes / %v", max(qps, 1), depth, size, rtt.Round(10*time.Nanosecond))}
}

// Judgeable reports whether the formula holds for an end, and why not: an
// emulation is bound by processors, and a guest or an adapter of a cloud does
// not show what it stands on.
func Judgeable(e End) (why string, ok bool) {
	f := e.function()
	switch {
	case e.Device.Software():
		return e.String() + " is software", false
	case e.Device.Provider.Or("") == "efa", e.Device.Provider.Or("") == "mana":
		return e.String() + " is an adapter of a cloud", false
	case e.Snapshot.Host.Virtual.Or(false):
		if e.Host != "" {
			return e.Host + " is a guest", false
		}
		return "this host is a guest", false
	case f != nil && f.VF:
		return e.String() + " is a virtual function", false
	}
	return "", true
}

// Rate shows bits per second with three digits that matter.
func Rate(bits float64) string {
	units := []string{"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s"}
	i := 0
	for bits >= 1000 && i < len(units)-1 {
		bits, i = bits/1000, i+1
	}
	return digits(bits) + " " + units[i]
}

// digits are three digits that matter, without zeros behind the point.
func digits(x float64) string {
	form := "%.2f"
	switch {
	case x >= 100:
		form = "%.0f"
	case x >= 10:
		form = "%.1f"
	}
	s := fmt.Sprintf(form, x)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Messages shows a rate of messages, in millions a second as data sheets do.
func Messages(perSecond float64) string { return digits(perSecond/1e6) + " M messages/s" }

// Time shows nanoseconds in the unit that people use for them.
func Time(ns float64) string {
	switch {
	case ns < 1000:
		return digits(ns) + " ns"
	case ns < 1e6:
		return digits(ns/1e3) + " us"
	case ns < 1e9:
		return digits(ns/1e6) + " ms"
	}
	return digits(ns/1e9) + " s"
}
