package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/rdmadoctor/rdmadoctor/"

// arrow is what one package may import, and what of the standard library it
// must not, with the reason. Packages of our own are checked through all
// dependencies, the standard library's only where they are imported directly:
// fmt alone brings os in.
type arrow struct {
	own    []string
	banned []string
	why    string
}

// What a package that does no I/O of its own leaves to others.
var inputOutput = []string{"os", "os/exec", "net", "net/http", "syscall", "unsafe", "C"}

// leaf stands below everything else.
const leaf = "internal/pattern"

// arrows is the drawing of the packages. Everything may import facts; what
// stands below it may import nothing that stands above.
var arrows = map[string]arrow{
	"internal/facts":    {nil, append(inputOutput, "io", "context"), "facts are values"},
	"internal/counters": {[]string{"internal/facts"}, inputOutput, "what is known of counters is data"},
	"internal/status":   {nil, inputOutput, "what answers of verbs mean is data"},
	"internal/expect":   {[]string{"internal/facts"}, inputOutput, "it works figures out of facts"},
	"internal/near":     {nil, inputOutput, "it compares words"},
	leaf:                {nil, inputOutput, "it matches text, and everything may import it"},
	"checks":            {[]string{"internal/facts", "internal/counters", "internal/status", "internal/expect"}, append(inputOutput, "context"), "a check is a pure function of facts"},
	"knowledge":         {[]string{"checks", "internal/facts", "internal/counters", "internal/status", "internal/expect", "internal/near"}, inputOutput, "knowledge never looks at a host"},
	"internal/report":   {[]string{"knowledge", "checks", "internal/facts", "internal/counters", "internal/status", "internal/expect", "internal/near"}, inputOutput, "a report is written to where the caller says"},
	"tui": {[]string{"internal/report", "knowledge", "checks", "internal/facts", "internal/counters", "internal/status", "internal/expect", "internal/near"},
		inputOutput, "the screen has one door for facts and opens nothing"},
	"internal/settings": {[]string{"internal/facts"}, inputOutput, "it takes facts apart"},
	"internal/baseline": {[]string{"internal/settings", "internal/facts", "internal/counters", "internal/status", "internal/expect", "checks"}, inputOutput,
		"a change is judged from two snapshots, as a check is from one"},
	"internal/policy": {[]string{"internal/near", "internal/facts", "internal/counters", "internal/status", "internal/expect", "checks"}, inputOutput,
		"a policy is judged as a check is, and its file is read by the program"},
	"internal/hostio":    {nil, nil, "it is below facts: it knows how to read, not what"},
	"internal/recording": {[]string{"internal/hostio", "internal/facts"}, nil, "it keeps answers without knowing what they mean"},
	"internal/collect":   {[]string{"internal/hostio", "internal/facts"}, []string{"os", "os/exec", "net/http", "C"}, "a collector reads through its Host and judges nothing"},
	"internal/doctor": {[]string{"internal/policy", "internal/baseline", "internal/settings", "internal/collect", "internal/hostio", "internal/facts", "internal/counters", "internal/status", "internal/expect", "internal/near",
		"checks", "knowledge", "internal/report"}, inputOutput, "the run decides the order and reads nothing itself"},
	"internal/compare": {[]string{"internal/policy", "internal/baseline", "internal/settings", "internal/doctor", "internal/collect", "internal/hostio", "internal/facts", "internal/counters", "internal/status", "internal/expect",
		"internal/near", "checks", "knowledge", "internal/report"}, inputOutput, "like the run, over several hosts"},
	"internal/flight": {[]string{"internal/collect", "internal/hostio", "internal/facts"}, nil,
		"it keeps samples and replays them, whatever they say"},
	"internal/anonymise": {[]string{"internal/flight", "internal/collect", "internal/hostio", "internal/facts"},
		append(inputOutput, "io"), "it makes samples of samples"},
	"internal/verbs": {nil, []string{"os/exec", "net", "net/http"},
		"it measures through libibverbs and judges nothing; it alone imports C"},
	"internal/verbs/fakeverbs": {nil, []string{"C"}, "only tests import it"},
	"internal/worker": {[]string{"internal/hostio", "internal/facts"}, []string{"net", "net/http", "C"},
		"it starts the process and speaks to it, whatever that does"},
	"internal/peer/peerpb": {nil, nil, "it is generated"},
	"internal/peer": {[]string{"internal/peer/peerpb", "internal/worker", "internal/hostio", "internal/facts"},
		[]string{"net/http", "C"}, "it carries facts and tasks between hosts and judges nothing"},
	"internal/sandbox": {nil, []string{"os/exec", "net", "net/http", "C"}, "it takes rights away and needs none"},
	"internal/spawner": {[]string{"internal/worker", "internal/hostio", "internal/facts"}, []string{"net", "net/http", "C"},
		"it starts workers and nothing else"},
	"probes": {[]string{"internal/verbs", "internal/facts", "internal/counters"}, []string{"os/exec", "net", "net/http", "C"},
		"it makes calls and measures, and judges nothing"},
	"internal/fixture": {[]string{"internal/hostio"}, nil, "only tests import it"},
	"cmd/rdmadoctor": {[]string{"internal/anonymise", "internal/flight", "internal/policy", "internal/baseline", "internal/settings", "tui", "internal/doctor", "internal/compare", "internal/recording", "internal/collect", "internal/hostio",
		"internal/peer", "internal/peer/peerpb", "internal/worker", "internal/spawner", "internal/sandbox", "probes", "internal/verbs", "internal/report", "internal/facts", "internal/counters", "internal/status", "internal/expect", "internal/near", "knowledge", "checks"},
		[]string{"C"}, "the program is made of the parts, and of no test or lab"},
	"internal/report/schema": {[]string{"internal/policy", "internal/report", "knowledge", "checks", "internal/facts", "internal/counters", "internal/status", "internal/expect", "internal/near"},
		nil, "the generator of the schemas"},
	"internal/goodhost": {[]string{"internal/facts"}, inputOutput, "only tests import it"},
	"knowledge/index": {[]string{"knowledge", "checks", "internal/facts", "internal/counters", "internal/status", "internal/expect", "internal/near"},
		nil, "the generator of the list of pitfalls"},
}

