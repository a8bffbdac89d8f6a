package report

import (
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// Scripts iterate over lists without asking whether they are there, so every
// list that the schema requires is [] where it is empty. The functions below
// copy what they change: the same message goes to other handlers too.

// list is s, never nil.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func wholeRun(r Run) Run {
	r.Args = list(r.Args)
	return r
}

func wholeResult(r checks.Result) checks.Result {
	r.Findings = list(slices.Clone(r.Findings))
	for i := range r.Findings {
		r.Findings[i].Evidence = list(r.Findings[i].Evidence)
	}
	return r
}

func wholeDiagnosis(d knowledge.Diagnosis) knowledge.Diagnosis {
	d.Subjects, d.Findings, d.Evidence = list(d.Subjects), list(d.Findings), list(d.Evidence)
	d.Fix, d.Verify, d.Reproduce, d.References = list(d.Fix), list(d.Verify), list(d.Reproduce), list(d.References)
	return d
}

func wholeMeasurement(m facts.Measurement) facts.Measurement {
	m.Samples, m.Moved = list(m.Samples), list(m.Moved)
	return m
}

func wholeLadder(l facts.Ladder) facts.Ladder {
	l.Steps = list(l.Steps)
	return l
}

func wholeSnapshot(s facts.Snapshot) facts.Snapshot {
	s.Sources = list(s.Sources)
	s.Units = slices.Clone(s.Units)
	for i := range s.Units {
		s.Units[i].Files = list(s.Units[i].Files)
	}
	s.Ladders, s.Measured = slices.Clone(s.Ladders), slices.Clone(s.Measured)
	for i := range s.Ladders {
		s.Ladders[i] = wholeLadder(s.Ladders[i])
	}
	for i := range s.Measured {
		s.Measured[i] = wholeMeasurement(s.Measured[i])
	}
	if s.Peer != nil {
		peer := wholeSnapshot(*s.Peer)
		s.Peer = &peer
	}
	return s
}

func wholeRates(r Rates) Rates {
	r.Ports = list(slices.Clone(r.Ports))
	for i := range r.Ports {
		r.Ports[i].Counters = list(r.Ports[i].Counters)
	}
	return r
}
