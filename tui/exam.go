package tui

import (
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// exam is what is known of one run so far: its stream, folded.
type exam struct {
	run       *report.Run
	step      *report.Progress
	snap      *facts.Snapshot
	gaps      []facts.Gap
	results   []*checks.Result
	diagnoses []*knowledge.Diagnosis
	err       *report.Error
	summary   *report.Summary
	over      bool
	overErr   error // what the run returned, where it said nothing itself
	stream    []report.Message
	table     []port // of the snapshot and the results, made when it is asked for
}

// take folds one item in and returns the exam to go on with, which is a new
// one where another run starts.
func (e *exam) take(it item) *exam {
	if it.end {
		e.over = true
		if e.summary == nil && e.err == nil {
			e.overErr = it.err
		}
		return e
	}
	m := it.msg
	e.table = nil
	if m.Run != nil && len(e.stream) > 0 {
		e = &exam{}
	}
	e.stream = append(e.stream, m)
	switch {
	case m.Run != nil:
		e.run = m.Run
	case m.Progress != nil:
		e.step = m.Progress
	case m.Gap != nil:
		e.gap(*m.Gap)
	case m.Snapshot != nil:
		e.snap = m.Snapshot
		for _, g := range m.Snapshot.Gaps {
			e.gap(g)
		}
	case m.Result != nil:
		e.results = append(e.results, m.Result)
	case m.Diagnosis != nil:
		e.diagnoses = append(e.diagnoses, m.Diagnosis)
	case m.Error != nil:
		e.err = m.Error
	case m.Summary != nil:
		e.summary, e.over = m.Summary, true
	}
	return e
}

// gap keeps a gap once: it comes alone and in the snapshot.
func (e *exam) gap(g facts.Gap) {
	if !slices.Contains(e.gaps, g) {
		e.gaps = append(e.gaps, g)
	}
}

// state is where a run stands.
type state int

const (
	waiting state = iota // nothing has come yet
	running
	done
	interrupted
	failed // could not do its work
	cut    // ended without a word
)

func (e *exam) state() state {
	switch {
	case e.err != nil && e.err.Kind == report.InterruptedError:
		return interrupted
	case e.summary != nil && e.summary.Status == "interrupted":
		return interrupted
	case e.err != nil || e.over && e.overErr != nil:
		return failed
	case e.summary != nil:
		return done
	case e.over:
		return cut
	case len(e.stream) == 0:
		return waiting
	}
	return running
}

// ended reports whether no more is to come of this run.
func (e *exam) ended() bool { return e.over || e.err != nil }

// serious are the diagnoses that want something done.
func (e *exam) serious() []*knowledge.Diagnosis {
	var ds []*knowledge.Diagnosis
	for _, d := range e.diagnoses {
		if d.Severity != checks.Info {
			ds = append(ds, d)
		}
	}
	return ds
}

// noRDMA reports whether the host was looked at and has no RDMA device. A
// report without a snapshot tells by its diagnoses. A list of devices that
// could not be read says nothing.
func (e *exam) noRDMA() bool {
	if e.snap != nil && (len(e.snap.Devices) > 0 || e.snap.Has(facts.SysfsRDMA)) {
		return len(e.snap.Devices) == 0
	}
	return slices.ContainsFunc(e.diagnoses, func(d *knowledge.Diagnosis) bool {
		return d.Code == "no-rdma-device" || d.Code == "kernel-without-rdma"
	})
}

// result returns the result of the check called id, or nil.
func (e *exam) result(id string) *checks.Result {
	for _, r := range e.results {
		if r.ID == id {
			return r
		}
	}
	return nil
}

// diagnosis returns the diagnosis of code on subject, or nil.
func (e *exam) diagnosis(code, subject string) *knowledge.Diagnosis {
	for _, d := range e.diagnoses {
		if d.Code == code && d.Subject == subject {
			return d
		}
	}
	return nil
}

// explainers are the diagnoses that explain one of the findings, each once.
func (e *exam) explainers(fs []checks.Finding) []*knowledge.Diagnosis {
	var ds []*knowledge.Diagnosis
	for _, d := range e.diagnoses {
		if slices.ContainsFunc(fs, func(f checks.Finding) bool {
			return slices.Contains(d.Findings, knowledge.FindingRef{Code: f.Code, Subject: f.Subject})
		}) {
			ds = append(ds, d)
		}
	}
	return ds
}

// finding returns the finding that ref names, or nil.
func (e *exam) finding(ref knowledge.FindingRef) *checks.Finding {
	for _, r := range e.results {
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Code == ref.Code && f.Subject == ref.Subject {
				return f
			}
		}
	}
	return nil
}

// unseen counts what could not be looked at: the checks that are unknown, and
// the gaps other than of what is not there at all.
func (e *exam) unseen() (unknown, gaps int) {
	for _, r := range e.results {
		if r.Status == checks.Unknown {
			unknown++
		}
	}
	for _, g := range e.gaps {
		if g.Kind != facts.Absent {
			gaps++
		}
	}
	return unknown, gaps
}
