package checks

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var update = flag.Bool("update", false, "rewrite the want section of each scenario")

// A scenario is one constructed snapshot of a testdata file, named after the
// check that judges it. " wanted=a,b" after the name fills Options.Wanted,
// " before=NAME" Options.Before with what another scenario of the file measured.
type scenario struct {
	check *Check
	name  string
	opt   Options
	data  []byte
}

// snapshot decodes the scenario afresh. A misspelt field is an error.
func (sc scenario) snapshot(t *testing.T) *facts.Snapshot {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(sc.data))
	dec.DisallowUnknownFields()
	s := new(facts.Snapshot)
	if err := dec.Decode(s); err != nil {
		t.Fatalf("%s %s: %v", sc.check.ID, sc.name, err)
	}
	return s
}

func (sc scenario) run(s *facts.Snapshot) (Result, []facts.Source) {
	return run(s, sc.check, sc.opt, nil)
}

// scenarios reads testdata/<id>.txtar of every check.
func scenarios(t *testing.T) []scenario {
	t.Helper()
	var all []scenario
	for _, c := range All() {
		ar, err := txtar.ParseFile(filepath.Join("testdata", c.ID+".txtar"))
		if err != nil {
			t.Fatalf("%s has no scenarios: %v", c.ID, err)
		}
		for _, f := range ar.Files {
			if f.Name == "want" {
				continue
			}
			name, wanted, _ := strings.Cut(f.Name, " wanted=")
			name, before, _ := strings.Cut(name, " before=")
			sc := scenario{check: c, name: name, data: f.Data}
			for _, other := range ar.Files {
				if before != "" && other.Name == before {
					sc.opt.Before = scenario{check: c, name: before, data: other.Data}.snapshot(t).Measured
				}
			}
			if wanted != "" {
				sc.opt.Wanted = strings.Split(wanted, ",")
			}
			all = append(all, sc)
		}
	}
	return all
}

// TestScenarios compares what each check says of its snapshots with the want
// section.
func TestScenarios(t *testing.T) {
	got := map[string]*strings.Builder{}
	for _, sc := range scenarios(t) {
		if got[sc.check.ID] == nil {
			got[sc.check.ID] = new(strings.Builder)
		}
		r, _ := sc.run(sc.snapshot(t))
		write(got[sc.check.ID], sc.name, r)
	}
	for _, c := range All() {
		file := filepath.Join("testdata", c.ID+".txtar")
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(ar.Files, func(f txtar.File) bool { return f.Name == "want" })
		if i < 0 {
			t.Errorf("%s has no want section", file)
			continue
		}
		text := got[c.ID].String()
		if *update {
			ar.Files[i].Data = []byte(text)
			if err := writeFile(file, txtar.Format(ar)); err != nil {
				t.Fatal(err)
			}
		} else if d := cmp.Diff(string(ar.Files[i].Data), text); d != "" {
			t.Errorf("%s (-want +got):\n%s", file, d)
		}
	}
}

// write renders a result as the want section holds it.
func write(w *strings.Builder, name string, r Result) {
	fmt.Fprintln(w, strings.TrimSpace(fmt.Sprintf("%s: %s %s", name, r.Status, r.Reason)))
	for _, u := range r.Unread {
		fmt.Fprintf(w, "\tunread %s\n", u)
	}
	for _, f := range r.Findings {
		conf := ""
		if f.Confidence != "" {
			conf = " (" + string(f.Confidence) + ")"
		}
		fmt.Fprintf(w, "\t%s %s %s: %s%s\n", f.Severity, f.Code, f.Subject, f.Message, conf)
		for _, e := range f.Evidence {
			fmt.Fprintf(w, "\t\t%s: %s\n", e.Source, e.Value)
		}
		var ps []string
		for _, k := range slices.Sorted(maps.Keys(f.Params)) {
			ps = append(ps, k+"="+f.Params[k])
		}
		fmt.Fprintf(w, "\t\t{%s}\n", strings.Join(ps, " "))
	}
}

// scenarioData are the snapshots of all scenarios, as seeds.
func scenarioData(tb testing.TB) [][]byte {
	tb.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no scenarios: %v", err)
	}
	var all [][]byte
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range ar.Files {
			if f.Name != "want" {
				all = append(all, f.Data)
			}
		}
	}
	return all
}
