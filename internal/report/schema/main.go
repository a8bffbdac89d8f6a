// Command schema writes the JSON Schemas of the report, of its stream, of an
// explanation, of a policy and of its check to docs/schema, from the Go types and their comments.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/invopop/jsonschema"

	"github.com/rdmadoctor/rdmadoctor/internal/policy"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// files maps each schema's file in docs/schema to the type that it describes.
var files = map[string]any{
	"report.schema.json":       report.Document{},
	"message.schema.json":      report.Message{},
	"explain.schema.json":      report.Explanation{},
	"policy.schema.json":       policy.Policy{},
	"policy-check.schema.json": report.PolicyCheck{},
}

func main() {
	if err := doMain(true); err != nil {
		fmt.Fprintln(os.Stderr, "schema:", err)
		os.Exit(1)
	}
}

// doMain brings the schemas up to date, or without write says which is stale.
func doMain(write bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	for name, v := range files {
		want, err := generate(root, v, name != "policy.schema.json") // People write it, and misspell.
		if err != nil {
			return fmt.Errorf("generate %s: %w", name, err)
		}
		path := filepath.Join(root, "docs", "schema", name)
		have, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(have, want):
			continue
		case !write:
			return fmt.Errorf("%s is stale: run go generate ./internal/report", path)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, want, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// generate is the schema of v's type. Open lets fields that it does not know
// pass, since a schema version may gain fields; closed finds the misspelt one.
func generate(root string, v any, open bool) ([]byte, error) {
	r := &jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, AllowAdditionalProperties: open}
	if err := comments(r, root); err != nil {
		return nil, err
	}
	s := reflectAll(r, v)
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// comments reads the descriptions of the fields from the source. The library
// takes the path that it walks as part of the package's name, so that it has to
// stand in the module's root.
func comments(r *jsonschema.Reflector, root string) error {
	was, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := os.Chdir(root); err != nil {
		return err
	}
	defer func() { _ = os.Chdir(was) }()
	for _, dir := range []string{"internal/facts", "internal/report", "internal/policy", "checks", "knowledge"} {
		if err := r.AddGoComments("github.com/rdmadoctor/rdmadoctor", dir); err != nil {
			return err
		}
	}
	return nil
}

// moduleRoot is the nearest directory upwards that has a go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("find go.mod: no directory above has one")
		}
		dir = up
	}
}
