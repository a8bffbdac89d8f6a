package knowledge_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// TestPlaceholdersAreGiven: what a command for this host is filled with is
// what the checks say they give. A parameter that is only there sometimes
// needs a condition on the step.
func TestPlaceholdersAreGiven(t *testing.T) {
	judged := 0
	for _, p := range knowledge.Pages() {
		always, sometimes, ok := checks.ParamsOf(p.Code)
		if !ok {
			continue // Reported by probes and sweeps.
		}
		for _, r := range p.Fix {
			if r.Command == "" || r.Where != "host" {
				continue
			}
			judged++
			for _, name := range knowledge.Placeholders(r.Command) {
				switch {
				case slices.Contains(always, name):
				case !slices.Contains(sometimes, name):
					t.Errorf("%s: %q needs %q, which no check gives", p.Code, r.Command, name)
				case !slices.Contains(r.If.Needs(), name):
					t.Errorf("%s: %q needs %q, which is only there sometimes: want a condition", p.Code, r.Command, name)
				}
			}
		}
		for _, name := range conditionNames(p) {
			if !slices.Contains(always, name) && !slices.Contains(sometimes, name) {
				t.Errorf("%s: a condition asks for %q, which no check gives", p.Code, name)
			}
		}
	}
	if judged == 0 {
		t.Fatal("no command was judged")
	}
}

func conditionNames(p *knowledge.Page) []string {
	var names []string
	for _, r := range p.Fix {
		names = append(names, r.If.Names()...)
	}
	for _, l := range slices.Concat(p.Verify, p.Reproduce) {
		names = append(names, l.If.Names()...)
	}
	return names
}

var gapRE = regexp.MustCompile(`<[a-z][a-z0-9_ -]*>`)

// TestScenariosAreExplained runs the checks on their own scenarios and wants a
// diagnosis for each finding, whose commands for this host are complete.
func TestScenariosAreExplained(t *testing.T) {
	files, err := filepath.Glob("../checks/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	findings := 0
	for _, f := range files {
		ar, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, sc := range ar.Files {
			name, wanted, _ := strings.Cut(sc.Name, " wanted=")
			var s facts.Snapshot
			if name == "want" || json.Unmarshal(sc.Data, &s) != nil {
				continue
			}
			opt := checks.Options{}
			if wanted != "" {
				opt.Wanted = strings.Split(wanted, ",")
			}
			var results []checks.Result
			checks.Run(&s, checks.All(), opt, func(r checks.Result) { results = append(results, r) })
			ds := knowledge.Explain(results, relations(&s))
			explained := map[knowledge.FindingRef]bool{}
			for _, d := range ds {
				for _, ref := range d.Findings {
					explained[ref] = true
				}
				complete(t, filepath.Base(f)+" "+name, d)
			}
			for _, r := range results {
				for _, fi := range r.Findings {
					findings++
					if !explained[knowledge.FindingRef{Code: fi.Code, Subject: fi.Subject}] {
						t.Errorf("%s %s: %s %s is in no diagnosis", filepath.Base(f), name, fi.Code, fi.Subject)
					}
				}
			}
		}
	}
	if findings == 0 {
		t.Fatal("the scenarios gave no finding")
	}
}

// complete wants no gap in a host's command except what the page leaves to the
// reader itself.
func complete(t *testing.T, where string, d knowledge.Diagnosis) {
	t.Helper()
	p, ok := knowledge.Lookup(d.Code)
	if !ok {
		t.Errorf("%s: %s has no page", where, d.Code)
		return
	}
	var meant []string
	for _, r := range p.Fix {
		meant = append(meant, gapRE.FindAllString(r.Command, -1)...)
	}
	for _, s := range d.Fix {
		for _, gap := range gapRE.FindAllString(s.Command, -1) {
			if s.Where == "host" && !slices.Contains(meant, gap) {
				t.Errorf("%s: %s: %q has no value for %s", where, d.Code, s.Command, gap)
			}
		}
	}
}

func relations(s *facts.Snapshot) knowledge.Relations {
	var rel knowledge.Relations
	for _, d := range s.Devices {
		for _, p := range d.Ports {
			r := knowledge.Relation{Device: d.Name, Port: p.Number, PCI: d.PCI.Or("")}
			if n := s.Netdev(p.Netdev.Or("")); n != nil {
				r.Netdevs = []string{n.Name, s.Beneath(n).Name}
			}
			rel = append(rel, r)
		}
	}
	return rel
}
