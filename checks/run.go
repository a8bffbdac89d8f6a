package checks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Options are what a run may know besides the snapshot.
type Options struct {
	// Wanted names ports ("mlx5_0/1"), devices or netdevs that the user asked for
	// with --device or --port, or that a policy or baseline expects.
	Wanted []string
	// Before is what probes measured when the baseline was recorded.
	Before []facts.Measurement
}

// Run applies cs in order and reports each result as soon as it is known.
func Run(s *facts.Snapshot, cs []*Check, opt Options, report func(Result)) {
	blocked := map[*Check]bool{}
	for _, c := range cs {
		r, _ := run(s, c, opt, blocked)
		blocked[c] = r.Status == Failed || r.Status == Unknown ||
			r.Status == Skipped && slices.ContainsFunc(c.Requires, func(req *Check) bool { return blocked[req] })
		report(r)
	}
}

// run judges one check and tells which sources it touched.
func run(s *facts.Snapshot, c *Check, opt Options, blocked map[*Check]bool) (Result, []facts.Source) {
	res := Result{ID: c.ID, Layer: c.Layer, Title: c.Title, Findings: []Finding{}}
	for _, src := range c.Needs {
		if !s.Has(src) {
			res.Status, res.Reason = without(s, c, src)
			return res, nil
		}
	}
	for _, req := range c.Requires {
		if blocked[req] {
			res.Status, res.Reason = Skipped, req.ID+" did not pass"
			return res, nil
		}
	}
	p := &Pass{snap: s, opt: opt, touched: map[facts.Source]bool{}, res: res}
	c.Run(p)
	NameEnds(s, &p.res)
	slices.SortStableFunc(p.res.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message))
	})
	slices.Sort(p.res.Unread)
	p.res.Status, p.res.Reason = p.status()
	return p.res, slices.Sorted(maps.Keys(p.touched))
}

// without is how a check ends that needs a source which was not read: unknown,
// unless there is nothing that the source could have told.
func without(s *facts.Snapshot, c *Check, src facts.Source) (Status, string) {
	if src == facts.Probes {
		return Skipped, noProbe // Nobody wanted to look: probes are asked for.
	}
	if slices.Contains(perDevice, src) && slices.Contains(c.Needs, facts.SysfsRDMA) && s.Has(facts.SysfsRDMA) && len(s.Devices) == 0 {
		return Skipped, noDevice
	}
	var reason string
	for _, g := range s.Gaps {
		if g.Source != src {
			continue
		}
		if !refused(g) {
			return Unknown, notRead(s, src)
		}
		reason = fmt.Sprintf("%s is not offered here: %s (%s)", src, g.What, g.Detail)
	}
	if reason == "" {
		return Unknown, notRead(s, src)
	}
	return Skipped, reason
}

// perDevice are the sources that are asked about RDMA devices and their netdevs
// only, so that a host without devices leaves them unread rightly.
var perDevice = []facts.Source{facts.DCBNetlink, facts.Ethtool, facts.RDMANetlink, facts.CharDevNodes, facts.RDMACgroup, facts.ConfigFS}

const noDevice = "no RDMA device is on this host"

// noProbe is the reason of checks that judge probes in a run without any.
const noProbe = "no probe was run"

// refused reports whether a driver or kernel was asked and answered that it
// does not have the thing, unlike an input that cannot hold the answer.
func refused(g facts.Gap) bool {
	return g.Kind == facts.Unsupported && (g.Detail == "EOPNOTSUPP" || g.Detail == "ENOTTY")
}

// notRead says which source is missing and why, so that unknown can be acted
// on.
func notRead(s *facts.Snapshot, src facts.Source) string {
	for _, g := range s.Gaps {
		if g.Source == src {
			if g.Detail == facts.NotInForm {
				return "needs " + string(src) + ", which is " + g.Detail
			}
			if g.Detail != "" {
				return fmt.Sprintf("%s was not read: %s: %s (%s)", src, g.What, g.Kind, g.Detail)
			}
			return fmt.Sprintf("%s was not read: %s: %s", src, g.What, g.Kind)
		}
	}
	return string(src) + " was not read"
}

func (p *Pass) status() (Status, string) {
	worst := Passed
	for _, f := range p.res.Findings {
		switch f.Severity {
		case Fail:
			worst = Failed
		case Warn:
			if worst == Passed {
				worst = Warned
			}
		}
	}
	switch {
	case worst != Passed:
		return worst, ""
	case p.res.Examined > 0:
		return Passed, ""
	case len(p.res.Unread) > 0:
		return Unknown, "not read: " + p.res.Unread[0]
	case p.skip != "":
		return Skipped, p.skip
	case p.bare != "":
		return Skipped, p.bare
	}
	return Skipped, "nothing to examine"
}
