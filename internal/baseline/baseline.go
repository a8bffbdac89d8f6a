// Package baseline tells what is not as it was: a host against the last
// recording of it that was good. It judges changes, not states: what was wrong
// then already is for the checks to say.
package baseline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// ID names the result of Changes among those of the checks.
const ID = "like-baseline"

// ChangedCode is the code of a change that has none of its own.
const ChangedCode = "changed-since-baseline"

// Codes are the codes of the findings.
var Codes = []string{ChangedCode, "device-missing", "link-speed-degraded", "link-width-degraded",
	"pcie-speed-degraded", "pcie-width-degraded", "roce-mtu-low", "pfc-off", "ecn-off"}

// Changes compares a host with the recording of it from when it was good. There
// is a finding for every fact that stands still and is another one now: with
// the code of the trouble where it is one, else ChangedCode, as a warning where
// somebody must have set it and as information where it changes by itself. What
// was read then and cannot be read now is in Unread. It reads both snapshots
// only; the doctor and tests may call it on any two.
func Changes(before, now *facts.Snapshot) checks.Result {
	r := checks.Result{ID: ID, Layer: checks.Group, Title: "the host is as it was when the baseline was recorded", Findings: []checks.Finding{}}
	c := &comparison{before: before, now: now, result: &r, unread: map[string][]string{}}
	for _, p := range pairs(before, now) {
		switch {
		case p.before == nil:
			c.appeared(p.now)
		case p.now == nil:
			c.vanished(p.before)
		default:
			r.Examined++
			c.changed(p)
		}
	}
	same := names(before, now)
	c.lostCounters(same)
	c.stirredCounters(same)
	c.services()
	for _, thing := range slices.Sorted(maps.Keys(c.unread)) {
		r.Unread = append(r.Unread, thing+" "+strings.Join(slices.Sorted(slices.Values(c.unread[thing])), ", "))
	}
	slices.SortStableFunc(r.Findings, func(a, b checks.Finding) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	r.Status, r.Reason = status(&r)
	return r
}

// comparison is one run of Changes.
type comparison struct {
	before, now *facts.Snapshot
	result      *checks.Result
	unread      map[string][]string // by thing, the fields
}

func (c *comparison) report(f checks.Finding) { c.result.Findings = append(c.result.Findings, f) }

// status is the worst finding, or unknown where what was read then is not now.
func status(r *checks.Result) (checks.Status, string) {
	worst := checks.Passed
	for _, f := range r.Findings {
		switch {
		case f.Severity == checks.Fail:
			worst = checks.Failed
		case f.Severity == checks.Warn && worst != checks.Failed:
			worst = checks.Warned
		}
	}
	switch {
	case worst != checks.Passed:
		return worst, ""
	case len(r.Unread) > 0:
		return checks.Unknown, "read then and not now: " + r.Unread[0]
	case r.Examined < 2: // The host itself is always there.
		return checks.Skipped, "nothing of the baseline can be compared"
	}
	return checks.Passed, ""
}

// changed reports the fields of one thing that differ.
func (c *comparison) changed(p pair) {
	if p.before.Name != p.now.Name {
		c.report(c.change(p.now, "name", p.before.Name, p.now.Name, judgement{checks.Info, "name"}))
	}
	lists := map[string][]string{} // by bare name, the fields of a list that differ
	for _, field := range fieldsOf(p) {
		if !c.differs(p, field) {
			continue
		}
		if name := settings.Bare(field); strings.Contains(name, "[") {
			lists[name] = append(lists[name], field)
			continue
		}
		c.reportField(p, field)
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if len(lists[name]) > fewEntries {
			c.report(c.listChange(p, name, lists[name]))
			continue
		}
		for _, field := range lists[name] {
			c.reportField(p, field)
		}
	}
}

// fewEntries is how many entries of a list are told one by one.
const fewEntries = 4

// differs reports whether a field is another one now, and notes one that was
// read then only.
func (c *comparison) differs(p pair, field string) bool {
	was, had := p.before.Fields[field]
	is, has := p.now.Fields[field]
	src := settings.Source(p.now.Kind, field)
	tells := strings.Contains(field, "[") || absenceTells[string(p.now.Kind)+"."+field]
	switch {
	case was == is && had == has:
		return false
	case !c.before.Has(src):
		return false
	case src == facts.Ethtool && (c.before.Origin == facts.Tree) != (c.now.Origin == facts.Tree):
		return false // A copied tree names a netdev's driver by its bus device, a host by itself.
	case settings.Bare(field) == privateVersions && (!holds(p.before, privateVersions) || !holds(p.now, privateVersions)):
		return false // Older recordings and copied trees hold a library's name only.
	case !c.now.Has(src):
		c.miss(p.now, field)
		return false
	case !has && (!tells || !readable(c.now, p.now, field)):
		c.miss(p.now, field)
		return false
	case !had:
		return tells && readable(c.before, p.before, field) // Else it could not be read then.
	}
	return true
}

// privateVersions are what libraries need of libibverbs, by library.
const privateVersions = "userland.private_versions[]"

// holds reports whether a thing has any entry of a list.
func holds(t *settings.Thing, list string) bool {
	for field := range t.Fields {
		if settings.Bare(field) == list {
			return true
		}
	}
	return false
}

func (c *comparison) reportField(p pair, field string) {
	f, ok := c.trouble(p, field)
	if !ok {
		j := judge(p.now.Kind, field)
		if strings.HasPrefix(field, "current_link_") && !nic(p.now) {
			j.severity = checks.Info
		}
		f = c.change(p.now, field, p.before.Fields[field], p.now.Fields[field], j)
	}
	c.report(f)
}

// listChange is one finding for many entries of a list.
func (c *comparison) listChange(p pair, name string, fields []string) checks.Finding {
	j := judge(p.now.Kind, name)
	text := func(t *settings.Thing) string {
		var parts []string
		for _, f := range fields {
			if v, ok := t.Fields[f]; ok {
				parts = append(parts, settings.Index(f)+" "+v)
			}
		}
		return strings.Join(parts, ", ")
	}
	f := c.change(p.now, name, text(p.before), text(p.now), j)
	f.Message = fmt.Sprintf("%s of %s differs in %d entries from when the baseline was recorded", j.title, p.now, len(fields))
	return f
}

// fieldsOf lists the fields of both in order.
func fieldsOf(p pair) []string {
	all := map[string]bool{}
	for f := range p.before.Fields {
		all[f] = true
	}
	for f := range p.now.Fields {
		all[f] = true
	}
	return slices.SortedFunc(maps.Keys(all), settings.Compare)
}

// readable reports whether the source of a field was read, and no gap is about
// the thing: a copied tree has what files show of a source, and no more.
func readable(s *facts.Snapshot, t *settings.Thing, field string) bool {
	src := settings.Source(t.Kind, field)
	if !s.Has(src) {
		return false
	}
	return !slices.ContainsFunc(s.Gaps, func(g facts.Gap) bool {
		return g.Source == src && (g.Detail == facts.NotInForm || g.Kind != facts.Absent && t.Name != "" && about(g.What, t))
	})
}

// about reports whether a gap concerns the thing.
func about(what string, t *settings.Thing) bool {
	if device, port, ok := strings.Cut(t.Name, "/"); ok && t.Kind == settings.Port {
		return strings.Contains(what, device+"/ports/"+port)
	}
	return strings.Contains(what, t.Name)
}

func (c *comparison) miss(t *settings.Thing, field string) {
	if src := settings.Source(t.Kind, field); !c.now.Has(src) {
		c.unread[string(src)] = []string{"(the whole source)"}
		return
	}
	field = settings.Bare(field)
	if !slices.Contains(c.unread[t.String()], field) {
		c.unread[t.String()] = append(c.unread[t.String()], field)
	}
}

// vanished reports a thing that was there and is not.
func (c *comparison) vanished(t *settings.Thing) {
	if src := settings.Source(t.Kind, ""); !c.now.Has(src) {
		c.unread[string(src)] = []string{"(the whole source)"}
		return
	}
	switch t.Kind {
	case settings.Module:
		if c.now.Module(t.Name) != nil {
			return // It is loaded; whether RDMA needs it was not read.
		}
	case settings.Device:
		c.report(c.deviceMissing(t))
		return
	case settings.Port:
		device, _, _ := strings.Cut(t.Name, "/")
		if c.now.Device(device) == nil {
			return // The device says it.
		}
	}
	f := c.change(t, "", "there", "gone", judge(t.Kind, ""))
	f.Message = fmt.Sprintf("%s %s is gone, and was there when the baseline was recorded", t.Kind, t)
	c.report(f)
}

// appeared reports a thing that was not there. That harms nobody.
func (c *comparison) appeared(t *settings.Thing) {
	if src := settings.Source(t.Kind, ""); !c.before.Has(src) {
		return
	}
	if t.Kind == settings.Module && c.before.Module(t.Name) != nil {
		return
	}
	f := c.change(t, "", "not there", "there", judgement{checks.Info, string(t.Kind)})
	f.Message = fmt.Sprintf("%s %s is here, and was not when the baseline was recorded", t.Kind, t)
	c.report(f)
}

// change is the finding for a fact that has no trouble of its own.
func (c *comparison) change(t *settings.Thing, field, was, is string, j judgement) checks.Finding {
	was, is = orNone(shown(t.Kind, field, was)), orNone(shown(t.Kind, field, is))
	subject := t.String()
	return checks.Finding{
		Code: ChangedCode, Severity: j.severity, Subject: subject, Confidence: checks.Proved, Where: c.where(t),
		Message:  fmt.Sprintf("%s of %s is %s, and was %s when the baseline was recorded", j.title, subject, is, was),
		Evidence: []checks.Evidence{{Source: evidence(t, field), Value: is}, {Source: "the baseline's " + evidence(t, field), Value: was}},
		Params:   map[string]string{"what": strings.TrimSpace(j.title + " of " + subject), "was": was, "is": is},
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
