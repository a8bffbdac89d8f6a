package collect

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// constructed loads testdata/NAME.txtar.
func constructed(t testing.TB, name string) *fixture.Tree {
	t.Helper()
	a, err := fixture.Read(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return fixture.Host(a)
}

// collected runs the collectors of these sources on h, and checks what holds
// for every snapshot.
func collected(t testing.TB, h *fixture.Tree, only ...facts.Source) *facts.Snapshot {
	t.Helper()
	s := Run(t.Context(), h, Options{Origin: facts.Recording, Only: only})
	roundTrips(t, s)
	if !slices.IsSorted(s.Sources) {
		t.Errorf("sources are not sorted: %v", s.Sources)
	}
	return s
}

// opts lets cmp see into Opt and treats an absent list and an empty one alike.
var opts = cmp.Options{
	cmp.Exporter(func(t reflect.Type) bool { return strings.HasPrefix(t.Name(), "Opt[") }),
	cmp.AllowUnexported(rate{}, procStatus{}),
	cmpopts.EquateEmpty(),
}

// roundTrips checks that a snapshot survives its JSON form.
func roundTrips(t testing.TB, s *facts.Snapshot) {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got facts.Snapshot
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, &got, opts); diff != "" {
		t.Errorf("the JSON form loses something (-collected +read back):\n%s", diff)
	}
}

// gap returns the gap about what, failing the test where there is none.
func gap(t *testing.T, s *facts.Snapshot, what string) facts.Gap {
	t.Helper()
	for _, g := range s.Gaps {
		if g.What == what {
			return g
		}
	}
	t.Errorf("no gap about %s in %v", what, s.Gaps)
	return facts.Gap{}
}

// noGaps fails for gaps other than that an archive of files holds no netlink.
func noGaps(t *testing.T, s *facts.Snapshot) {
	t.Helper()
	for _, g := range s.Gaps {
		if g.What == noNetlink {
			continue
		}
		t.Errorf("unexpected gap: %+v", g)
	}
}

// want compares one value.
func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A parsed is one row of a table of texts and what a parser makes of them.
type parsed[T any] struct {
	text string
	want T
	err  bool
}

func checkParser[T any](t *testing.T, name string, parse func(string) (T, error), rows []parsed[T]) {
	t.Helper()
	for _, row := range rows {
		got, err := parse(row.text)
		if (err != nil) != row.err {
			t.Errorf("%s(%q) error = %v, want an error: %v", name, row.text, err, row.err)
			continue
		}
		if diff := cmp.Diff(row.want, got, opts); err == nil && diff != "" {
			t.Errorf("%s(%q) (-want +got):\n%s", name, row.text, diff)
		}
	}
}
