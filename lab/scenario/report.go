package scenario

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Report is what the lab reads of rdmadoctor's JSON: only names that every
// script may rely on, read here as any script would.
type Report struct {
	SchemaVersion string `json:"schema_version"`
	Summary       struct {
		Status   string `json:"status"`
		ExitCode int    `json:"exit_code"`
		Pass     int    `json:"pass"`
		Warn     int    `json:"warn"`
		Fail     int    `json:"fail"`
		Skip     int    `json:"skip"`
		Unknown  int    `json:"unknown"`
	} `json:"summary"`
	Diagnoses []Diagnosis `json:"diagnoses"`
	Checks    []Check     `json:"checks"`
	Ladders   []Ladder    `json:"ladders"`
	Error     *struct {
		Kind    string `json:"kind"`
		Message string `json:"message"`
	} `json:"error"`
}

// Diagnosis is a cause with what it explains.
type Diagnosis struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Fix      []Fix  `json:"fix"`
}

// Fix is a step of a cure. One that is told in words has no command.
type Fix struct {
	Command string `json:"command"`
	Where   string `json:"where"`
}

// Ladder is what a probe did, step by step.
type Ladder struct {
	Steps []struct {
		Name  string `json:"name"`
		Error *struct {
			Errno    string `json:"errno_name"`
			WCStatus *int   `json:"wc_status"`
			Event    string `json:"event"`
			TimedOut bool   `json:"timed_out"`
		} `json:"error"`
	} `json:"steps"`
	End struct {
		Outcome string `json:"outcome"`
	} `json:"end"`
}

// Check is the result of one check.
type Check struct {
	ID       string    `json:"id"`
	Status   string    `json:"status"`
	Reason   string    `json:"reason"`
	Findings []Finding `json:"findings"`
}

// Finding is one thing that is not as it should be.
type Finding struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Subject  string `json:"subject"`
	Message  string `json:"message"`
}

func (f Finding) String() string {
	return fmt.Sprintf("%s %s on %q: %s", f.Severity, f.Code, f.Subject, f.Message)
}

// ParseReport reads a report.
func ParseReport(b []byte) (Report, error) {
	var r Report
	if err := json.Unmarshal(b, &r); err != nil {
		return Report{}, fmt.Errorf("read report: %w", err)
	}
	return r, nil
}

// brokenStep is the first step of a ladder that failed and how, "none" where
// none did, or the outcome of a ladder that did not come to its end.
func (r Report) brokenStep() string {
	if len(r.Ladders) == 0 {
		return "no ladder"
	}
	for _, l := range r.Ladders {
		for _, s := range l.Steps {
			switch e := s.Error; {
			case e == nil:
			case e.WCStatus != nil:
				return fmt.Sprintf("%s status %d", s.Name, *e.WCStatus)
			case e.Errno != "":
				return s.Name + " " + e.Errno
			case e.Event != "":
				return s.Name + " " + e.Event
			default:
				return s.Name
			}
		}
		if l.End.Outcome != "completed" {
			return l.End.Outcome
		}
	}
	return "none"
}

// Findings lists the findings of all checks.
func (r Report) Findings() []Finding {
	var all []Finding
	for _, c := range r.Checks {
		all = append(all, c.Findings...)
	}
	return all
}

// Has says whether a code was found, in any severity.
func (r Report) Has(code string) bool {
	return slices.ContainsFunc(r.Findings(), func(f Finding) bool {
		return f.Code == code
	})
}

// Top is the code of the top diagnosis, "" without one.
func (r Report) Top() string {
	if len(r.Diagnoses) == 0 {
		return ""
	}
	return r.Diagnoses[0].Code
}

// codes lists the codes of the diagnoses, in their order.
func (r Report) codes() []string {
	var all []string
	for _, d := range r.Diagnoses {
		all = append(all, d.Code)
	}
	return all
}

// status is how the check of an id ended.
func (r Report) status(id string) string {
	for _, c := range r.Checks {
		if c.ID == id {
			return c.Status
		}
	}
	return "no such check"
}

// diagnosed lists the diagnoses as "code subject", in their order.
func (r Report) diagnosed() []string {
	var all []string
	for _, d := range r.Diagnoses {
		all = append(all, d.Code+" "+d.Subject)
	}
	return all
}
