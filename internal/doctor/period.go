package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// A Period judges a host at many moments, one snapshot after another, and sums
// them up: each finding as it was when it was worst, with when it was seen. The
// trouble of a job that is dead is judged at the moment of the fault, whatever
// the host is like now.
type Period struct {
	opt     Options
	cs      []*checks.Check
	live    func(report.Message) // told at once what is new; nil: only at the end
	results map[string]*merged   // by check
	order   []string             // of the results
	rel     knowledge.Relations
	last    *facts.Snapshot
	moments int
	line    timeline
}

// merged is what became of one check over the period.
type merged struct {
	checks.Result
	seen map[findingKey]*seen
}

type findingKey struct{ code, subject string }

// seen is when one finding was there.
type seen struct {
	finding     checks.Finding
	first, last time.Time
	moments     int
}

// NewPeriod begins a period. live, where it is not nil, is told what happens as
// soon as it is known.
func NewPeriod(opt Options, live func(report.Message)) (*Period, error) {
	cs, err := Select(opt.Only, opt.Skip)
	if err != nil {
		return nil, err
	}
	return &Period{opt: opt, cs: cs, live: live, results: map[string]*merged{}, line: timeline{live: live}}, nil
}

// Add judges the host at one more moment. The snapshot's samples may be as far
// apart as they are; with one sample only what stands still is judged.
func (p *Period) Add(snap *facts.Snapshot) {
	full := snap
	if p.opt.Device != "" && missing(full, p.opt) == nil {
		snap = narrow(full, p.opt.Device, p.opt.Port)
	}
	p.moments++
	from, to := full.Taken, full.Taken.Add(full.Interval)
	p.line.add(p.last, full, snap)
	judge(full, snap, p.cs, p.opt, func(r checks.Result) { p.merge(r, from, to) })
	for _, r := range Relations(full) {
		if !slices.ContainsFunc(p.rel, func(had knowledge.Relation) bool { return had.Device == r.Device && had.Port == r.Port }) {
			p.rel = append(p.rel, r)
		}
	}
	p.last = full
}

// Note puts an event of the host itself into the timeline.
func (p *Period) Note(at, until time.Time, text string) {
	p.line.put(report.Event{Time: at, Until: until, Kind: report.HostEvent, Subject: "host", Text: text})
}

// Moments is how many snapshots were judged.
func (p *Period) Moments() int { return p.moments }

// merge adds what a check said at one moment. A check that could look at one
// moment has looked.
func (p *Period) merge(r checks.Result, from, to time.Time) {
	m := p.results[r.ID]
	if m == nil {
		m = &merged{Result: r, seen: map[findingKey]*seen{}}
		p.results[r.ID] = m
		p.order = append(p.order, r.ID)
	}
	if statusRank(r.Status) <= statusRank(m.Status) {
		m.Status, m.Reason, m.Unread = r.Status, r.Reason, r.Unread
	}
	m.Examined = max(m.Examined, r.Examined)
	for _, f := range r.Findings {
		key := findingKey{f.Code, f.Subject}
		s := m.seen[key]
		if s == nil {
			s = &seen{finding: f, first: from}
			m.seen[key] = s
		}
		if rank(f.Severity) > rank(s.finding.Severity) {
			s.finding = f
		}
		s.last = to
		s.moments++
		p.line.found(f, from, to)
	}
}

// statusRank orders by what a period remembers: the worst judgement, then that
// there was one at all.
func statusRank(s checks.Status) int {
	return slices.Index([]checks.Status{checks.Failed, checks.Warned, checks.Passed, checks.Unknown, checks.Skipped}, s)
}

// Close sends what the period comes to, all but the Run and the Summary, which
// it returns. rerr is why the period ended early, or nil.
func (p *Period) Close(ctx context.Context, rerr *report.Error, send func(report.Message)) report.Summary {
	if rerr == nil && p.last != nil {
		rerr = missing(p.last, p.opt)
	}
	if p.last != nil {
		for i := range p.last.Gaps {
			send(report.Message{Gap: &p.last.Gaps[i]})
		}
		if p.opt.KeepSnapshot {
			send(report.Message{Snapshot: p.last})
		}
	}
	for _, e := range p.line.close() {
		send(report.Message{Event: &e})
	}
	var results []checks.Result
	for _, id := range p.order {
		r := p.results[id].result(p.moments)
		results = append(results, r)
		send(report.Message{Result: &r})
	}
	diagnoses := knowledge.Explain(results, p.rel)
	for i := range diagnoses {
		send(report.Message{Diagnosis: &diagnoses[i]})
	}
	if rerr != nil {
		send(report.Message{Error: rerr})
	}
	return report.Summarize(results, diagnoses, rerr, p.opt.FailOn)
}

// result is the check's with each finding's times as evidence.
func (m *merged) result(moments int) checks.Result {
	r := m.Result
	r.Findings = []checks.Finding{}
	for _, key := range slices.SortedFunc(maps.Keys(m.seen), func(a, b findingKey) int {
		return compareKeys(a, b)
	}) {
		s := m.seen[key]
		f := s.finding
		f.Evidence = append(slices.Clone(f.Evidence), checks.Evidence{Source: "seen",
			Value: fmt.Sprintf("%s to %s, in %d of %d intervals", clock(s.first), clock(s.last), s.moments, moments)})
		r.Findings = append(r.Findings, f)
	}
	return r
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
