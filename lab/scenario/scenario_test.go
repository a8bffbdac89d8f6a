package scenario

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	s, err := Parse([]byte(`
id: a-b
about: something
fault: ["one", {on: a, run: two}]
want: [x]
min_pass: 2
`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Step{{Run: "one"}, {On: "a", Run: "two"}}, s.Fault); diff != "" {
		t.Errorf("fault (-want +got):\n%s", diff)
	}
	if s.Topology != "single" || s.User != "root" || s.RecheckUser != "root" ||
		len(s.Kernels) != 2 || s.Timeout == 0 {
		t.Errorf("defaults: got %+v", s)
	}
}

func TestParseErrors(t *testing.T) {
	const good = "id: a\nabout: b\nmin_pass: 1\n"
	if _, err := Parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, yaml, want string }{
		{"empty", "", ""},
		{"unknown field", good + "wants: [x]\n", "wants"},
		{"unknown field of a step", good + "setup: [{run: x, host: b}]\n", `"host"`},
		{"step without text", good + "setup: ['']\n", "empty step"},
		{"step on no host", good + "setup: [{on: b, run: x}]\n", `step on "b"`},
		{"id", "id: A b\nabout: b\nmin_pass: 1\n", "id"},
		{"nothing need pass", "id: a\nabout: b\n", "min_pass"},
		{"topology", good + "topology: ring\n", "topology"},
		{"kernel", good + "kernels: [\"5.4\"]\n", "5.4"},
		{"cure without why", good + "want: [x]\ncure: [y]\n", "cure and why"},
		{"why without cure", good + "want: [x]\nwhy: y\n", "cure and why"},
		{"healthy with a fault", good + "fault: [x]\n", "healthy"},
		{"healthy that allows warnings", good + "allow: [x]\n", "healthy"},
		{"undo of any severity", good + "want: [x]\nundo: [y]\nwhy: z\n", "undo"},
		{"undo of a fault without why", good + "want: [x]\nwant_severity: fail\nundo: [y]\n", "undo"},
		{"undo of information with why", good + "want: [x]\nwant_severity: info\nundo: [y]\nwhy: z\n", "undo"},
		{"command and args", good + "command: [check]\nargs: [-q]\n", "command"},
		{"undo and cure", good + "want: [x]\nwant_severity: info\nundo: [y]\n" +
			"cure: [y]\nwhy: z\n", "undo"},
		{"status", good + "want_status: {x: passed}\n", "passed"},
		{"healthy with an order", good + "order: [x]\n", "healthy"},
		{"user", good + "user: \"a b\"\n", "user"},
		{"netns", good + "netns: a b\n", "netns"},
		{"one host compared", good + "compare: true\n", "compare"},
		{"timeout", good + "timeout: 1h\n", "timeout"},
		{"twice", good + "id: b\n", "id"},
		{"no mapping", "[1, 2]", ""},
		{"cut", "id: \"a", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.yaml))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("id: a\nabout: b\nmin_pass: 1\nsetup: [x, {on: a, run: y}]\n"))
	f.Add([]byte("id: a\nwant: [x]\ncure: [y]\nwhy: z\n"))
	f.Add([]byte("setup: [[]]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse(b)
		if err == nil && (s.MinPass < 1 || s.OwnCure() != (s.Why != "") ||
			len(s.Hosts()) == 0) {
			t.Errorf("accepted %q as %+v", b, s)
		}
	})
}

