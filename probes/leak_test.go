//go:build cgo && linux && !noverbs

package probes

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

// laddersEnv names an environment variable with the number of ladders, which
// make bar sets to 1,000.
const laddersEnv = "RDMADOCTOR_LADDERS"

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
	before := holding()
	for i := range n {
		round(i)
	}
	after := holding()
	t.Logf("%d ladders: %+v before, %+v after", n, before, after)
	if after.grew(before) {
		t.Errorf("%d ladders: %+v before, %+v after", n, before, after)
	}
}

// The ladders that are repeated tell what they left, as in the lab's guests.
func TestRepeatedLaddersSayWhatTheyLeave(t *testing.T) {
	got := climb(t, "atomic-cap 1", func(p *LadderParams) { p.Repeat = 8 })
	l := got.ladders[0]
	if len(got.ladders) != 4 || len(l.Steps) != 1 || l.Steps[0].Name != "repeat" || l.Steps[0].Error != nil {
		t.Errorf("ladders %+v", got.ladders)
	}
	for _, h := range []held{{handles: 1}, {files: 1}, {maps: looseMaps + 1}, {locked: " VmPin: 4 kB"}} {
		if !h.grew(held{}) {
			t.Errorf("%v left behind is no growth", h)
		}
	}
	if (held{maps: looseMaps}).grew(held{}) {
		t.Error("the heap's mappings are growth")
	}
}
