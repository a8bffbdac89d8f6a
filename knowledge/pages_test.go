package knowledge

import (
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

func loaded(t *testing.T) map[string]*Page {
	t.Helper()
	sub, err := fs.Sub(embedded, "pitfalls")
	if err != nil {
		t.Fatal(err)
	}
	ps, err := loadPages(sub)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func TestPagesLoad(t *testing.T) {
	if n := len(loaded(t)); n == 0 {
		t.Fatal("no page is embedded")
	}
}

func TestCodesArePermanent(t *testing.T) {
	seen := map[string]checks.Layer{}
	for layer, codes := range Codes {
		for _, c := range codes {
			if other, dup := seen[c]; dup {
				t.Errorf("code %q is in layer %s and %s", c, other, layer)
			}
			seen[c] = layer
			if slices.Contains(checks.Retired, c) {
				t.Errorf("code %q is retired", c)
			}
			if strings.ToLower(c) != c || strings.ContainsAny(c, " _.") {
				t.Errorf("code %q: want lower-kebab-case", c)
			}
		}
	}
	for _, l := range checks.Layers() {
		if len(Codes[l]) == 0 {
			t.Errorf("layer %s has no code", l)
		}
	}
}

// A step that only looks changes "nothing", in that word: the reports tell it
// from a step that does something.
func TestStepsThatLookChangeNothing(t *testing.T) {
	n := 0
	for _, p := range Pages() {
		for _, a := range p.Fix {
			if a.Changes == onlyLooks {
				n++
				if a.Disrupts != "nothing" || a.Persistent {
					t.Errorf("%s: a step that changes nothing disrupts %s, persistent %t", p.Code, a.Disrupts, a.Persistent)
				}
			}
			if strings.Contains(a.Changes, "only look") {
				t.Errorf("%s: changes %q, want %q", p.Code, a.Changes, onlyLooks)
			}
		}
	}
	if n == 0 {
		t.Error("no step only looks")
	}
}

// TestCommandsParse lets a POSIX shell read every command without running it,
// with placeholders filled by plain and by hostile values.
func TestCommandsParse(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh to parse the commands with")
	}
	var script strings.Builder
	n := 0
	for _, p := range Pages() {
		for _, cmd := range p.commands() {
			for _, value := range []string{"eth0", "a'b", `a"b`, "$(reboot)", "x; y", "`z`", `w\`} {
				filled := fillCommand(cmd, everywhere(cmd, value))
				if leftToReaderRE.MatchString(filled) {
					continue // For a reader, not for a shell.
				}
				n++
				script.WriteString(filled + "\n")
			}
		}
	}
	if n == 0 {
		t.Fatal("no command was filled")
	}
	c := exec.Command(sh, "-n")
	c.Stdin = strings.NewReader(script.String())
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("sh -n: %v: %s", err, out)
	}
}

func (p *Page) commands() []string {
	var cs []string
	for _, a := range p.Fix {
		if a.Command != "" {
			cs = append(cs, a.Command)
		}
	}
	for _, l := range slices.Concat(p.Verify, p.Reproduce) {
		cs = append(cs, l.Command)
	}
	return cs
}

// everywhere gives every placeholder of a template the same value.
func everywhere(template, value string) values {
	v := values{params: map[string]string{}}
	for _, n := range Placeholders(template) {
		v.params[n] = value
	}
	return v
}

// TestStepOrder: what cures now stands before what lasts, and where both are
// commands for this host the lasting one says that it lasts.
func TestStepOrder(t *testing.T) {
	for _, p := range Pages() {
		for i, a := range p.Fix {
			if i == 0 || a.Persistent || a.Command == "" || a.Where != "host" || a.If != "" {
				continue
			}
			if prev := p.Fix[i-1]; prev.Persistent && prev.Command != "" && prev.If == "" && prev.Where == "host" {
				t.Errorf("%s: step %d %q cures now and stands after a lasting step", p.Code, i+1, a.Command)
			}
		}
	}
}

// TestEveryCodeHasAPage: explain answers for every permanent code.
func TestEveryCodeHasAPage(t *testing.T) {
	ps := loaded(t)
	for _, codes := range Codes {
		for _, c := range codes {
			if ps[c] == nil {
				t.Errorf("code %q has no page", c)
			}
		}
	}
	// A page of a code that is not listed does not load.
	if got, want := len(ps), len(layerByCode()); got != want {
		t.Errorf("%d pages for %d codes", got, want)
	}
}

// TestCodesOfChecksHavePages: what a check can report, explain can answer.
func TestCodesOfChecksHavePages(t *testing.T) {
	ps := loaded(t)
	for _, c := range checks.All() {
		for _, code := range c.Codes {
			if ps[code] == nil {
				t.Errorf("check %s reports %q, which has no page", c.ID, code)
			}
		}
	}
}
