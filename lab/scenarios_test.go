package lab_test

import (
	"flag"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/scenario"
)

// onlyEnv names an environment variable that keeps a run short while one
// works on a few scenarios: ids separated by commas.
const onlyEnv = "RDMADOCTOR_LAB_ONLY"

// allEnv names an environment variable that, when it is set, runs every
// scenario on both kernels; else most run on one.
const allEnv = "RDMADOCTOR_LAB_ALL"

// partEnv names an environment variable that leaves a part of the scenarios to
// another run: "1/2" and "2/2" together are all.
const partEnv = "RDMADOCTOR_LAB_PART"

var update = flag.Bool("update", false, "write what the run showed into docs/lab-results.md")

// TestScenarios runs rdmadoctor against every scenario, and compares what
// comes of it with the table in the docs.
func TestScenarios(t *testing.T) {
	if testing.Short() {
		t.Skip("boots guests, left out with -short")
	}
	for _, series := range kernels.Series() {
		if _, err := lab.Ready(t.Context(), series); err != nil {
			if lab.Required() {
				t.Fatalf("%s=lab, and the lab cannot run: %v", lab.RequireEnv, err)
			}
			t.Skipf("the lab cannot run here: %v", err)
		}
	}
	doctor, err := scenario.BuildDoctor(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir, schema, err := scenario.Repository()
	if err != nil {
		t.Fatal(err)
	}
	o := scenario.Options{Dir: dir, Schema: schema, Doctor: doctor, Log: t.Output(),
		Spread: os.Getenv(allEnv) == ""}
	if only := os.Getenv(onlyEnv); only != "" {
		o.Only, o.Spread = strings.Split(only, ","), false
	} else if text := os.Getenv(partEnv); text != "" {
		o.Only = part(t, dir, text)
	}
	suite, err := scenario.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	results, err := suite.Run(t.Context())
	if err != nil {
		t.Error(err)
	}
	results.Table(t.Output())
	document(t, results)
	for _, s := range suite.Scenarios() {
		for _, series := range s.Kernels {
			t.Run(s.ID+"/"+series, func(t *testing.T) {
				i := slices.IndexFunc(results.Outcomes, func(o scenario.Outcome) bool {
					return o.Scenario == s.ID && o.Kernel == series
				})
				if i < 0 {
					t.Fatal("has not been run")
				}
				for _, problem := range results.Outcomes[i].Problems {
					t.Error(problem)
				}
				if t.Failed() {
					keep(t, results.Outcomes[i])
				}
			})
		}
	}
}

// keep writes what the doctor said where it outlives the test, for looking
// into a failure.
func keep(t *testing.T, o scenario.Outcome) {
	dir := filepath.Join(os.TempDir(), "rdmadoctor-lab")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Error(err)
	}
	for part, report := range map[string][]byte{"": o.Report, "-cured": o.CuredReport} {
		if len(report) == 0 {
			continue
		}
		name := filepath.Join(dir, o.Scenario+"-"+o.Kernel+part+".json")
		if err := os.WriteFile(name, report, 0o644); err != nil {
			t.Error(err)
		}
		t.Logf("the doctor's report is in %s", name)
	}
}

// document keeps docs/lab-results.md equal to what the lab shows.
func document(t *testing.T, r scenario.Results) {
	top, err := kernels.Repository()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(top, "docs", "lab-results.md")
	old, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var proofs []scenario.Proof
	for _, o := range r.Outcomes {
		if o.OK() {
			proofs = append(proofs, o.Proof())
		}
	}
	if *update {
		known, _, err := scenario.Load(os.DirFS(filepath.Join(top, "lab/scenarios")))
		if err != nil {
			t.Fatal(err)
		}
		text := scenario.Document(scenario.Merge(scenario.ReadDocument(string(old)), proofs, known))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, p := range scenario.Missing(string(old), proofs) {
		t.Errorf("docs/lab-results.md has no row for %+v", p)
	}
}

// TestDocumentIsComplete finds each scenario in the docs on each of its
// kernels, without booting anything.
func TestDocumentIsComplete(t *testing.T) {
	top, err := kernels.Repository()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(top, "docs", "lab-results.md"))
	if err != nil {
		t.Fatal(err)
	}
	known, _, err := scenario.Load(os.DirFS(filepath.Join(top, "lab/scenarios")))
	if err != nil {
		t.Fatal(err)
	}
	have := scenario.ReadDocument(string(text))
	for _, s := range known {
		for _, k := range s.Kernels {
			if !slices.ContainsFunc(have, func(p scenario.Proof) bool { return p.Scenario == s.ID && p.Kernel == k }) {
				t.Errorf("docs/lab-results.md has no row for %s on %s", s.ID, k)
			}
		}
	}
}

// part lists the scenarios of one part. Its id chooses a scenario's part, so
// that a new scenario moves no other one.
func part(t *testing.T, dir fs.FS, text string) []string {
	t.Helper()
	var n, of uint32
	if _, err := fmt.Sscanf(text, "%d/%d", &n, &of); err != nil || n < 1 || n > of {
		t.Fatalf("%s=%q: want a part and how many there are, as 1/2", partEnv, text)
	}
	files, err := fs.Glob(dir, "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenario: %v", err)
	}
	var ids []string
	for _, file := range files {
		id := strings.TrimSuffix(file, ".yaml")
		if crc32.ChecksumIEEE([]byte(id))%of == n-1 {
			ids = append(ids, id)
		}
	}
	return ids
}
