//go:build cgo && linux && !noverbs

package probes

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

// laddersEnv names an environment variable with the number of ladders, which
// make bar sets to 1,000.
const laddersEnv = "RDMADOCTOR_LADDERS"

// held is what a process holds that a ladder could leave behind.
type held struct {
	files, maps, threads int
	locked               string // VmLck and VmPin of /proc/self/status
}

func holds(t *testing.T) held {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	h := held{files: len(fds), maps: strings.Count(string(maps), "\n"), threads: len(tasks)}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmLck:") || strings.HasPrefix(line, "VmPin:") {
			h.locked += strings.TrimSpace(line) + " "
		}
	}
	return h
}

// Ladders in a row leave nothing, whether they pass, break or are refused.
func TestLaddersLeakNothing(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(laddersEnv))
	if err != nil {
		n = 60
	}
	scripts := []string{"atomic-cap 1", "fail modify_rtr EINVAL", "limit-qp 3", "lie status 12", "limit-mr 100000", "fail create_cq ENOMEM 2"}
	paths := make([]string, len(scripts))
	for i, s := range scripts {
		paths[i] = fakeverbs.Build(t, s)
	}
	params, err := json.Marshal(LadderParams{Device: "fake0", Port: 1, Transport: "RoCE v2", GIDIndex: 1, MRMax: 1 << 20, Refusals: true})
	if err != nil {
		t.Fatal(err)
	}
	libs := make([]*verbs.Library, len(paths))
	for i, path := range paths {
		if libs[i], err = verbs.Load(verbs.Options{Verbs: path, RDMACM: "/none"}); err != nil {
			t.Fatal(err)
		}
	}
	round := func(i int) {
		if err := byName[LadderProbe](t.Context(), libs[i%len(libs)], params, &told{}); err != nil {
			t.Fatal(err)
		}
		if live := verbs.Live(); len(live) > 0 {
			t.Fatalf("ladder %d left open: %v", i, live)
		}
	}
	for i := range 2 * len(libs) { // What stays for good is there then.
		round(i)
	}
	before := holds(t)
	for i := range n {
		round(i)
	}
	after := holds(t)
	t.Logf("%d ladders: %+v before, %+v after", n, before, after)
	// The heap and the runtime's threads come and go in a few mappings.
	if after.files > before.files || after.maps > before.maps+16 || after.threads > before.threads+4 || after.locked != before.locked {
		t.Errorf("%d ladders: %+v before, %+v after", n, before, after)
	}
}
