package knowledge

import (
	"cmp"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// group is what becomes one diagnosis: findings of one code with one fix, and
// all that they explain. Both lists are indexes in rank order.
type group struct {
	causes, consequences []int
}

func (g *group) diagnosis(all []symptom) Diagnosis {
	first := &all[g.causes[0]]
	d := first.alone()
	d.Subjects, d.Findings, d.Evidence = nil, []FindingRef{}, []checks.Evidence{}
	var vs []values
	for _, i := range g.causes {
		s := &all[i]
		if !slices.Contains(d.Subjects, s.Subject) {
			d.Subjects = append(d.Subjects, s.Subject)
		}
		d.refer(s)
		for _, e := range s.Evidence {
			if !slices.Contains(d.Evidence, e) {
				d.Evidence = append(d.Evidence, e)
			}
		}
		vs = append(vs, s.values())
	}
	g.sortFromBelow(all)
	for _, i := range g.consequences {
		s := &all[i]
		d.refer(s)
		if severityRank(s.Severity) < severityRank(d.Severity) {
			d.Severity = s.Severity
		}
	}
	d.Impact = impactOf(first.page, d.Severity)
	d.Fix = steps(first.page.Fix, vs)
	d.Verify = lines(first.page.Verify, vs)
	d.Reproduce = lines(first.page.Reproduce, vs)
	return d
}

// refer names a finding among those that the diagnosis covers, once.
func (d *Diagnosis) refer(s *symptom) {
	if ref := (FindingRef{s.Code, s.Subject}); !slices.Contains(d.Findings, ref) {
		d.Findings = append(d.Findings, ref)
	}
}

// sortFromBelow orders consequences as the examination meets them, which is
// also the order in which they follow from each other.
func (g *group) sortFromBelow(all []symptom) {
	slices.Sort(g.consequences)
	g.consequences = slices.Compact(g.consequences)
	slices.SortStableFunc(g.consequences, func(a, b int) int {
		x, y := &all[a], &all[b]
		return cmp.Or(cmp.Compare(x.page.Layer, y.page.Layer), cmp.Compare(x.Code, y.Code), naturally(x.Subject, y.Subject))
	})
}

// alone is the diagnosis of one finding that explains nothing else, without
// its steps.
func (s *symptom) alone() Diagnosis {
	p := s.page
	return Diagnosis{
		Code: s.Code, Severity: s.Severity, Confidence: s.confidence(), Impact: impactOf(p, s.Severity),
		Layer: p.Layer, Subject: s.Subject, Subjects: []string{s.Subject},
		Title: p.Title, Message: s.Message, Symptom: p.Symptom, Cause: p.Cause,
		References: append([]string{}, p.References...),
	}
}

// impactOf is the page's impact as far as the check bears it out on this host.
// What is only information harms nobody here: it is reported because elsewhere
// it would. What is only a warning leaves something that works.
func impactOf(p *Page, s checks.Severity) Impact {
	switch {
	case s == checks.Info:
		return None
	case s == checks.Warn && p.Impact == Down:
		return Degraded
	}
	return p.Impact
}
