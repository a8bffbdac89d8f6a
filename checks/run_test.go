package checks

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// probe is a check that ends as its Run makes it.
func probe(id string, run func(*Pass), requires ...*Check) *Check {
	return &Check{ID: id, Layer: Driver, Needs: []facts.Source{facts.SysfsRDMA}, Requires: requires, Run: run}
}

func TestStatus(t *testing.T) {
	finding := func(s Severity) func(*Pass) {
		return func(p *Pass) {
			p.Examine(1)
			p.Report(Finding{Code: "x", Severity: s})
		}
	}
	tests := []struct {
		name   string
		run    func(*Pass)
		status Status
		reason string
	}{
		{"examined", func(p *Pass) { p.Examine(1) }, Passed, ""},
		{"nothing", func(*Pass) {}, Skipped, "nothing to examine"},
		{"reason", func(p *Pass) { p.Otherwise("none here") }, Skipped, "none here"},
		{"met reason first", func(p *Pass) { p.Otherwise("none here"); p.Examine(1); p.NotApplicable("b is not") }, Skipped, "b is not"},
		{"first of reasons", func(p *Pass) { p.SkipReason("b"); p.SkipReason("a"); p.SkipReason("c") }, Skipped, "a"},
		{"unread", func(p *Pass) { p.Examine(1); p.Unread("b", "fact"); p.Examine(1); p.Unread("a", "fact") }, Unknown, "not read: a fact"},
		{"unread beside examined", func(p *Pass) { p.Examine(2); p.Unread("b", "fact") }, Passed, ""},
		{"idle", func(p *Pass) { p.Examine(1); p.Idle("a/1") }, Skipped, "idle: a/1 moved fewer than 10000 packets between the samples"},
		{"information", finding(Info), Passed, ""},
		{"information about nothing", func(p *Pass) { p.Report(Finding{Severity: Info}) }, Skipped, "nothing to examine"},
		{"warning", finding(Warn), Warned, ""},
		{"failure", finding(Fail), Failed, ""},
		{"warning after failure", func(p *Pass) { finding(Fail)(p); finding(Warn)(p) }, Failed, ""},
	}
	s := &facts.Snapshot{Sources: []facts.Source{facts.SysfsRDMA}}
	for _, tt := range tests {
		r, _ := run(s, probe("x", tt.run), Options{}, nil)
		if r.Status != tt.status || r.Reason != tt.reason {
			t.Errorf("%s: %s %q, want %s %q", tt.name, r.Status, r.Reason, tt.status, tt.reason)
		}
	}
}

