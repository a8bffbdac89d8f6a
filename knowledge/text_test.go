package knowledge

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// TestPageText: prose keeps to the width, and nothing of the page is lost.
func TestPageText(t *testing.T) {
	for _, p := range Pages() {
		text := p.Text(78)
		for i, l := range strings.Split(text, "\n") {
			if utf8.RuneCountInString(l) > 78 && strings.Contains(strings.TrimSpace(l), " ") && !isCommand(p, l) {
				t.Errorf("%s line %d is %d wide: %q", p.Code, i+1, utf8.RuneCountInString(l), l)
			}
			if strings.TrimRight(l, " ") != l {
				t.Errorf("%s line %d ends in a space: %q", p.Code, i+1, l)
			}
		}
		flat := strings.Join(strings.Fields(text), " ")
		for _, part := range []string{p.Title, p.Symptom, p.Cause, p.Notes} {
			for _, line := range strings.Split(part, "\n") {
				if want := strings.Join(strings.Fields(line), " "); !strings.Contains(flat, want) {
					t.Errorf("%s: %q is lost", p.Code, want)
				}
			}
		}
		if (checks.Reporting(p.Code) == nil) != strings.Contains(text, NoCheck) {
			t.Errorf("%s: reported by %v, the page says otherwise", p.Code, checks.Reporting(p.Code))
		}
		if len(p.References) > 0 && !strings.Contains(text, p.References[0]) {
			t.Errorf("%s: the references are lost", p.Code)
		}
	}
}

func isCommand(p *Page, line string) bool {
	for _, c := range p.commands() {
		if strings.HasSuffix(line, fillCommand(c, values{})) {
			return true
		}
	}
	return false
}

func TestReflow(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"paragraphs", "one two\nthree four\n\nfive", "one two\nthree four\n\nfive\n"},
		{"joins lines", "a\nb\nc", "a b c\n"},
		{"list", "- one two three\n- four", "- one two\n  three\n- four\n"},
		{"verbatim", "x\n    a  long   line that stays\ny", "x\n    a  long   line that stays\ny\n"},
		{"long word", "a 0123456789abcdef b", "a\n0123456789abcdef\nb\n"},
		{"counts characters", "éééé éééé", "éééé éééé\n"},
		{"empty", "", "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Reflow(tt.body, 10); got != tt.want {
				t.Errorf("got %q want %q", got, tt.want)
			}
		})
	}
}

func TestEffect(t *testing.T) {
	for _, tt := range []struct {
		step Step
		want string
	}{
		{Step{Where: "host", Disrupts: "port", Changes: "x"}, "on the host; disrupts the port: x"},
		{Step{Where: "host", Disrupts: "port", Changes: "x", Command: "c"}, "on the host; disrupts the port; gone after a reboot: x"},
		{Step{Where: "switch", Disrupts: "nothing", Changes: "x", Persistent: true}, "on the switch; disrupts nothing; survives a reboot: x"},
		{Step{Where: "bios", Disrupts: "host", Changes: "x", Persistent: true}, "in the BIOS; disrupts the host; survives a reboot: x"},
		{Step{Where: "peer", Disrupts: "nothing", Changes: "nothing"}, "on the peer; changes nothing"},
	} {
		if got := tt.step.Effect(); got != tt.want {
			t.Errorf("got %q want %q", got, tt.want)
		}
	}
}
