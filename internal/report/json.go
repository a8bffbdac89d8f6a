package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// ToolName is the program's name in every report.
const ToolName = "rdmadoctor"

// JSON writes the document, indented, with a newline at its end.
func JSON(w io.Writer, d *Document) error {
	e := NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// JSONL is a Handler that writes each message as one line as soon as it comes.
type JSONL struct{ enc *json.Encoder }

var _ Handler = (*JSONL)(nil)

// NewJSONL writes the stream to w.
func NewJSONL(w io.Writer) *JSONL {
	return &JSONL{enc: NewEncoder(w)}
}

func (j *JSONL) line(m Message) error {
	if err := j.enc.Encode(m); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	return nil
}

// Run implements Handler.
func (j *JSONL) Run(r *Run) error {
	whole := wholeRun(*r)
	return j.line(Message{Run: &whole})
}

// Progress implements Handler.
func (j *JSONL) Progress(p *Progress) error { return j.line(Message{Progress: p}) }

// Gap implements Handler.
func (j *JSONL) Gap(g *facts.Gap) error { return j.line(Message{Gap: g}) }

// Snapshot implements Handler.
func (j *JSONL) Snapshot(s *facts.Snapshot) error {
	whole := wholeSnapshot(*s)
	return j.line(Message{Snapshot: &whole})
}

// Measurement implements Handler.
func (j *JSONL) Measurement(m *facts.Measurement) error {
	whole := wholeMeasurement(*m)
	return j.line(Message{Measurement: &whole})
}

// Ladder implements Handler.
func (j *JSONL) Ladder(l *facts.Ladder) error {
	whole := wholeLadder(*l)
	return j.line(Message{Ladder: &whole})
}

// Rates implements Handler.
func (j *JSONL) Rates(r *Rates) error {
	whole := wholeRates(*r)
	return j.line(Message{Rates: &whole})
}

// Event implements Handler.
func (j *JSONL) Event(e *Event) error { return j.line(Message{Event: e}) }

// Result implements Handler.
func (j *JSONL) Result(r *checks.Result) error {
	whole := wholeResult(*r)
	return j.line(Message{Result: &whole})
}

// Diagnosis implements Handler.
func (j *JSONL) Diagnosis(d *knowledge.Diagnosis) error {
	whole := wholeDiagnosis(*d)
	return j.line(Message{Diagnosis: &whole})
}

// Host implements Handler.
func (j *JSONL) Host(h *HostRow) error { return j.line(Message{Host: h}) }

// Error implements Handler.
func (j *JSONL) Error(e *Error) error { return j.line(Message{Error: e}) }

// Summary implements Handler.
func (j *JSONL) Summary(s *Summary) error { return j.line(Message{Summary: s}) }
