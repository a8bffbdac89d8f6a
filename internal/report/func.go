package report

import (
	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// Func makes a Handler of a function that takes any message.
type Func func(Message) error

var _ Handler = Func(nil)

// Tee is a Handler that gives each message to all of hs, and stops at the first
// that fails.
func Tee(hs ...Handler) Handler {
	return Func(func(m Message) error {
		for _, h := range hs {
			if err := m.Send(h); err != nil {
				return err
			}
		}
		return nil
	})
}

// Run implements Handler.
func (f Func) Run(r *Run) error { return f(Message{Run: r}) }

// Progress implements Handler.
func (f Func) Progress(p *Progress) error { return f(Message{Progress: p}) }

// Gap implements Handler.
func (f Func) Gap(g *facts.Gap) error { return f(Message{Gap: g}) }

// Snapshot implements Handler.
func (f Func) Snapshot(s *facts.Snapshot) error { return f(Message{Snapshot: s}) }

// Measurement implements Handler.
func (f Func) Measurement(m *facts.Measurement) error { return f(Message{Measurement: m}) }

// Ladder implements Handler.
func (f Func) Ladder(l *facts.Ladder) error { return f(Message{Ladder: l}) }

// Rates implements Handler.
func (f Func) Rates(r *Rates) error { return f(Message{Rates: r}) }

// Event implements Handler.
func (f Func) Event(e *Event) error { return f(Message{Event: e}) }

// Result implements Handler.
func (f Func) Result(r *checks.Result) error { return f(Message{Result: r}) }

// Diagnosis implements Handler.
func (f Func) Diagnosis(d *knowledge.Diagnosis) error { return f(Message{Diagnosis: d}) }

// Host implements Handler.
func (f Func) Host(h *HostRow) error { return f(Message{Host: h}) }

// Error implements Handler.
func (f Func) Error(e *Error) error { return f(Message{Error: e}) }

// Summary implements Handler.
func (f Func) Summary(s *Summary) error { return f(Message{Summary: s}) }
