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
// failures of type "warn". JUnit has no word for what could not be looked at: it
// is skipped, and says so. A run that ended early is an error of its own.
func JUnit(w io.Writer, d *Document) error {
	all := junitSuites{Name: ToolName, Time: d.DurationSeconds}
	for _, layer := range checks.Layers() {
		s := junitSuite{Name: layer.String(), Hostname: Clean(d.Host)}
		for i := range d.Checks {
			if d.Checks[i].Layer == layer {
				s.add(junitCheck(&d.Checks[i]))
			}
		}
		all.add(s)
	}
	if d.Error != nil {
		s := junitSuite{Name: "run", Hostname: Clean(d.Host)}
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

func junitCheck(r *checks.Result) junitCase {
	c := junitCase{Name: Clean(r.ID), Class: ToolName + "." + r.Layer.String()}
	var found []string
	for _, f := range r.Findings {
		found = append(found, Clean(string(f.Severity)+" "+findingText(f)))
	}
	text := strings.Join(found, "\n")
	switch r.Status {
	case checks.Passed:
		c.Out = text
	case checks.Warned, checks.Failed:
		c.Failure = &junitDetail{Message: Clean(r.Title), Type: string(r.Status), Text: text}
	case checks.Skipped:
		c.Skipped, c.Out = &junitDetail{Message: Clean(r.Reason)}, text
	default:
		c.Skipped, c.Out = &junitDetail{Message: "unknown: " + Clean(r.Reason)}, text
	}
	return c
}
