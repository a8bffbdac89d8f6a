package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

func TestSchemasAreCurrent(t *testing.T) {
	if err := doMain(false); err != nil {
		t.Fatal(err)
	}
}

// compile returns a closed schema of v's type, and the schema as a value.
func compile(t *testing.T, v any) (*jsonschema.Schema, map[string]any) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := generate(root, v, false)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s, doc.(map[string]any)
}

func validate(t *testing.T, s *jsonschema.Schema, v any) error {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	inst, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(inst)
}

func TestOptIsItsValue(t *testing.T) {
	s, doc := compile(t, report.Document{})
	var f report.Fold
	snap := facts.Snapshot{Schema: facts.SchemaVersion, Netdevs: []facts.Netdev{{
		Name: "eth0", MTU: facts.Some(9000),
		DCB: facts.Some(facts.DCB{PFC: facts.Some(facts.PFC{Enabled: 8})}),
	}}}
	if err := f.Snapshot(&snap); err != nil {
		t.Fatal(err)
	}
	if err := validate(t, s, f.Document()); err != nil {
		t.Error(err)
	}
	for name := range doc["$defs"].(map[string]any) {
		if strings.HasPrefix(name, "Opt") {
			t.Errorf("definition %q: an Opt is its value", name)
		}
	}
	defs := doc["$defs"].(map[string]any)
	mtu := defs["Netdev"].(map[string]any)["properties"].(map[string]any)["mtu_bytes"].(map[string]any)
	if mtu["type"] != "integer" {
		t.Errorf("mtu_bytes is %v, want an integer", mtu)
	}
}

// Every golden report is what the schema says.
func TestGoldenReportsAreValid(t *testing.T) {
	document, _ := compile(t, report.Document{})
	message, _ := compile(t, report.Message{})
	files, err := filepath.Glob("../testdata/*.json*")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d golden reports (%v), want at least 8", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts, s := []string{string(text)}, document
		if strings.HasSuffix(file, ".jsonl") {
			parts, s = strings.SplitAfter(strings.TrimSpace(string(text)), "\n"), message
		}
		for i, part := range parts {
			inst, err := jsonschema.UnmarshalJSON(strings.NewReader(part))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if err := s.Validate(inst); err != nil {
				t.Errorf("%s, part %d: %v", file, i+1, err)
			}
		}
	}
}

// Every page is what the schema of explain --json says, and so is an answer
// without one.
func TestExplanationsAreValid(t *testing.T) {
	s, _ := compile(t, report.Explanation{})
	for _, pages := range [][]*knowledge.Page{knowledge.Pages(), nil, {{Code: "bare"}}} {
		var b bytes.Buffer
		if err := (report.Explanation{SchemaVersion: report.SchemaVersion, Pages: pages}).JSON(&b); err != nil {
			t.Fatal(err)
		}
		inst, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Validate(inst)
		if bare := len(pages) == 1; (err != nil) != bare { // It has no layer, no confidence, no impact.
			t.Errorf("%d pages: %v", len(pages), err)
		}
	}
}

func TestSchemaRejects(t *testing.T) {
	s, _ := compile(t, report.Document{})
	good := func() map[string]any {
		var f report.Fold
		if err := f.Result(&checks.Result{ID: "a", Layer: checks.Link, Status: checks.Passed, Examined: 1}); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(f.Document())
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		return m
	}
	if err := validate(t, s, good()); err != nil {
		t.Fatalf("the document is not valid to begin with: %v", err)
	}
	for _, tc := range []struct {
		name   string
		damage func(map[string]any)
	}{
		{"list is null", func(m map[string]any) { m["gaps"] = nil }},
		{"field missing", func(m map[string]any) { delete(m, "error") }},
		{"unknown field", func(m map[string]any) { m["colour"] = "red" }},
		{"unknown status", func(m map[string]any) { m["checks"].([]any)[0].(map[string]any)["status"] = "fine" }},
		{"unknown layer", func(m map[string]any) { m["checks"].([]any)[0].(map[string]any)["layer"] = "roof" }},
		{"findings are null", func(m map[string]any) { m["checks"].([]any)[0].(map[string]any)["findings"] = nil }},
		{"number as text", func(m map[string]any) { m["summary"].(map[string]any)["exit_code"] = "2" }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := good()
			tc.damage(m)
			if err := validate(t, s, m); err == nil {
				t.Error("valid, want it rejected")
			}
		})
	}
}
