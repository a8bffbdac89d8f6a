//go:build cgo && linux && !noverbs

package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
	"github.com/rdmadoctor/rdmadoctor/probes"
)

// probeFake probes the port of a fake device, in a worker as always.
func probeFake(ctx context.Context, t *testing.T, libs verbs.Options, change func(*probes.Planned)) ([]facts.Ladder, []string) {
	t.Helper()
	planned := probes.Planned{Params: probes.LadderParams{Device: "fake0", Port: 1, Transport: "RoCE v2", GIDIndex: 1, Refusals: true}}
	if change != nil {
		change(&planned)
	}
	var progress []string
	ladders := (&program{}).ladders(ctx, planned, &probeFlags{libs: libs}, func(m report.Message) {
		progress = append(progress, m.Progress.Text)
	})
	return ladders, progress
}

func fake(t *testing.T, script string) verbs.Options {
	return verbs.Options{Verbs: fakeverbs.Build(t, script), RDMACM: "/none"}
}

func TestProbeInWorker(t *testing.T) {
	ladders, progress := probeFake(t.Context(), t, fake(t, "atomic-cap 1"), nil)
	if len(ladders) != 3 || len(ladders[0].Steps) < 20 || len(ladders[0].Refused) != 10 {
		t.Fatalf("ladders %+v", ladders)
	}
	for _, l := range ladders {
		if l.End.Outcome != facts.Completed || l.Local != "fake0/1" {
			t.Errorf("%s: end %+v", l.Path.Service, l.End)
		}
	}
	if len(progress) == 0 || !strings.HasPrefix(progress[0], "fake0/1: ") {
		t.Errorf("progress %q", progress)
	}
}

// What befalls the worker is pinned to the step that it was in, and what was
// told before is kept.
func TestProbeThatBreaks(t *testing.T) {
	for _, tc := range []struct {
		name, script string
		want         facts.ProbeEnd
		slow         bool
	}{
		{"crash in the library", "crash create_qp", facts.ProbeEnd{Outcome: facts.Crashed, Step: "create-qp", Signal: "SIGSEGV"}, false},
		{"crash at once", "crash open_device", facts.ProbeEnd{Outcome: facts.Crashed, Step: "open", Signal: "SIGSEGV"}, false},
		{"the library exits", "exit create_cq", facts.ProbeEnd{Outcome: facts.Crashed, Step: "create-cq"}, false},
		{"hang in C", "hang alloc_pd", facts.ProbeEnd{Outcome: facts.Hung, Step: "alloc-pd"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.slow && testing.Short() {
				t.Skip("it waits for a deadline")
			}
			ladders, _ := probeFake(t.Context(), t, fake(t, tc.script), nil)
			if len(ladders) != 1 {
				t.Fatalf("ladders %+v", ladders)
			}
			l := ladders[0]
			detail := l.End.Detail
			l.End.Detail = ""
			if l.End != tc.want || l.Local != "fake0/1" {
				t.Errorf("%s: end %+v %q, want %+v", l.Local, l.End, detail, tc.want)
			}
			if tc.want.Signal != "" && !strings.Contains(detail, "code of a library") {
				t.Errorf("detail %q", detail)
			}
			if tc.want.Step != "open" && (len(l.Steps) < 3 || l.Steps[0].Name != "open") {
				t.Errorf("the steps before are lost: %+v", l.Steps)
			}
		})
	}
}

func TestProbeWithoutLibrary(t *testing.T) {
	ladders, _ := probeFake(t.Context(), t, verbs.Options{Verbs: "/none/libibverbs.so.1"}, nil)
	if len(ladders) != 1 || ladders[0].End.Outcome != facts.Unavailable || !strings.Contains(ladders[0].End.Detail, "not installed") {
		t.Errorf("ladders %+v", ladders)
	}
}

func TestProbeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ladders, _ := probeFake(ctx, t, verbs.Options{}, nil)
	if len(ladders) != 1 || ladders[0].End.Outcome != facts.Stopped {
		t.Errorf("ladders %+v", ladders)
	}
}

func TestProbeNotRun(t *testing.T) {
	ladders, _ := probeFake(t.Context(), t, verbs.Options{}, func(p *probes.Planned) { p.Skip = "it carries the default route" })
	if len(ladders) != 1 || ladders[0].End.Outcome != facts.NotRun || ladders[0].Planned != nil {
		t.Errorf("ladders %+v", ladders)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]uint64{"0": 0, "4096": 4096, "64k": 64 << 10, "64K": 64 << 10, "512M": 512 << 20, "4G": 4 << 30, "1T": 1 << 40} {
		if got, ok := parseSize(s); !ok || got != want {
			t.Errorf("%q is %d, %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "G", "-1", "1.5G", "1 G", "99999999999999999999", "9999999999999T", "1GiB"} {
		if got, ok := parseSize(s); ok {
			t.Errorf("%q is %d", s, got)
		}
	}
}

func TestProbesLeaveNoProcess(t *testing.T) {
	libs := fake(t, "")
	probeFake(t.Context(), t, libs, nil)
	before := openFiles(t)
	for range 3 {
		probeFake(t.Context(), t, libs, nil)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}
