package doctor

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const orderFile = hostsDir + "/everything-sick.golden"

// TestOrderOfEverything keeps the order of the diagnoses of the host that has
// everything wrong, each with the reason for its place. Update rewrites the
// order and keeps the reasons; a diagnosis without one fails.
func TestOrderOfEverything(t *testing.T) {
	_, doc := examined(t, layered(t, "everything-sick", nil).Archive())
	old, err := os.ReadFile(orderFile)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	title := ""
	for line := range strings.Lines(string(old)) {
		if reason, ok := strings.CutPrefix(line, "\tbecause "); ok {
			reasons[title] = strings.TrimSpace(reason)
		} else if fields := strings.Fields(line); len(fields) > 3 && strings.HasSuffix(fields[0], ".") {
			title = strings.Join(fields[2:4], " ")
		}
	}
	var b strings.Builder
	b.WriteString("Constructed: the order of the diagnoses of everything-sick, with the reason for each place.\n\n")
	if len(doc.Diagnoses) < 10 {
		t.Errorf("%d diagnoses, want at least ten", len(doc.Diagnoses))
	}
	for i, d := range doc.Diagnoses {
		title := d.Code + " " + d.Subject
		if reasons[title] == "" {
			t.Errorf("%s has no reason for its place", title)
		}
		fmt.Fprintf(&b, "%d. %s %s (%s, %s)\n", i+1, d.Severity, title, d.Impact, d.Confidence)
		for _, f := range d.Findings {
			if f.Code != d.Code || f.Subject != d.Subject {
				fmt.Fprintf(&b, "\tand %s %s\n", f.Code, f.Subject)
			}
		}
		fmt.Fprintf(&b, "\tbecause %s\n", reasons[title])
	}
	golden(t, orderFile, []byte(b.String()))
}
