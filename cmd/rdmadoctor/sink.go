package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// A sink is a Handler that writes the report in the format asked for. It also
// folds the stream, so that a run which ends early still has its report.
type sink struct {
	report.Handler
	fold   report.Fold
	write  func(*report.Document) error // nil: the format is a stream, or none
	err    io.Writer
	began  bool
	closed bool
	gone   bool // nobody reads what is written
	failOn checks.Severity
	gate   bool // the exit code is a gate's
}

// formats are the words that --format takes, and those in which an error is
// told too.
var (
	formats        = []string{"text", "json", "jsonl", "markdown", "prometheus", "junit", "nagios"}
	machineFormats = []string{"json", "jsonl", "nagios"}
)

// newSink writes to the program's output. The format "" writes nothing.
func newSink(p *program, format string) *sink {
	s := &sink{err: p.err, failOn: checks.Warn, gate: gateAsked(p.args)}
	hs := []report.Handler{&s.fold}
	switch format {
	case "json":
		s.write = func(d *report.Document) error { return report.JSON(p.out, d) }
	case "jsonl":
		hs = append(hs, s.read(report.NewJSONL(p.out)))
	case "text":
		s.write = p.writeText
	case "markdown":
		s.write = func(d *report.Document) error { return report.Markdown(p.out, d) }
	case "prometheus":
		s.write = func(d *report.Document) error { return report.Prometheus(p.out, d) }
	case "junit":
		s.write = func(d *report.Document) error { return report.JUnit(p.out, d) }
	case "nagios":
		s.write = func(d *report.Document) error { return report.Nagios(p.out, d) }
	}
	s.Handler = report.Func(func(m report.Message) error {
		s.began = s.began || m.Run != nil
		s.closed = s.closed || m.Summary != nil
		return m.Send(report.Tee(hs...))
	})
	return s
}

// read passes messages on to h until nobody reads what h writes. The run goes on
// then, since its verdict is the exit code.
func (s *sink) read(h report.Handler) report.Handler {
	return report.Func(func(m report.Message) error {
		if s.gone {
			return nil
		}
		err := m.Send(h)
		if errors.Is(err, syscall.EPIPE) {
			s.gone = true
			return nil
		}
		return err
	})
}

// finish writes what is written at the end and gives the report's exit code.
func (s *sink) finish() (int, error) {
	d := s.fold.Document()
	code := exitCode(d.Summary)
	if s.write == nil {
		return code, nil
	}
	return code, s.write(d)
}

// exitCode is the summary's, which may come from a file, if it is one of ours.
func exitCode(s report.Summary) int {
	switch s.ExitCode {
	case report.ExitHealthy, report.ExitWarnings, report.ExitFailures, report.ExitUnknown,
		report.ExitUsage, report.ExitInternal, report.ExitInterrupted:
		return s.ExitCode
	}
	return report.ExitUnknown
}

// abort closes the report with e, whatever was done until now, and gives the
// exit code. It is the last thing that a program does, so what fails here is
// only said.
func (s *sink) abort(e *report.Error) (code int) {
	code = report.Summarize(nil, nil, e, s.failOn).ExitCode
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(s.err, "rdmadoctor: write the report: %v\n", v)
		}
	}()
	if s.closed { // It is written, or it is what failed.
		return code
	}
	if !s.began {
		host, _ := os.Hostname()
		run := &report.Run{SchemaVersion: report.SchemaVersion, Host: host, Origin: "live",
			Tool: report.Tool{Name: report.ToolName, Version: version}, Started: time.Now(), Args: []string{}}
		if s.Run(run) != nil {
			return code
		}
	}
	if s.Error(e) != nil {
		return code
	}
	d := s.fold.Document()
	sum := report.Summarize(d.Checks, d.Diagnoses, d.Error, s.failOn)
	sum.DurationSeconds = time.Since(d.Started).Seconds()
	if s.gate {
		(&report.Gate{Reason: "no verdict: " + e.Message}).Close(&sum)
	}
	if s.Summary(&sum) != nil {
		return code
	}
	if _, err := s.finish(); err != nil {
		fmt.Fprintf(s.err, "rdmadoctor: %v\n", err)
	}
	return code
}
