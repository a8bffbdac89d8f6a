package scenario

import (
	"slices"
	"testing"
)

func TestDocumentRoundTrip(t *testing.T) {
	ps := []Proof{
		{"netdev-down", "6.1", "port-admin-down", "port-admin-down", "yes"},
		{"healthy-rxe", "6.12", "healthy", "healthy", "-"},
	}
	doc := Document(ps)
	got := ReadDocument(doc)
	slices.SortFunc(got, func(a, b Proof) int { return -compareProof(a, b) })
	if !slices.Equal(got, ps) {
		t.Errorf("read back %v, want %v", got, ps)
	}
	if m := Missing(doc, ps); len(m) != 0 {
		t.Errorf("missing %v", m)
	}
	changed := ps[0]
	changed.Got = "pfc-off"
	if m := Missing(doc, []Proof{changed}); len(m) != 1 {
		t.Error("a changed proof is not missing")
	}
	merged := Merge(ps, []Proof{changed}, []Scenario{{ID: "netdev-down"}})
	if !slices.Equal(merged, []Proof{changed}) {
		t.Errorf("merged %v, want the fresh proof of the scenario that is left", merged)
	}
}

func compareProof(a, b Proof) int {
	if a.Scenario < b.Scenario {
		return -1
	}
	return 1
}
