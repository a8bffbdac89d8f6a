package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     float64      `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Errors   int         `xml:"errors,attr"`
	Hostname string      `xml:"hostname,attr,omitempty"`
	Began    string      `xml:"timestamp,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string       `xml:"name,attr"`
	Class   string       `xml:"classname,attr"`
	Failure *junitDetail `xml:"failure"`
	Error   *junitDetail `xml:"error"`
	Skipped *junitDetail `xml:"skipped"`
	Out     string       `xml:"system-out,omitempty"`
}

type junitDetail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes the checks as test cases, a suite for each layer. Warnings are
// failures of type "warn", unless the run was asked to let them pass. JUnit has no word for what could not be looked at: it
// is skipped, and says so. A run that ended early is an error of its own.
func JUnit(w io.Writer, d *Document) error {
	all := junitSuites{Name: ToolName, Time: d.DurationSeconds}
	began := ""
	if !d.Started.IsZero() {
		began = d.Started.UTC().Format("2006-01-02T15:04:05")
	}
	forgiven := d.Summary.Status == StatusWarn && d.Summary.ExitCode == ExitHealthy // --fail-on fail, or a gate
	for _, layer := range checks.Layers() {
		s := junitSuite{Name: layer.String(), Hostname: Clean(d.Host), Began: began}
		for i := range d.Checks {
			if d.Checks[i].Layer == layer {
				s.add(junitCheck(&d.Checks[i], forgiven))
			}
		}
		all.add(s)
	}
	if d.Error != nil {
		s := junitSuite{Name: "run", Hostname: Clean(d.Host), Began: began}
		s.add(junitCase{Name: "the run ends", Class: ToolName + ".run",
			Error: &junitDetail{Message: Clean(d.Error.Message), Type: Clean(string(d.Error.Kind)), Text: Clean(d.Error.Hint)}})
		all.add(s)
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if _, err := io.WriteString(w, xml.Header+string(text)+"\n"); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (all *junitSuites) add(s junitSuite) {
	if s.Tests == 0 {
		return
	}
	all.Suites = append(all.Suites, s)
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Skipped += s.Skipped
	all.Errors += s.Errors
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func junitCheck(r *checks.Result, forgiven bool) junitCase {
	c := junitCase{Name: Clean(r.ID), Class: ToolName + "." + r.Layer.String()}
	var found []string
	for _, f := range r.Findings {
		found = append(found, Clean(string(f.Severity)+" "+findingText(f)))
	}
	text := strings.Join(found, "\n")
	switch {
	case r.Status == checks.Passed, r.Status == checks.Warned && forgiven:
		c.Out = text
	case r.Status == checks.Warned, r.Status == checks.Failed:
		c.Failure = &junitDetail{Message: junitMessage(r), Type: string(r.Status), Text: text}
	case r.Status == checks.Skipped:
		c.Skipped, c.Out = &junitDetail{Message: Clean(r.Reason)}, text
	default:
		c.Skipped, c.Out = &junitDetail{Message: "unknown: " + Clean(r.Reason)}, text
	}
	return c
}

// junitMessage is the worst finding, which CI shows beside the case's name.
func junitMessage(r *checks.Result) string {
	for _, want := range []checks.Severity{checks.Fail, checks.Warn} {
		for _, f := range r.Findings {
			if f.Severity == want {
				return Clean(findingText(f))
			}
		}
	}
	return Clean(r.Title)
}
