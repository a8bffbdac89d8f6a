//go:build cgo && linux && !noverbs

package probes

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if live := verbs.Live(); code == 0 && len(live) > 0 {
		println("handles are open after all tests")
		code = 1
	}
	os.Exit(code)
}

// told is a Reporter that keeps what it is told.
type told struct {
	mu      sync.Mutex
	begun   []string
	steps   []facts.ProbeStep
	refused []facts.ProbeStep
	ladders map[int]facts.Ladder
}

func (t *told) Begin(step string, _ time.Duration) { t.begun = append(t.begun, step) }
func (t *told) Step(_ int, refused bool, s facts.ProbeStep) {
	if refused {
		t.refused = append(t.refused, s)
	} else {
		t.steps = append(t.steps, s)
	}
}

func (t *told) Ladder(id int, l *facts.Ladder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ladders == nil {
		t.ladders = map[int]facts.Ladder{}
	}
	t.ladders[id] = *l
}
func (t *told) Measurement(*facts.Measurement)          {}
func (t *told) Log(string, ...any)                      {}
func (t *told) Send([]byte) error                       { return errors.New("no peer") }
func (t *told) Receive(context.Context) ([]byte, error) { return nil, errors.New("no peer") }

// climb runs the ladders of the fake device's port with a script.
func climb(t *testing.T, script string, change ...func(*LadderParams)) *told {
	t.Helper()
	p := LadderParams{Device: "fake0", Port: 1, Transport: "RoCE v2", GIDIndex: 1, MRMax: 1 << 20, Refusals: true, Messages: 100}
	for _, f := range change {
		f(&p)
	}
	params, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	got := &told{}
	if err := Run(t.Context(), verbs.Options{Verbs: fakeverbs.Build(t, script), RDMACM: "/none"}, LadderProbe, params, got); err != nil {
		t.Fatal(err)
	}
	if live := verbs.Live(); len(live) > 0 {
		t.Errorf("left open: %v", live)
	}
	return got
}

// names are steps in short: "write 64!" failed.
func names(steps []facts.ProbeStep) []string {
	var ns []string
	for _, s := range steps {
		n := s.Name
		if s.Op != "" {
			n += " " + s.Op
		}
		if s.Error != nil {
			n += "!"
		}
		ns = append(ns, n)
	}
	return ns
}

func TestHealthyLadder(t *testing.T) {
	got := climb(t, "link ethernet\natomic-cap 1\n")
	rc := got.ladders[1]
	want := strings.Fields(`open query-device query-port alloc-pd create-comp-channel create-cq reg-mr reg-mr-unaligned
		create-qp create-qp init init rtr rtr rts rts write write read read send send fetch-add cmp-swap write destroy-qp dereg-mr`)
	if n := names(rc.Steps); !slices.Equal(n, want) {
		t.Errorf("steps\n%v, want\n%v", n, want)
	}
	for _, s := range rc.Steps {
		if s.Name == "read" && !s.Verified.Or(false) {
			t.Errorf("%s of %d bytes is not verified", s.Name, s.Bytes)
		}
	}
	if len(rc.Refused) != 10 || rc.Canary != facts.Some(false) {
		t.Errorf("refused %v, canary changed %v", names(rc.Refused), rc.Canary)
	}
	for _, s := range rc.Refused {
		want := 10
		if s.Name == "no-receive" {
			want = 13
		}
		if s.Error == nil || s.Error.WCStatus != facts.Some(want) {
			t.Errorf("%s %s: %+v, want status %d", s.Name, s.Op, s.Error, want)
		}
	}
	if len(rc.Regions) != 9 || rc.Regions[8].Bytes != 1<<20 || rc.Regions[8].Error != nil {
		t.Errorf("regions %+v", rc.Regions)
	}
	if rc.Path.SGIDIndex != facts.Some(1) || rc.Path.SGID == "" || rc.Path.PathMTU != 1024 || rc.Path.Service != "RC" {
		t.Errorf("path %+v", rc.Path)
	}
	for id, service := range map[int]string{2: "UC", 3: "UD"} {
		l := got.ladders[id]
		if l.Path.Service != service || l.End.Outcome != facts.Completed || len(l.Steps) == 0 && len(l.Skipped) == 0 {
			t.Errorf("%s: %+v", service, l)
		}
		for _, s := range l.Steps {
			if s.Error != nil {
				t.Errorf("%s: step %s: %v", service, s.Name, s.Error)
			}
		}
	}
}
