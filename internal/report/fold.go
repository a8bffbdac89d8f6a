package report

import (
	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// A Fold is a Handler that folds the stream into a Document. The zero Fold is
// ready, and its document is valid whenever the stream stops.
type Fold struct {
	doc    Document
	closed bool
}

var _ Handler = (*Fold)(nil)

// Run implements Handler.
func (f *Fold) Run(r *Run) error {
	f.doc.SchemaVersion, f.doc.Tool = r.SchemaVersion, r.Tool
	f.doc.Host, f.doc.Origin, f.doc.Started = r.Host, r.Origin, r.Started
	return nil
}

// Progress implements Handler. A document has no progress.
func (f *Fold) Progress(*Progress) error { return nil }

// Gap implements Handler.
func (f *Fold) Gap(g *facts.Gap) error {
	f.doc.Gaps = append(f.doc.Gaps, *g)
	return nil
}

// Snapshot implements Handler. The last one stays.
func (f *Fold) Snapshot(s *facts.Snapshot) error {
	whole := wholeSnapshot(*s)
	f.doc.Snapshot = &whole
	return nil
}

// Measurement implements Handler.
func (f *Fold) Measurement(m *facts.Measurement) error {
	f.doc.Measurements = append(f.doc.Measurements, wholeMeasurement(*m))
	return nil
}

// Ladder implements Handler.
func (f *Fold) Ladder(l *facts.Ladder) error {
	f.doc.Ladders = append(f.doc.Ladders, wholeLadder(*l))
	return nil
}

// Rates implements Handler. A document has no rates.
func (f *Fold) Rates(*Rates) error { return nil }

// Event implements Handler.
func (f *Fold) Event(e *Event) error {
	f.doc.Timeline = append(f.doc.Timeline, *e)
	return nil
}

// Result implements Handler.
func (f *Fold) Result(r *checks.Result) error {
	f.doc.Checks = append(f.doc.Checks, wholeResult(*r))
	return nil
}

// Diagnosis implements Handler.
func (f *Fold) Diagnosis(d *knowledge.Diagnosis) error {
	f.doc.Diagnoses = append(f.doc.Diagnoses, wholeDiagnosis(*d))
	return nil
}

// Host implements Handler.
func (f *Fold) Host(h *HostRow) error {
	f.doc.Hosts = append(f.doc.Hosts, *h)
	return nil
}

// Error implements Handler. The first one stays: later ones follow from it.
func (f *Fold) Error(e *Error) error {
	if f.doc.Error == nil {
		whole := *e
		f.doc.Error = &whole
	}
	return nil
}

// Summary implements Handler.
func (f *Fold) Summary(s *Summary) error {
	f.doc.Summary, f.doc.DurationSeconds, f.closed = *s, s.DurationSeconds, true
	return nil
}

// Document is the report so far. A stream that ended without a summary gets
// the one that its messages give, as interrupted unless it says why.
func (f *Fold) Document() *Document {
	d := f.doc
	d.Diagnoses, d.Checks, d.Measurements = list(d.Diagnoses), list(d.Checks), list(d.Measurements)
	d.Hosts, d.Gaps = list(d.Hosts), list(d.Gaps)
	if d.SchemaVersion == "" {
		d.SchemaVersion, d.Tool.Name = SchemaVersion, ToolName
	}
	if !f.closed {
		if d.Error == nil {
			d.Error = &Error{Kind: InterruptedError, Message: "the report ends before its summary",
				Hint: "what it holds until there is shown"}
		}
		d.Summary = Summarize(d.Checks, d.Diagnoses, d.Error, checks.Warn)
	}
	return &d
}

// Send gives the document to h as the stream that it is the fold of.
func (d *Document) Send(h Handler) error { return send(d.messages(), h) }

func send(ms []Message, h Handler) error {
	for _, m := range ms {
		if err := m.Send(h); err != nil {
			return err
		}
	}
	return nil
}

func (d *Document) messages() []Message {
	ms := []Message{{Run: &Run{SchemaVersion: d.SchemaVersion, Tool: d.Tool, Host: d.Host,
		Origin: d.Origin, Started: d.Started, Args: []string{}}}}
	for i := range d.Hosts {
		ms = append(ms, Message{Host: &d.Hosts[i]})
	}
	for i := range d.Gaps {
		ms = append(ms, Message{Gap: &d.Gaps[i]})
	}
	for i := range d.Timeline {
		ms = append(ms, Message{Event: &d.Timeline[i]})
	}
	if d.Snapshot != nil {
		ms = append(ms, Message{Snapshot: d.Snapshot})
	}
	for i := range d.Measurements {
		ms = append(ms, Message{Measurement: &d.Measurements[i]})
	}
	for i := range d.Ladders {
		ms = append(ms, Message{Ladder: &d.Ladders[i]})
	}
	for i := range d.Checks {
		ms = append(ms, Message{Result: &d.Checks[i]})
	}
	for i := range d.Diagnoses {
		ms = append(ms, Message{Diagnosis: &d.Diagnoses[i]})
	}
	if d.Error != nil {
		ms = append(ms, Message{Error: d.Error})
	}
	return append(ms, Message{Summary: &d.Summary})
}
