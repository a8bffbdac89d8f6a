package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// Prometheus writes the report in the text exposition format, for node
// exporter's textfile collector. What is not found is not there: alert on
// absence with absent().
func Prometheus(w io.Writer, d *Document) error {
	p := &exposition{}
	p.family("rdmadoctor_run_info", "The program and the host of the last run.")
	p.sample(1, "version", d.Tool.Version, "host", d.Host, "origin", d.Origin, "status", d.Summary.Status,
		"advice", string(d.Summary.Advice))
	p.family("rdmadoctor_run_timestamp_seconds", "When the last run began.")
	p.sample(seconds(d.Started))
	p.family("rdmadoctor_run_duration_seconds", "How long the last run took.")
	p.sample(d.DurationSeconds)
	p.family("rdmadoctor_exit_code", "Exit code of the last run: 0 healthy, 1 warnings, 2 failures, 3 could not judge.")
	p.sample(float64(d.Summary.ExitCode))
	p.family("rdmadoctor_checks", "Checks of the last run by how they ended.")
	for _, c := range []struct {
		status checks.Status
		n      int
	}{{checks.Passed, d.Summary.Pass}, {checks.Warned, d.Summary.Warn}, {checks.Failed, d.Summary.Fail},
		{checks.Skipped, d.Summary.Skip}, {checks.Unknown, d.Summary.Unknown}} {
		p.sample(float64(c.n), "status", string(c.status))
	}
	p.findings(d)
	p.gaps(d)
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// findings of one code, subject and severity are one series however many
// checks report them: a series may not be there twice.
func (p *exposition) findings(d *Document) {
	p.family("rdmadoctor_finding", "Findings of the last run.")
	seen := map[[3]string]bool{}
	for _, r := range d.Checks {
		for _, f := range r.Findings {
			key := [3]string{Clean(f.Code), Clean(f.Subject), Clean(string(f.Severity))}
			if !seen[key] {
				seen[key] = true
				p.sample(1, "code", f.Code, "subject", f.Subject, "severity", string(f.Severity))
			}
		}
	}
	p.family("rdmadoctor_diagnosis", "Diagnoses of the last run; the value is the rank, 1 is the answer.")
	ranked := map[[2]string]bool{}
	for i, dg := range d.Diagnoses {
		if key := [2]string{Clean(dg.Code), Clean(dg.Subject)}; !ranked[key] {
			ranked[key] = true
			p.sample(float64(i+1), "code", dg.Code, "subject", dg.Subject, "severity", string(dg.Severity),
				"impact", string(dg.Impact), "confidence", string(dg.Confidence))
		}
	}
}

func (p *exposition) gaps(d *Document) {
	p.family("rdmadoctor_gaps", "What the last run wanted to read and could not.")
	count := map[[2]string]int{}
	for _, g := range d.Gaps {
		count[[2]string{Clean(string(g.Source)), Clean(string(g.Kind))}]++
	}
	for _, key := range slices.SortedFunc(maps.Keys(count), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	}) {
		p.sample(float64(count[key]), "source", key[0], "kind", key[1])
	}
}

// exposition is a text of families and their samples.
type exposition struct {
	strings.Builder
	name string
}

func (p *exposition) family(name, help string) {
	p.name = name
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

// sample writes one value with labels given as name, value, name, value.
func (p *exposition) sample(v float64, labels ...string) {
	p.WriteString(p.name)
	for i := 0; i < len(labels); i += 2 {
		sep := ","
		if i == 0 {
			sep = "{"
		}
		fmt.Fprintf(p, `%s%s="%s"`, sep, labels[i], labelText.Replace(Clean(labels[i+1])))
	}
	if len(labels) > 0 {
		p.WriteString("}")
	}
	p.WriteString(" " + strconv.FormatFloat(v, 'f', -1, 64) + "\n")
}

// labelText escapes a label's value, which Clean has put on one line.
var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
