package peer

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// FuzzSaid is anything that a far end may send where JSON is expected, and
// anything that a near end may send as a task.
func FuzzSaid(f *testing.F) {
	f.Add([]byte(`{"begun":{"step":"rtr","limit_nanos":1}}`))
	f.Add([]byte(`{"End":{"outcome":"completed"},"Ladders":[{"probe":"pair"}],"Measurements":[{"samples":[1e308]}]}`))
	f.Add([]byte(`{"probe":"pair-ladder","limit_nanos":1000000000,"params":{}}`))
	f.Add([]byte(`{"schema":"1.0","devices":[{"name":"\u001b[2J"}]}`))
	f.Add([]byte("[[[[[[[[[["))
	f.Fuzz(func(t *testing.T, text []byte) {
		w := &farWork{}
		_ = w.told(text)
		if err := w.ended(text); err == nil && !known(w.result.End.Outcome) {
			t.Errorf("outcome %q", w.result.End.Outcome)
		}
		if task, err := parseTask(text); err == nil && (task.Probe == "" || task.Limit <= 0 || task.Limit > MaxTask) {
			t.Errorf("task %+v", task)
		}
		_ = unpack(text, &facts.Snapshot{})
	})
}
