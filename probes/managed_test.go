//go:build cgo && linux && !noverbs

package probes

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

// manage runs the ladder of an iWARP port.
func manage(t *testing.T, script string, change ...func(*LadderParams)) facts.Ladder {
	t.Helper()
	p := LadderParams{Device: "fake0", Port: 1, Transport: "iWARP", Address: "192.0.2.1", Refusals: true}
	for _, f := range change {
		f(&p)
	}
	params, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	lib := fakeverbs.Build(t, "link iwarp\n"+script)
	got := &told{}
	if err := Run(t.Context(), verbs.Options{Verbs: lib, RDMACM: lib}, LadderProbe, params, got); err != nil {
		t.Fatal(err)
	}
	if live := verbs.Live(); len(live) > 0 {
		t.Errorf("left open: %v", live)
	}
	return got.ladders[1]
}

func TestManagedLadder(t *testing.T) {
	l := manage(t, "")
	want := strings.Fields(`open query-device query-port alloc-pd create-comp-channel create-cq reg-mr reg-mr-unaligned
		listen resolve-addr resolve-route create-qp connect connect-request create-qp accept
		write write read read send send disconnect dereg-mr`)
	if n := names(l.Steps); !slices.Equal(n, want) {
		t.Errorf("steps\n%v, want\n%v", n, want)
	}
	for _, s := range l.Steps {
		if s.Error != nil {
			t.Errorf("%s: %v", s.Name, s.Error)
		}
	}
	if !l.Path.ByCM || l.Canary != facts.Some(false) || len(l.Refused) != 8 {
		t.Errorf("path %+v, canary %v, refused %v", l.Path, l.Canary, names(l.Refused))
	}
}

func TestManagedLadderBreaks(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		change func(*LadderParams)
		step   string
	}{
		"no address":  {"", func(p *LadderParams) { p.Address = "" }, ""},
		"no IP":       {"", func(p *LadderParams) { p.Address = "eth0" }, "listen"},
		"any address": {"", func(p *LadderParams) { p.Address = "0.0.0.0" }, "listen"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.change == nil {
				tc.change = func(*LadderParams) {}
			}
			l := manage(t, tc.script, tc.change)
			s, _ := broken(l)
			if s.Name != tc.step {
				t.Errorf("broke at %+v, want %q", s, tc.step)
			}
			if tc.step == "" && (len(l.Skipped) == 0 || !strings.Contains(l.Skipped[len(l.Skipped)-1].Why, "no address")) {
				t.Errorf("skipped %v", l.Skipped)
			}
		})
	}
}
