package doctor

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/baseline"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// A copied tree holds less than the host told, and a baseline more or less than
// what is judged by it. Neither is a change.
func TestTreeAndBaseline(t *testing.T) {
	for _, name := range healthyNames(t) {
		dir := t.TempDir()
		if err := layered(t, name, nil).Archive().WriteTree(dir); err != nil {
			t.Fatal(err)
		}
		tree, err := hostio.OpenTree(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		var fold report.Fold
		if _, err := Examine(t.Context(), Options{Host: tree, Origin: facts.Tree, KeepSnapshot: true}, &fold); err != nil {
			t.Fatal(err)
		}
		whole, copied := snapshotOf(t, name), fold.Document().Snapshot
		for what, r := range map[string]func() []string{
			"the tree, by the host": func() []string { return changed(whole, copied) },
			"the host, by the tree": func() []string { return changed(copied, whole) },
		} {
			if found := r(); len(found) > 0 {
				t.Errorf("%s: %s: %d changes: %q", name, what, len(found), found[:min(len(found), 8)])
			}
		}
	}
}

// changed are the changes between two snapshots of a host that did not change.
func changed(before, now *facts.Snapshot) (found []string) {
	for _, f := range baseline.Changes(before, now).Findings {
		found = append(found, f.Message)
	}
	return found
}
