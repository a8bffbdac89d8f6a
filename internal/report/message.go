// Package report carries what a run says to whoever shows it: one stream of
// messages, one handler for each front end. The JSON document is the fold of
// the stream.
package report

import (
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// SchemaVersion is the version of the JSON report. Within a version fields are
// only added.
const SchemaVersion = "1.0"

// Message is one line of the jsonl stream. Exactly one field is set.
type Message struct {
	Run         *Run                 `json:"run,omitempty"` // first
	Progress    *Progress            `json:"progress,omitempty"`
	Gap         *facts.Gap           `json:"gap,omitempty"`
	Snapshot    *facts.Snapshot      `json:"snapshot,omitempty"`
	Measurement *facts.Measurement   `json:"measurement,omitempty"`
	Ladder      *facts.Ladder        `json:"ladder,omitempty"` // steps of a probe
	Rates       *Rates               `json:"rates,omitempty"`  // while a host is watched
	Event       *Event               `json:"event,omitempty"`  // of a period
	Result      *checks.Result       `json:"result,omitempty"`
	Diagnosis   *knowledge.Diagnosis `json:"diagnosis,omitempty"`
	Host        *HostRow             `json:"host,omitempty"` // compare and sweep
	Error       *Error               `json:"error,omitempty"`
	Summary     *Summary             `json:"summary,omitempty"` // last
}

// Run opens the stream.
type Run struct {
	SchemaVersion string    `json:"schema_version"`
	Tool          Tool      `json:"tool"`
	Host          string    `json:"host"`
	Origin        string    `json:"origin"` // live, recording, tree
	Started       time.Time `json:"started"`
	Args          []string  `json:"args"`
}

// Tool identifies the program.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Progress says what the run is doing. It may be dropped without loss.
type Progress struct {
	Step string `json:"step"` // "collect", "wait", "sample", "judge"
	Text string `json:"text"`
}

// HostRow is one host of a comparison or sweep.
type HostRow struct {
	Host    string `json:"host"`
	Origin  string `json:"origin"`
	Summary string `json:"summary"`
}

// ErrorKind classifies why a run could not do its work.
type ErrorKind string

// The kinds of error.
const (
	UsageError       ErrorKind = "usage"
	TimeoutError     ErrorKind = "timeout"
	InternalError    ErrorKind = "internal"
	InterruptedError ErrorKind = "interrupted"
)

// Error is why a run ended early.
type Error struct {
	Kind    ErrorKind `json:"kind"`
	Message string    `json:"message"`
	Hint    string    `json:"hint"`
}

// Summary closes the stream.
type Summary struct {
	Status          string  `json:"status"` // pass, warn, fail, unknown, interrupted, error
	ExitCode        int     `json:"exit_code"`
	Advice          Advice  `json:"advice"`
	AdviceReason    string  `json:"advice_reason"`
	Pass            int     `json:"pass"`
	Warn            int     `json:"warn"`
	Fail            int     `json:"fail"`
	Skip            int     `json:"skip"`
	Unknown         int     `json:"unknown"`
	Info            int     `json:"info"` // findings of severity info
	DurationSeconds float64 `json:"duration_seconds"`
	Gate            *Gate   `json:"gate,omitempty"` // of check --gate; exit_code is then its verdict
}

// Gate is the verdict for a prolog or health program.
type Gate struct {
	Drain  bool   `json:"drain"` // a proved failure on a wanted port: exit code 1
	Port   string `json:"port,omitempty"`
	Code   string `json:"code,omitempty"` // of the finding
	Reason string `json:"reason"`
}

// Close sets the gate of a summary and with it the exit code.
func (g *Gate) Close(s *Summary) {
	s.Gate, s.ExitCode = g, ExitHealthy
	if g.Drain {
		s.ExitCode = ExitWarnings
	}
}

// Advice is the first line of every report.
type Advice string

// The advices.
const (
	Drain   Advice = "drain"    // keep jobs off this node until it is mended
	Keep    Advice = "keep"     // the node can work
	NotRDMA Advice = "not-rdma" // the trouble is elsewhere
	NoIdea  Advice = "unknown"  // nothing could be judged
)

// Exit codes, the same in every format.
const (
	ExitHealthy     = 0
	ExitWarnings    = 1
	ExitFailures    = 2
	ExitUnknown     = 3
	ExitUsage       = 64
	ExitInternal    = 70
	ExitInterrupted = 130
)

// A Handler shows a run. The compiler finds the handler that forgets a kind.
// Messages come from one goroutine.
type Handler interface {
	Run(*Run) error
	Progress(*Progress) error
	Gap(*facts.Gap) error
	Snapshot(*facts.Snapshot) error
	Measurement(*facts.Measurement) error
	Ladder(*facts.Ladder) error
	Rates(*Rates) error
	Event(*Event) error
	Result(*checks.Result) error
	Diagnosis(*knowledge.Diagnosis) error
	Host(*HostRow) error
	Error(*Error) error
	Summary(*Summary) error
}

// Document is the JSON report: the stream, folded.
type Document struct {
	SchemaVersion   string                `json:"schema_version"`
	Tool            Tool                  `json:"tool"`
	Host            string                `json:"host"`
	Origin          string                `json:"origin"`
	Started         time.Time             `json:"started"`
	DurationSeconds float64               `json:"duration_seconds"`
	Summary         Summary               `json:"summary"`
	Diagnoses       []knowledge.Diagnosis `json:"diagnoses"`
	Checks          []checks.Result       `json:"checks"`
	Measurements    []facts.Measurement   `json:"measurements"`
	Ladders         []facts.Ladder        `json:"ladders,omitempty"`  // of probes
	Timeline        []Event               `json:"timeline,omitempty"` // of a period, oldest first
	Snapshot        *facts.Snapshot       `json:"snapshot,omitempty"` // on request
	Hosts           []HostRow             `json:"hosts"`
	Gaps            []facts.Gap           `json:"gaps"`
	Error           *Error                `json:"error" jsonschema:"nullable"`
}

// Send gives m to the method of h for its kind.
func (m Message) Send(h Handler) error {
	switch {
	case m.Run != nil:
		return h.Run(m.Run)
	case m.Progress != nil:
		return h.Progress(m.Progress)
	case m.Gap != nil:
		return h.Gap(m.Gap)
	case m.Snapshot != nil:
		return h.Snapshot(m.Snapshot)
	case m.Measurement != nil:
		return h.Measurement(m.Measurement)
	case m.Ladder != nil:
		return h.Ladder(m.Ladder)
	case m.Rates != nil:
		return h.Rates(m.Rates)
	case m.Event != nil:
		return h.Event(m.Event)
	case m.Result != nil:
		return h.Result(m.Result)
	case m.Diagnosis != nil:
		return h.Diagnosis(m.Diagnosis)
	case m.Host != nil:
		return h.Host(m.Host)
	case m.Error != nil:
		return h.Error(m.Error)
	case m.Summary != nil:
		return h.Summary(m.Summary)
	}
	return nil
}
