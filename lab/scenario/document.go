package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Proof is what a run showed of one scenario on one kernel, the parts that
// are the same in every run.
type Proof struct {
	Scenario, Kernel, Wanted, Got, Cured string
}

// Proof is the outcome without its times.
func (o Outcome) Proof() Proof {
	c := o.row()
	return Proof{Scenario: o.Scenario, Kernel: o.Kernel, Wanted: c[3], Got: c[4], Cured: c[5]}
}

const documentHead = `# What the lab has shown

Every row is a real kernel that was made sick on purpose: the scenario, the code
that had to be the top diagnosis, what the doctor said, and whether the finding was
gone after the fix that the report itself shows was run verbatim. "own": the cure is
the scenario's, because no command on the host can mend it (a cable, a switch, a
peer, a package). "hands": the report offers no command to run on the host, as the
lab has checked, and the finding was gone when the fault was taken back. "gone": an
information that asks for nothing, gone with its cause.
"-": a healthy host, where no warning and no failure may be found, and information
only where the scenario names it.

The table is written by RDMADOCTOR_LAB_ALL=1 go test ./lab/ -run TestScenarios -update
and compared with every run of the lab.

`

// Document is the table of proofs as Markdown, sorted.
func Document(proofs []Proof) string {
	var b strings.Builder
	b.WriteString(documentHead)
	codes := map[string]bool{}
	for _, p := range proofs {
		if p.Wanted != "healthy" {
			codes[p.Wanted] = true
		}
	}
	ids := map[string]bool{}
	for _, p := range proofs {
		ids[p.Scenario] = true
	}
	fmt.Fprintf(&b, "%d scenarios, %d codes at the top.\n\n", len(ids), len(codes))
	b.WriteString("| scenario | kernel | wanted | got | cured |\n|---|---|---|---|---|\n")
	rows := make([]string, 0, len(proofs))
	for _, p := range proofs {
		rows = append(rows, p.line())
	}
	slices.Sort(rows)
	for _, r := range slices.Compact(rows) {
		b.WriteString(r)
	}
	fmt.Fprintf(&b, "\nCodes at the top: %s\n", strings.Join(slices.Sorted(maps.Keys(codes)), ", "))
	return b.String()
}

func (p Proof) line() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", p.Scenario, p.Kernel, p.Wanted, p.Got, p.Cured)
}

// Missing lists the proofs that the document does not have.
func Missing(document string, proofs []Proof) []Proof {
	return slices.DeleteFunc(slices.Clone(proofs), func(p Proof) bool {
		return strings.Contains(document, p.line())
	})
}

// ReadDocument reads the proofs back from a document, so that a run of a few
// scenarios can be put into it.
func ReadDocument(text string) []Proof {
	var ps []Proof
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "scenario" || strings.HasPrefix(cells[0], "-") {
			continue
		}
		ps = append(ps, Proof{cells[0], cells[1], cells[2], cells[3], cells[4]})
	}
	return ps
}

// Merge puts fresh proofs in the place of old ones of the same scenario and
// kernel, and leaves out scenarios that are no more.
func Merge(old, fresh []Proof, known []Scenario) []Proof {
	out := slices.Clone(fresh)
	for _, p := range old {
		replaced := slices.ContainsFunc(fresh, func(f Proof) bool {
			return f.Scenario == p.Scenario && f.Kernel == p.Kernel
		})
		exists := slices.ContainsFunc(known, func(s Scenario) bool { return s.ID == p.Scenario })
		if !replaced && exists {
			out = append(out, p)
		}
	}
	return out
}
