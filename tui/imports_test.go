package tui

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/rdmadoctor/rdmadoctor/"

// forbidden are imports of this package's own files, with the reason.
var forbidden = map[string]string{
	"os":      "the screen does no I/O",
	"os/exec": "the screen runs nothing",
	"net":     "the screen does no I/O",
	"syscall": "the screen does no I/O",

	module + "internal/doctor":  "messages come through a Feed",
	module + "internal/collect": "messages come through a Feed",
	module + "internal/hostio":  "the screen does no I/O",
}

// clock are the functions that read it. Times come in messages.
var clock = []string{"Now", "Since", "Until"}

func TestImportsAndClock(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		looked++
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			path, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := forbidden[path]; why != "" {
				t.Errorf("%s imports %s: %s", name, path, why)
			}
			if strings.HasPrefix(path, module) && !allowed[strings.TrimPrefix(path, module)] {
				t.Errorf("%s imports %s, which is not drawn in the design", name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				for _, c := range clock {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "time" && sel.Sel.Name == c {
						t.Errorf("%s reads the clock: time.%s", name, c)
					}
				}
			}
			return true
		})
	}
	if looked < 10 {
		t.Errorf("looked at %d files only", looked)
	}
}

var allowed = map[string]bool{"checks": true, "knowledge": true, "internal/facts": true, "internal/report": true}