// What a check requires blocks it, and through it what requires that.
func TestRequires(t *testing.T) {
	pass := func(p *Pass) { p.Examine(1) }
	fail := func(p *Pass) { p.Report(Finding{Severity: Fail}) }
	unread := func(p *Pass) { p.Examine(1); p.Unread("a", "fact") }
	skip := func(*Pass) {}
	a, b, c, d := probe("a", fail), probe("b", unread), probe("c", skip), probe("d", pass)
	e, f, g, h := probe("e", pass, a), probe("f", pass, b), probe("g", pass, c), probe("h", pass, d)
	i := probe("i", pass, e)
	got := map[string]string{}
	Run(&facts.Snapshot{Sources: []facts.Source{facts.SysfsRDMA}}, []*Check{a, b, c, d, e, f, g, h, i}, Options{},
		func(r Result) { got[r.ID] = string(r.Status) + " " + r.Reason })
	want := map[string]string{"a": "fail ", "b": "unknown not read: a fact", "c": "skip nothing to examine", "d": "pass ",
		"e": "skip a did not pass", "f": "skip b did not pass", "g": "pass ", "h": "pass ", "i": "skip e did not pass"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestMissingSource(t *testing.T) {
	c := &Check{ID: "x", Layer: Lossless, Needs: []facts.Source{facts.SysfsRDMA, facts.DCBNetlink}, Run: func(p *Pass) { p.Examine(1) }}
	gap := func(kind facts.GapKind, detail string) facts.Gap {
		return facts.Gap{Source: facts.DCBNetlink, What: "eth2", Kind: kind, Detail: detail}
	}
	device := []facts.Device{{Name: "mlx5_0"}}
	tests := []struct {
		name   string
		s      facts.Snapshot
		status Status
		reason string
	}{
		{"no word", facts.Snapshot{Devices: device}, Unknown, "dcb was not read"},
		{"denied", facts.Snapshot{Devices: device, Gaps: []facts.Gap{gap(facts.Denied, "EPERM")}}, Unknown, "dcb was not read: eth2: denied (EPERM)"},
		{"cut", facts.Snapshot{Devices: device, Gaps: []facts.Gap{gap(facts.Malformed, "")}}, Unknown, "dcb was not read: eth2: malformed"},
		{"not in a tree", facts.Snapshot{Devices: device, Gaps: []facts.Gap{gap(facts.Unsupported, "not in this kind of input")}}, Unknown,
			"needs dcb, which is not in this kind of input"},
		{"driver has none", facts.Snapshot{Devices: device, Gaps: []facts.Gap{gap(facts.Unsupported, "EOPNOTSUPP")}}, Skipped,
			"dcb is not offered here: eth2 (EOPNOTSUPP)"},
		{"one driver has none, one hangs", facts.Snapshot{Devices: device, Gaps: []facts.Gap{gap(facts.Unsupported, "EOPNOTSUPP"), gap(facts.Timeout, "")}},
			Unknown, "dcb was not read: eth2: unsupported (EOPNOTSUPP)"},
		{"no device", facts.Snapshot{}, Skipped, "no RDMA device is on this host"},
	}
	for _, tt := range tests {
		tt.s.Sources = []facts.Source{facts.SysfsRDMA}
		r, _ := run(&tt.s, c, Options{}, nil)
		if r.Status != tt.status || r.Reason != tt.reason {
			t.Errorf("%s: %s %q, want %s %q", tt.name, r.Status, r.Reason, tt.status, tt.reason)
		}
	}
}

func TestAllIsInOrder(t *testing.T) {
	last := Driver
	for _, c := range All() {
		if c.Layer < last {
			t.Errorf("%s (%s) comes after a check of layer %s", c.ID, c.Layer, last)
		}
		last = c.Layer
	}
}

func TestLayerText(t *testing.T) {
	for _, l := range Layers() {
		b, err := json.Marshal(l)
		var back Layer
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back != l {
			t.Errorf("%s reads back as %s (%v)", l, back, err)
		}
	}
	var l Layer
	if err := l.UnmarshalText([]byte("lossles")); err == nil || !strings.Contains(err.Error(), `layer "lossles": want one of`) {
		t.Errorf("a misspelt layer gives %v", err)
	}
	if got := Layer(99).String(); got != "layer-99" {
		t.Errorf("Layer(99) is %q", got)
	}
}

func TestHasWord(t *testing.T) {
	tests := []struct {
		text, word string
		want       bool
	}{
		{"route/dcb-ieee-get.eth2", "eth2", true}, {"ethtool-stats:eth2", "eth2", true}, {"eth2", "eth2", true},
		{"mlx5_core 0000:3b:00.0 eth2: Link down", "eth2", true}, {"a (eth2)", "eth2", true},
		{"/sys/class/infiniband/mlx5_1/ports/1", "mlx5_1", true}, {"/sys/class/infiniband/mlx5_10/ports/1", "mlx5_1", false},
		{"ethtool-stats:eth2.100", "eth2", false}, {"ethtool-stats:eth2.100", "eth2.100", true}, {"veth2", "eth2", false},
		{"eth22 eth2", "eth2", true}, {"", "eth2", false}, {"eth2", "", false},
	}
	for _, tt := range tests {
		if got := hasWord(tt.text, tt.word); got != tt.want {
			t.Errorf("hasWord(%q, %q) = %v", tt.text, tt.word, got)
		}
	}
}

// FuzzChecks judges hostile snapshots: no check may panic, pass on nothing, or
// report a code that it did not declare.
func FuzzChecks(f *testing.F) {
	for _, data := range scenarioData(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s facts.Snapshot
		if json.Unmarshal(data, &s) != nil {
			t.Skip()
		}
		for _, c := range All() {
			s.Sources = append(s.Sources, c.Needs...)
		}
		for _, c := range All() {
			r, _ := run(&s, c, Options{}, nil)
			if r.Status == Passed && r.Examined <= 0 {
				t.Errorf("%s passes having examined %d", c.ID, r.Examined)
			}
			for _, fd := range r.Findings {
				if !slices.Contains(c.Codes, fd.Code) {
					t.Errorf("%s reports %q", c.ID, fd.Code)
				}
			}
		}
	})
}
