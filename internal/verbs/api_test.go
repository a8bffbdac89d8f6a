package verbs

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"
)

// signatures gives the exported functions and methods of the files whose
// build line holds in a build with or without the engine, as their types
// alone: names of parameters may differ.
func signatures(t *testing.T, engine bool) []string {
	t.Helper()
	holds := func(tag string) bool {
		switch tag {
		case "cgo", "linux":
			return engine
		}
		return false
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		src, err := os.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(src), "\n")
		if constraint.IsGoBuild(line) {
			x, err := constraint.Parse(line)
			if err != nil {
				t.Fatal(err)
			}
			if !x.Eval(holds) {
				continue
			}
		}
		f, err := parser.ParseFile(token.NewFileSet(), e.Name(), src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.IsExported() {
				out = append(out, signature(fn))
			}
		}
	}
	slices.Sort(out)
	return out
}

func signature(fn *ast.FuncDecl) string {
	var b strings.Builder
	if fn.Recv != nil {
		b.WriteString(types.ExprString(fn.Recv.List[0].Type) + ".")
	}
	b.WriteString(fn.Name.Name)
	for _, list := range []*ast.FieldList{fn.Type.Params, fn.Type.Results} {
		b.WriteString("(")
		if list != nil {
			for _, f := range list.List {
				for range max(len(f.Names), 1) {
					b.WriteString(types.ExprString(f.Type) + ",")
				}
			}
		}
		b.WriteString(")")
	}
	return b.String()
}

// A build without the engine has the same API.
func TestStubHasTheAPI(t *testing.T) {
	with, without := signatures(t, true), signatures(t, false)
	if len(with) < 40 {
		t.Fatalf("only %d exported functions found", len(with))
	}
	for _, s := range with {
		if !slices.Contains(without, s) {
			t.Errorf("only with the engine: %s", s)
		}
	}
	for _, s := range without {
		if !slices.Contains(with, s) {
			t.Errorf("only without the engine: %s", s)
		}
	}
}
