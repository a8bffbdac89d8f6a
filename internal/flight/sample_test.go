package flight

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// hosts are the constructed hosts of the collectors' tests, by name.
func hosts(t testing.TB) map[string]*fixture.Archive {
	t.Helper()
	files, err := filepath.Glob("../collect/testdata/*.txtar")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d constructed hosts (%v), want at least 10", len(files), err)
	}
	all := map[string]*fixture.Archive{}
	for _, file := range files {
		a, err := fixture.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".txtar")] = a
	}
	const dir = "../doctor/testdata/hosts/"
	layered, err := filepath.Glob(dir + "*.txtar")
	if err != nil || len(layered) < 40 {
		t.Fatalf("%d layered hosts (%v), want at least 40", len(layered), err)
	}
	for _, file := range layered {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		l, err := fixture.Layer(name, func(name string) (string, error) {
			b, err := os.ReadFile(dir + name + ".txtar")
			return string(b), err
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all["host "+name] = l.Archive()
	}
	return all
}

// timed is a host as it answers at its two samples.
func timed(t testing.TB, a *fixture.Archive) (first, second Sample) {
	t.Helper()
	h := fixture.Host(a)
	times := h.Times()
	first, ok1 := Take(t.Context(), still{h})
	h.NextSample()
	second, ok2 := Take(t.Context(), still{h})
	if !ok1 || !ok2 {
		t.Fatal("a sample was not taken to its end")
	}
	first.Began, second.Began = times[0], times[len(times)-1]
	return first, second
}

// still is a host in one sample: it hides that the tree has a second one.
type still struct{ hostio.Host }

var opts = cmp.Options{
	cmp.Exporter(func(t reflect.Type) bool { return strings.HasPrefix(t.Name(), "Opt[") }),
	cmpopts.EquateEmpty(),
	cmpopts.IgnoreFields(facts.Snapshot{}, "Elapsed"), // Of the first run it is what that took.
}

// Two samples that follow each other are judged as one examination is: whatever
// a collector reads again it has read before.
func TestPairIsAnExamination(t *testing.T) {
	twice := 0
	for name, a := range hosts(t) {
		t.Run(name, func(t *testing.T) {
			want := collect.Run(t.Context(), fixture.Host(a), collect.Options{Origin: facts.Recording})
			first, second := timed(t, a)
			samples := []Sample{first}
			if want.Interval > 0 {
				samples = append(samples, second)
				twice++
			}
			if diff := cmp.Diff(want, Snapshot(t.Context(), samples...), opts); diff != "" {
				t.Errorf("(-examined +from samples):\n%s", diff)
			}
		})
	}
	if twice < 2 {
		t.Errorf("%d hosts have a second sample, want at least 2", twice)
	}
}

func TestRebooted(t *testing.T) {
	at := time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC)
	sample := func(after time.Duration, up string) Sample {
		return Sample{Began: at.Add(after), Results: map[string]hostio.Result{"read:/proc/uptime": {Data: []byte(up)}}}
	}
	for _, tc := range []struct {
		name string
		a, b Sample
		want bool
	}{
		{"goes on", sample(0, "1000.5 1\n"), sample(time.Minute, "1060.5 2\n"), false},
		{"started again", sample(0, "1000.5 1"), sample(10*time.Minute, "100.1 1"), true},
		{"started again after long", sample(0, "100 1"), sample(time.Hour, "1000 1"), true},
		{"the clock was set forward", sample(0, "9000 1"), sample(2*time.Hour, "9060 1"), false},
		{"no uptime", sample(0, "9000 1"), sample(time.Minute, ""), false},
		{"hostile", sample(0, "-5"), sample(time.Minute, "1e300"), false},
	} {
		if got := Rebooted(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// moduleHost counts how often a module's EEPROM is asked for.
type moduleHost struct{ modules, others int }

func (h *moduleHost) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	rs := make([]hostio.Result, len(ops))
	for i, op := range ops {
		if hostio.ReadsModule(op) {
			h.modules++
		} else {
			h.others++
		}
		rs[i].Data = []byte(op.Name)
	}
	return rs
}

func TestQuiet(t *testing.T) {
	request := make([]byte, 20)
	request[16] = unix.ETHTOOL_MSG_MODULE_EEPROM_GET
	ops := []hostio.Op{
		{Kind: hostio.ReadFile, Name: "/a"},
		{Kind: hostio.Netlink, Name: "ethtool/module-eeprom.eth2", Request: request},
		{Kind: hostio.ReadFile, Name: "/b"},
	}
	for _, tc := range []struct {
		once    bool
		modules int
	}{{false, 0}, {true, 1}} {
		host := &moduleHost{}
		q := &Quiet{Host: host, Once: tc.once}
		for range 3 {
			rs := q.Do(t.Context(), ops)
			if string(rs[0].Data) != "/a" || string(rs[2].Data) != "/b" {
				t.Errorf("answers %q and %q are not in order", rs[0].Data, rs[2].Data)
			}
			if answered := string(rs[1].Data) == ops[1].Name; answered != tc.once || rs[1].NotInForm == tc.once {
				t.Errorf("once %v: the module's answer is %+v", tc.once, rs[1])
			}
		}
		if host.modules != tc.modules || host.others != 6 {
			t.Errorf("once %v: %d module reads and %d others, want %d and 6", tc.once, host.modules, host.others, tc.modules)
		}
	}
}
