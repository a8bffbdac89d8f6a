package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A ladder that came to no step is a list of none in a snapshot, too, and in
// that of a peer; what is folded stays as it was.
func TestSnapshotHasNoNullLists(t *testing.T) {
	s := facts.Snapshot{Ladders: []facts.Ladder{{}}, Measured: []facts.Measurement{{}},
		Peer: &facts.Snapshot{Ladders: []facts.Ladder{{}}, Measured: []facts.Measurement{{}}}}
	text, err := json.Marshal(wholeSnapshot(s))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"steps", "samples", "counters_moved", "sources"} {
		if strings.Contains(string(text), `"`+list+`":null`) {
			t.Errorf("%s is null: %s", list, text)
		}
	}
	if s.Ladders[0].Steps != nil || s.Peer.Measured[0].Samples != nil {
		t.Error("the snapshot that was given changed")
	}
}
