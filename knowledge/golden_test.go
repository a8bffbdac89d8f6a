package knowledge

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

var update = flag.Bool("update", false, "rewrite the want sections of testdata")

// TestExplain plays testdata/*.txtar: the comment says why the order is what
// it is, "relations" what belongs together ("mlx5_0/1 netdev pci", "lower
// UPPER LOWER"), "findings" one a line, "want" the diagnoses.
func TestExplain(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(ar.Comment)) == 0 {
				t.Error("no comment says why this is the order")
			}
			s := sections(ar)
			results := parseFindings(t, s["findings"])
			rel := parseRelations(t, s["relations"])
			got := show(Explain(results, rel))
			slices.Reverse(results)
			for i := range results {
				slices.Reverse(results[i].Findings)
			}
			if again := show(Explain(results, rel)); again != got {
				t.Errorf("depends on the order of findings (-first +reversed):\n%s", cmp.Diff(got, again))
			}
			if *update {
				for i := range ar.Files {
					if ar.Files[i].Name == "want" {
						ar.Files[i].Data = []byte(got)
					}
				}
				if err := os.WriteFile(f, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(s["want"], got); d != "" {
				t.Errorf("diagnoses (-want +got):\n%s", d)
			}
		})
	}
}

func sections(ar *txtar.Archive) map[string]string {
	m := map[string]string{}
	for _, f := range ar.Files {
		m[f.Name] = string(f.Data)
	}
	return m
}

// parseFindings reads lines "severity code subject key=value...". A subject
// "mlx5_0/1" is also a place; Where fields are named as in JSON, everything
// else is a parameter.
func parseFindings(t *testing.T, text string) []checks.Result {
	t.Helper()
	byLayer := map[checks.Layer]*checks.Result{}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		w := strings.Fields(line)
		if len(w) < 3 {
			t.Fatalf("finding %q: want severity, code and subject", line)
		}
		f := checks.Finding{Severity: checks.Severity(w[0]), Code: w[1], Subject: w[2],
			Message: w[1] + " at " + w[2], Evidence: []checks.Evidence{{Source: "constructed", Value: line}},
			Params: map[string]string{}}
		if dev, port, ok := strings.Cut(w[2], "/"); ok {
			f.Where.Device = dev
			f.Where.Port = number(t, port)
		}
		for _, kv := range w[3:] {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "host":
				f.Where.Host = v
			case "device":
				f.Where.Device = v
			case "netdev":
				f.Where.Netdev = v
			case "pci":
				f.Where.PCI = v
			case "pid":
				f.Where.PID = number(t, v)
			case "confidence":
				f.Confidence = checks.Confidence(v)
			default:
				f.Params[k] = v
			}
		}
		layer, _ := LayerOf(f.Code)
		r := byLayer[layer]
		if r == nil {
			r = &checks.Result{ID: "constructed-" + layer.String(), Layer: layer}
			byLayer[layer] = r
		}
		r.Findings = append(r.Findings, f)
	}
	var rs []checks.Result
	for _, l := range append(checks.Layers(), 0) {
		if r := byLayer[l]; r != nil {
			rs = append(rs, *r)
		}
	}
	return rs
}

func parseRelations(t *testing.T, text string) Relations {
	t.Helper()
	var rel Relations
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		var r Relation
		if h, ok := strings.CutSuffix(w[0], ":"); ok {
			r.Host, w = h, w[1:]
		}
		dev, port, _ := strings.Cut(w[0], "/")
		r.Device, r.Port = dev, number(t, port)
		for _, x := range w[1:] {
			if strings.Count(x, ":") == 2 {
				r.PCI = x
			} else {
				r.Netdevs = append(r.Netdevs, x)
			}
		}
		rel = append(rel, r)
	}
	return rel
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func show(ds []Diagnosis) string {
	var b strings.Builder
	for i, d := range ds {
		fmt.Fprintf(&b, "%d. %s %s %s: %s, %s, %s\n", i+1, d.Severity, d.Code, strings.Join(d.Subjects, " "), d.Impact, d.Confidence, d.Layer)
		for _, f := range d.Findings {
			if f.Code != d.Code {
				fmt.Fprintf(&b, "   explains %s %s\n", f.Code, f.Subject)
			}
		}
		for _, s := range d.Fix {
			if s.Command != "" && s.Where == "host" {
				fmt.Fprintf(&b, "   run %s\n", s.Command)
			}
		}
	}
	return b.String()
}