func TestLoadErrors(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const body = "about: b\nmin_pass: 1\n"
	tests := []struct {
		name string
		dir  fstest.MapFS
		want string
	}{
		{"none", fstest.MapFS{}, "there are none"},
		{"other name", fstest.MapFS{"a.yaml": file("id: b\n" + body)}, `id "b"`},
		{"absent script", fstest.MapFS{"a.yaml": file("id: a\nuse: [x]\n" + body)},
			`use "x"`},
		{"second is bad", fstest.MapFS{"a.yaml": file("id: a\n" + body),
			"b.yaml": file("id: b\n")}, "b.yaml"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Load(tt.dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// TestRepositoryScenarios checks the product's own scenarios as a list.
func TestRepositoryScenarios(t *testing.T) {
	all, scripts, err := Load(os.DirFS("../scenarios"))
	if err != nil {
		t.Fatal(err)
	}
	own, hands, healthy := 0, 0, 0
	used := make(map[string]bool)
	for _, s := range all {
		if s.OwnCure() {
			own++
		}
		if s.ByHand() {
			hands++
		}
		if s.Healthy() {
			healthy++
		}
		for _, name := range s.Use {
			used[name] = true
		}
	}
	if own*4 > len(all) {
		t.Errorf("%d of %d scenarios bring their own cure, at most a quarter may",
			own, len(all))
	}
	if healthy == 0 {
		t.Error("no scenario of a healthy host")
	}
	for name := range scripts {
		if !used[name] {
			t.Errorf("use/%s.sh: no scenario uses it", name)
		}
	}
	t.Logf("%d scenarios, %d healthy, %d with their own cure, %d that hands have to mend", len(all), healthy, own, hands)
}

func TestRunnable(t *testing.T) {
	fix := func(commands ...string) Diagnosis {
		d := Diagnosis{Code: "x"}
		for _, c := range commands {
			where, command, _ := strings.Cut(c, ": ")
			d.Fix = append(d.Fix, Fix{Command: command, Where: where})
		}
		return d
	}
	tests := []struct {
		name string
		d    Diagnosis
		want []string
	}{
		{"in order", fix("host: a", "host: b"), []string{"a", "b"}},
		{"not on the host", fix("switch: a", "host: b", "peer: c"), []string{"b"}},
		{"told in words", fix("host: ", "host: b"), []string{"b"}},
		{"placeholder", fix("host: ip addr add <address> dev v0", "host: b"),
			[]string{"b"}},
		{"redirections are no placeholders",
			fix("host: cat </etc/passwd >/dev/null", "host: a <b && c> d"),
			[]string{"cat </etc/passwd >/dev/null", "a <b && c> d"}},
		{"none", fix("switch: a"), nil},
		{"only placeholders", fix("host: a <the address>"), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := runnable(tt.d)
			if (err == nil) != (tt.want != nil) || !slices.Equal(got, tt.want) {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestJudgeInfo(t *testing.T) {
	s := Scenario{MinPass: 1, AllowInfo: []string{"known"}}
	for _, tt := range []struct {
		code string
		want int // problems
	}{{"known", 0}, {"other", 1}} {
		r, err := ParseReport(fmt.Appendf(nil, `{"summary": {"pass": 1}, "checks": [
			{"status": "pass", "findings": [{"code": %q, "severity": "info"}]}]}`, tt.code))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Judge(r, 0); len(got) != tt.want {
			t.Errorf("info %s: got %q, want %d problems", tt.code, got, tt.want)
		}
	}
}

func TestJudgeStatusAndOrder(t *testing.T) {
	const report = `{"summary": {"pass": 1, "skip": 1, "exit_code": 1},
		"diagnoses": [{"code": "x"}, {"code": "y"}],
		"checks": [{"id": "one", "status": "pass", "findings": [
			{"code": "x", "severity": "info"}, {"code": "y", "severity": "info"}]},
			{"id": "two", "status": "skip"}]}`
	r, err := ParseReport([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		status map[string]string
		order  []string
		want   int // problems
	}{
		{"neither", nil, nil, 0},
		{"as wanted", map[string]string{"one": "pass", "two": "skip"},
			[]string{"x", "y"}, 0},
		{"other status", map[string]string{"two": "pass"}, nil, 1},
		{"no such check", map[string]string{"three": "skip"}, nil, 1},
		{"other order", nil, []string{"y", "x"}, 1},
		{"one more", nil, []string{"x"}, 1},
	} {
		s := Scenario{MinPass: 1, Want: []string{"x", "y"}, WantStatus: tt.status,
			Order: tt.order}
		if got := s.Judge(r, 1); len(got) != tt.want {
			t.Errorf("%s: got %q, want %d problems", tt.name, got, tt.want)
		}
	}
}

func TestInterval(t *testing.T) {
	for want, args := range map[string][]string{"1s": {"--timeout", "9s"}, "5s": {"--interval", "5s"}} {
		if got := (Scenario{Args: args}).interval(); got != want {
			t.Errorf("args %q: got %q, want %q", args, got, want)
		}
	}
}

func TestJudgeComparison(t *testing.T) {
	r, err := ParseReport([]byte(`{"summary": {"fail": 1, "exit_code": 1}, "checks": [{"status": "fail",
		"findings": [{"code": "x", "severity": "fail"}]}], "diagnoses": [{"code": "x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for compare, want := range map[bool]int{true: 0, false: 1} {
		s := Scenario{MinPass: 1, Want: []string{"x"}, Compare: compare}
		if got := s.Judge(r, 1); len(got) != want {
			t.Errorf("compare %t: got %q, want %d problems", compare, got, want)
		}
	}
}

func FuzzParseReport(f *testing.F) {
	f.Add([]byte(`{"summary": {"pass": 1}, "diagnoses": [{"code": "x", "fix": []}]}`))
	f.Add([]byte(`{"checks": [{"findings": null}], "error": {"kind": "usage"}}`))
	f.Add([]byte(`{"checks": [`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParseReport(b)
		if err != nil {
			return
		}
		s := Scenario{MinPass: 1, Want: []string{"x"}}
		if len(s.Judge(r, 0)) == 0 && (r.Top() != "x" || r.Summary.Pass < 1) {
			t.Errorf("%q passes", b)
		}
	})
}

func TestSpread(t *testing.T) {
	both := []string{"6.1", "6.12"}
	all := []Scenario{{ID: "a", Kernels: both}, {ID: "b", Kernels: both, Always: true},
		{ID: "c", Kernels: both[1:]}, {ID: "d", Kernels: both}, {ID: "e", Kernels: both}}
	all = Spread(all)
	var got []string
	for _, s := range all {
		got = append(got, s.ID+" "+strings.Join(s.Kernels, ","))
	}
	want := []string{"a 6.1", "b 6.1,6.12", "c 6.12", "d 6.1", "e 6.1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
