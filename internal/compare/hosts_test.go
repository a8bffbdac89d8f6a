package compare

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// Every constructed host agrees with itself, and what its sick twin has another
// is told with all that the pages need.
func TestConstructedHosts(t *testing.T) {
	const dir = "../doctor/testdata/hosts"
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d constructed hosts (%v)", len(files), err)
	}
	collected := func(name string) *facts.Snapshot {
		l, err := fixture.Layer(name, func(name string) (string, error) {
			b, err := os.ReadFile(filepath.Join(dir, name+".txtar"))
			return string(b), err
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return Collect(t.Context(), fixture.Host(l.Archive()), facts.Recording)
	}
	agree, differ := 0, 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		s := collected(name)
		for _, r := range judge(named([]Host{{Snapshot: s}, {Snapshot: s}, {Snapshot: s}})) {
			agree++
			for _, f := range r.Findings {
				// Two limited members cannot talk, and cards of one board differ, whosever
				// they are.
				if f.Code != "pkey-limited" && f.Code != "firmware-mixed" {
					t.Errorf("%s beside itself: %s %s: %s", name, f.Severity, f.Code, f.Message)
				}
			}
		}
		twin, sick := strings.CutSuffix(name, "-sick")
		if !sick || !slices.Contains(files, filepath.Join(dir, twin+".txtar")) {
			continue
		}
		for _, r := range judge(named([]Host{{Snapshot: collected(twin)}, {Snapshot: s}})) {
			for _, f := range r.Findings {
				differ++
				complete(t, f)
			}
		}
	}
	if agree == 0 || differ == 0 {
		t.Errorf("%d comparisons of hosts with themselves, %d differences between twins", agree, differ)
	}
}
