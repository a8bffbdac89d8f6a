package checks

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChecksPage keeps docs/checks.md what the registry says. -update writes it.
func TestChecksPage(t *testing.T) {
	const file = "../docs/checks.md"
	want := checksPage()
	if *update {
		if err := writeFile(file, []byte(want)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, string(got)); d != "" {
		t.Errorf("%s is stale; go test ./checks -run TestChecksPage -update (-want +got):\n%s", file, d)
	}
}

func checksPage() string {
	var b strings.Builder
	b.WriteString("# What is checked\n\nGenerated from the registry of package checks. Each check is one file of it, `checks/<id>.go`, with its\n" +
		"scenarios in `checks/testdata/<id>.txtar`. They run in this order.\n")
	last := Layer(0)
	for _, c := range All() {
		if c.Layer != last {
			last = c.Layer
			fmt.Fprintf(&b, "\n## %s\n", c.Layer)
		}
		fmt.Fprintf(&b, "\n### %s\n\nPasses when %s.\n\n%s\n\n", c.ID, c.Title, c.Doc)
		codes := slices.Sorted(slices.Values(c.Codes))
		fmt.Fprintf(&b, "- Findings: `%s`\n", strings.Join(codes, "`, `"))
		fmt.Fprintf(&b, "- Needs: %v", c.Needs[0])
		for _, n := range c.Needs[1:] {
			fmt.Fprintf(&b, ", %v", n)
		}
		for i, u := range c.Uses {
			sep := ", "
			if i == 0 {
				sep = "; looks at "
			}
			fmt.Fprintf(&b, "%s%v", sep, u)
		}
		b.WriteString("\n")
	}
	return b.String()
}
