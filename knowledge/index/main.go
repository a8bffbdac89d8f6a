// Command index writes docs/pitfalls.md, the list of all codes with their
// pages, from the pages themselves.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

func main() {
	if err := doMain(true); err != nil {
		fmt.Fprintln(os.Stderr, "index:", err)
		os.Exit(1)
	}
}

// doMain brings the list up to date, or without write says that it is stale.
func doMain(write bool) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	path := filepath.Join(root, "docs", "pitfalls.md")
	want := generate()
	have, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(have, want):
		return nil
	case !write:
		return fmt.Errorf("%s is stale: run go generate ./knowledge", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, want, 0o666)
}

// generate is the list as Markdown, a table for each layer.
func generate() []byte {
	var b bytes.Buffer
	fmt.Fprint(&b, `# Pitfalls

What rdmadoctor can explain, by layer from below. A code is permanent: scripts may
rely on it, and one that is given up is never used again. `+"`rdmadoctor explain CODE`"+`
shows a page with symptom, cause, fix, how to verify and references; the pages
themselves are in [knowledge/pitfalls](../knowledge/pitfalls).

"Reported by" names the [checks](checks.md) of a host that can find it. A code
without one is found by a comparison of hosts (`+"`mtu-mismatch`"+`), or is there to be
read by whoever meets it in a log or a benchmark.

"Can be behind" lists what a code explains when both are found at the same
place: those are then shown under it as consequences.

This file is written by `+"`go generate ./knowledge`"+`.
`)
	pages := knowledge.Pages()
	for _, l := range checks.Layers() {
		fmt.Fprintf(&b, "\n## %s\n\n| code | what it says | impact | reported by | can be behind |\n|---|---|---|---|---|\n", l)
		for _, p := range pages {
			if p.Layer != l {
				continue
			}
			var behind []string
			for _, c := range p.Explains.Codes() {
				behind = append(behind, "`"+c+"`")
			}
			fmt.Fprintf(&b, "| [`%s`](../knowledge/pitfalls/%s.md) | %s | %s | %s | %s |\n", p.Code, p.Code, p.Title, p.Impact,
				strings.Join(checks.Reporting(p.Code), ", "), strings.Join(behind, ", "))
		}
	}
	fmt.Fprint(&b, "\n## Retired\n\nNever used again: ")
	for i, c := range checks.Retired {
		if i > 0 {
			fmt.Fprint(&b, ", ")
		}
		fmt.Fprintf(&b, "`%s`", c)
	}
	fmt.Fprint(&b, ".\n")
	return b.Bytes()
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