// notLinked must not get into the program.
var notLinked = map[string]string{
	"github.com/invopop/jsonschema":          "schemas are made by a generator",
	"github.com/santhosh-tekuri/jsonschema":  "schemas are checked by tests",
	"github.com/rogpeppe/go-internal":        "scripts are run by tests",
	"github.com/google/go-cmp":               "it is made for tests",
	"github.com/charmbracelet/x/vt":          "it is a terminal for tests",
	"github.com/charmbracelet/x/exp/teatest": "it drives the screen for tests",
	"testing":                                "it registers flags",
}

// pkg is what go list says of a package.
type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T) map[string]pkg {
	t.Helper()
	c := exec.Command("go", "list", "-json=ImportPath,Imports,Deps", "./...")
	c.Dir = "../.."
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	pkgs := map[string]pkg{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

func TestImports(t *testing.T) {
	pkgs := list(t)
	for name := range arrows {
		if _, ok := pkgs[name]; !ok {
			t.Errorf("%s has an arrow and is not there", name)
		}
	}
	for name, p := range pkgs {
		a, drawn := arrows[name]
		switch {
		case strings.HasPrefix(name, "lab"):
			continue // It is no part of the product, which must not import it.
		case !drawn:
			t.Errorf("%s has no arrow: say in imports_test.go what it may import and why", name)
			continue
		}
		for _, dep := range p.Deps {
			if own, ok := strings.CutPrefix(dep, module); ok && own != leaf && !slices.Contains(a.own, own) {
				t.Errorf("%s depends on %s: %s", name, own, a.why)
			}
		}
		for _, imp := range p.Imports {
			if slices.Contains(a.banned, imp) {
				t.Errorf("%s imports %s: %s", name, imp, a.why)
			}
		}
	}
}

func TestNotLinked(t *testing.T) {
	for _, dep := range list(t)["cmd/rdmadoctor"].Deps {
		for banned, why := range notLinked {
			if dep == banned || strings.HasPrefix(dep, banned+"/") {
				t.Errorf("the program links %s: %s", dep, why)
			}
		}
	}
}

// The arrows only point one way.
func TestArrowsHaveNoCircle(t *testing.T) {
	for name, a := range arrows {
		for _, own := range a.own {
			if slices.Contains(arrows[own].own, name) {
				t.Errorf("%s and %s may import each other", name, own)
			}
			if _, ok := arrows[own]; !ok {
				t.Errorf("%s may import %s, which has no arrow", name, own)
			}
		}
	}
}
