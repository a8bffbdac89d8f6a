package flight

import (
	"context"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A Quiet host is asked again and again, and so leaves out what costs the
// device something each time: a module's EEPROM is read over a slow bus that
// its firmware uses too.
type Quiet struct {
	Host hostio.Host
	// Once lets the first sample read it, and later ones have that answer.
	Once bool
	kept map[string]hostio.Result
}

// Do implements hostio.Host.
func (q *Quiet) Do(ctx context.Context, ops []hostio.Op) []hostio.Result {
	results := make([]hostio.Result, len(ops))
	var ask []hostio.Op
	var at []int
	for i, op := range ops {
		switch kept, had := q.kept[op.Key()]; {
		case !hostio.ReadsModule(op) || q.Once && !had:
			ask, at = append(ask, op), append(at, i)
		case q.Once:
			results[i] = kept
		default:
			results[i] = hostio.Result{NotInForm: true}
		}
	}
	for i, res := range q.Host.Do(ctx, ask) {
		results[at[i]] = res
		if op := ask[i]; hostio.ReadsModule(op) && !res.TimedOut {
			if q.kept == nil {
				q.kept = map[string]hostio.Result{}
			}
			q.kept[op.Key()] = res
		}
	}
	return results
}
