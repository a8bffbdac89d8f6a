package counters

import (
	"strings"
	"testing"
)

// TestEveryCounterIsDescribed: the table and the families name the same
// counters, each with whole sentences.
func TestEveryCounterIsDescribed(t *testing.T) {
	lines := 0
	for line := range strings.Lines(meaningsFile) {
		if !strings.HasPrefix(line, "#") {
			lines++
		}
	}
	if lines != len(meanings()) {
		t.Errorf("%d lines give %d meanings: a name comes twice or a line is not in form", lines, len(meanings()))
	}
	for k := range known() {
		m, ok := k.place.Describe(strings.Replace(k.name, "#", "3", 1))
		if !ok || m.Text == "" {
			t.Errorf("%s %s has no meaning", k.place, k.name)
		}
	}
	for k, m := range meanings() {
		if _, ok := known()[k]; !ok {
			t.Errorf("the table describes %s %s, which no family has", k.place, k.name)
		}
		if !strings.HasSuffix(m.Text, ".") {
			t.Errorf("%s: %q is no sentence", k.name, m.Text)
		}
	}
	if _, ok := Port.Describe("made_up"); ok {
		t.Error("an unknown counter is described")
	}
}

func TestThresholdsNameTheirAuthority(t *testing.T) {
	for k, th := range thresholds {
		if _, ok := known()[k]; !ok || th.Value == 0 || th.Per == "" || th.Authority == "" {
			t.Errorf("%v: %+v is not whole, or of no counter", k, th)
		}
	}
	if th, ok := Ethtool.Threshold("rx_prio3_discards"); !ok || th.Value != 100 || th.Authority != ociHostTest {
		t.Errorf("rx_prio3_discards: %+v, %v", th, ok)
	}
	for _, name := range []string{"rx_prio3_pause", "made_up"} {
		if th, ok := Ethtool.Threshold(name); ok {
			t.Errorf("%s: %+v, want none", name, th)
		}
	}
}

func FuzzParseMeanings(f *testing.F) {
	f.Add("port\tsymbol_error\tErrors.\tCable.\n# x\nport\ta\n")
	f.Fuzz(func(t *testing.T, text string) {
		for k := range parseMeanings(text) {
			if !strings.Contains(text, k.name) {
				t.Errorf("%q gives %q", text, k.name)
			}
		}
	})
}
