package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

func TestMain(m *testing.M) {
	// The reading child and the worker are this binary by another name.
	if os.Getenv(asProgram) != "" || len(os.Args) == 2 && os.Args[1] == hostio.ReadHostArg || len(os.Args) > 1 && os.Args[1] == worker.Arg {
		main()
	}
	testscript.Main(m, map[string]func(){"rdmadoctor": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			reports, err := filepath.Abs("../../internal/report/testdata")
			env.Setenv("REPORTS", reports)
			return err
		},
		Condition: func(cond string) (bool, error) {
			if cond != "rdma" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			devices, _ := filepath.Glob("/sys/class/infiniband/*")
			return len(devices) > 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "judged": judged, "alike": alike, "stable": stable, "schema": schema, "messages": messages, "get": get, "half": half,
		},
	})
}

// exits CODE COMMAND... runs a command and wants its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if code != args[0] {
		ts.Fatalf("exit %s, want %s\nstdout: %s\nstderr: %s", code, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// judged COMMAND... runs a command and wants a verdict, whichever this host's is.
func judged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: judged COMMAND...")
	}
	err := ts.Exec(args[0], args[1:]...)
	if err != nil && !regexp.MustCompile(`^exit status [123]$`).MatchString(err.Error()) {
		ts.Fatalf("%v, want a verdict\nstderr: %s", err, ts.ReadFile("stderr"))
	}
}

// alike A B wants two reports to judge alike, and the second not to name this
// host.
func alike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: alike A B")
	}
	var verdicts []string
	for _, file := range args {
		var d report.Document
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(file)), &d))
		v := fmt.Sprintf("%s %d\n", d.Summary.Status, d.Summary.ExitCode)
		for _, r := range d.Checks {
			v += fmt.Sprintf("%s %s %d %d\n", r.ID, r.Status, r.Examined, len(r.Findings))
		}
		for _, dg := range d.Diagnoses {
			v += fmt.Sprintf("%s %s %s\n", dg.Code, dg.Severity, dg.Confidence)
		}
		verdicts = append(verdicts, v)
	}
	if diff := cmp.Diff(verdicts[0], verdicts[1]); diff != "" {
		ts.Fatalf("they judge otherwise:\n%s", diff)
	}
	if host, _ := os.Hostname(); host != "localhost" && strings.Contains(ts.ReadFile(args[1]), `"host": "`+host+`"`) {
		ts.Fatalf("%s names this host", args[1])
	}
}

// What differs from run to run, and what it is replaced with.
var volatile = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`), "2026-01-02 03:04:05 UTC"},
	{regexp.MustCompile(`· \d+\.\d s ·`), "· 0.0 s ·"},
	{regexp.MustCompile(`"started": "[^"]*"`), `"started": "2026-01-02T03:04:05Z"`},
	{regexp.MustCompile(`"duration_seconds": [-+.e0-9]+`), `"duration_seconds": 0`},
}

// stable SOURCE FILE copies a text with what is volatile made the same.
func stable(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: stable SOURCE FILE")
	}
	text := ts.ReadFile(args[0])
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// published is a schema of docs/schema, closed: the published one lets fields
// pass that a later version may add.
func published(name string) (*jsonschema.Schema, error) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema", name))
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	closeObjects(doc)
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	return c.Compile(name)
}

func closeObjects(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["additionalProperties"]; !ok && v["type"] == "object" && v["properties"] != nil {
			v["additionalProperties"] = false
		}
		for _, e := range v {
			closeObjects(e)
		}
	case []any:
		for _, e := range v {
			closeObjects(e)
		}
	}
}

// schema FILE [NAME] wants one JSON document that is a valid report.
func schema(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: schema FILE [NAME]")
	}
	name := "report.schema.json"
	if len(args) == 2 {
		name = args[1] + ".schema.json"
	}
	s, err := published(name)
	ts.Check(err)
	ts.Check(valid(s, ts.ReadFile(args[0])))
}

func valid(s *jsonschema.Schema, text string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("%w in %q", err, text)
	}
	return s.Validate(v)
}

// messages FILE KIND... wants a stream of valid lines that has these kinds.
func messages(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: messages FILE KIND...")
	}
	s, err := published("message.schema.json")
	ts.Check(err)
	seen := map[string]int{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		ts.Check(valid(s, line))
		var m map[string]json.RawMessage
		ts.Check(json.Unmarshal([]byte(line), &m))
		if len(m) != 1 {
			ts.Fatalf("%d fields in one message: %s", len(m), line)
		}
		for kind := range m {
			seen[kind]++
		}
	}
	for _, kind := range args[1:] {
		if seen[kind] == 0 {
			ts.Fatalf("no message %q among %v", kind, seen)
		}
	}
}

// get FILE PATH VALUE wants a value of a JSON document: summary.exit_code,
// diagnoses.0.code. A list's length is its len.
func get(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: get FILE PATH VALUE")
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	d.UseNumber()
	var v any
	ts.Check(d.Decode(&v))
	for step := range strings.SplitSeq(args[1], ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[step]
		case []any:
			var i int
			if step == "len" {
				v = len(in)
			} else if _, err := fmt.Sscan(step, &i); err != nil || i >= len(in) {
				ts.Fatalf("%s: no element %s of %d", args[1], step, len(in))
			} else {
				v = in[i]
			}
		default:
			ts.Fatalf("%s: nothing has a %q here", args[1], step)
		}
	}
	if got := fmt.Sprint(v); (got == args[2]) == neg {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

// half FILE OUT N/D copies the first part of a file.
func half(ts *testscript.TestScript, neg bool, args []string) {
	var n, d int
	if neg || len(args) != 3 {
		ts.Fatalf("usage: half FILE OUT N/D")
	}
	if _, err := fmt.Sscanf(args[2], "%d/%d", &n, &d); err != nil || d == 0 {
		ts.Fatalf("no part %q", args[2])
	}
	text := ts.ReadFile(args[0])
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text[:len(text)*n/d]), 0o666))
}
