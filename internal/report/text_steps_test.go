package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// One command for each of three ports has one line about what it does.
func TestStepsSayOnceWhatTheyDo(t *testing.T) {
	clear := func(device string) knowledge.Step {
		return knowledge.Step{Command: "perfquery -C " + device + " -R", Where: "host", Disrupts: "nothing", Changes: "zero"}
	}
	p := &page{width: 80}
	p.steps([]knowledge.Step{clear("mlx5_0"), clear("mlx5_1"), clear("mlx5_2"),
		{Text: "Look at the switch.", Where: "switch", Disrupts: "nothing", Changes: "nothing"},
		{Text: "Reboot.", Where: "host", Disrupts: "host", Changes: "zero"}})
	want := `   1. perfquery -C mlx5_0 -R
   2. perfquery -C mlx5_1 -R
   3. perfquery -C mlx5_2 -R
      1 to 3, each: on the host; disrupts nothing; gone after a reboot: zero
   4. Look at the switch.
      on the switch; changes nothing
   5. Reboot.
      on the host; disrupts the host: zero
`
	if got := p.buf.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		name, in string
		want     []string
	}{
		{"words", "one two three", []string{"one two", "three"}},
		{"a path stays whole", "read /sys/class/infiniband now", []string{"read", "/sys/class/infiniband", "now"}},
		{"wide glyphs", "漢字 漢字漢字漢字", []string{"漢字", "漢字漢字漢字"}},
		{"nothing", "  ", []string{""}},
	} {
		if got := wrap(tc.in, 8); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// The same commands under two headings are one list.
func TestReproduceIsNotVerifyAgain(t *testing.T) {
	d := knowledge.Diagnosis{Title: "t", Code: "c", Impact: knowledge.None, Verify: []string{"rdma link"}, Reproduce: []string{"rdma link"}}
	p := &page{width: 80}
	p.answer(&d)
	if n := strings.Count(p.buf.String(), "rdma link"); n != 1 {
		t.Errorf("the command stands %d times, want once:\n%s", n, &p.buf)
	}
	if !strings.Contains(p.buf.String(), "no impact") {
		t.Errorf("want no impact in\n%s", &p.buf)
	}
}

// What several ports have in common is said once, and sources that the input
// never holds are one line.
func TestAlikeIsOneLine(t *testing.T) {
	f := func(subject, message string) checks.Finding {
		return checks.Finding{Code: "c", Severity: checks.Info, Subject: subject, Message: message}
	}
	p := &page{width: 80}
	p.layer(checks.Link, []checks.Result{{ID: "x", Layer: checks.Link, Status: checks.Passed,
		Findings: []checks.Finding{f("mlx5_0/1", "stuck"), f("mlx5_1/1", "slow"), f("mlx5_2/1", "stuck")}}})
	want := `  link
    ok x
       i  mlx5_0/1, mlx5_2/1: stuck [c]
       i  mlx5_1/1: slow [c]
`
	if got := p.buf.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	never := func(s facts.Source) facts.Gap {
		return facts.Gap{Source: s, What: string(s), Kind: facts.Unsupported, Detail: facts.NotInForm}
	}
	got := gapLines([]facts.Gap{never(facts.Links), {Source: facts.Links, What: "eth0", Kind: facts.Absent}, never(facts.PCISysfs), never(facts.PCISysfs)})
	if want := []string{"not in this kind of input: link, pci", "link absent: eth0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
