package doctor

import (
	"context"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// mute answers nothing: every op is absent.
type mute struct{ ops int }

func (m *mute) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	m.ops += len(ops)
	rs := make([]hostio.Result, len(ops))
	for i := range rs {
		rs[i].Errno = 2
	}
	return rs
}

func examine(t *testing.T, ctx context.Context, opt Options) (report.Summary, *report.Document) {
	t.Helper()
	var fold report.Fold
	sum, err := Examine(ctx, opt, &fold)
	if err != nil {
		t.Fatal(err)
	}
	return sum, fold.Document()
}

// A host of which nothing could be read is never healthy.
func TestNothingReadIsNotHealthy(t *testing.T) {
	sum, doc := examine(t, t.Context(), Options{Host: &mute{}, Origin: facts.Live})
	if sum.ExitCode != report.ExitUnknown || sum.Pass != 0 {
		t.Errorf("exit %d with %d passes, want %d and none", sum.ExitCode, sum.Pass, report.ExitUnknown)
	}
	if len(doc.Gaps) == 0 {
		t.Error("no gap was reported")
	}
}

// An interrupted run still reports every check, and says that it was
// interrupted.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sum, doc := examine(t, ctx, Options{Host: &mute{}, Origin: facts.Live, Interval: time.Hour})
	if sum.ExitCode != report.ExitInterrupted {
		t.Errorf("exit %d, want %d", sum.ExitCode, report.ExitInterrupted)
	}
	if doc.Error == nil || doc.Error.Kind != report.InterruptedError {
		t.Errorf("error %+v, want interrupted", doc.Error)
	}
	cs, _ := Select(nil, nil)
	if len(doc.Checks) != len(cs) {
		t.Errorf("%d checks reported, want %d", len(doc.Checks), len(cs))
	}
}

// The run's own deadline leaves unknown checks and the error timeout.
func TestTimedOut(t *testing.T) {
	sum, doc := examine(t, t.Context(), Options{Host: &mute{}, Origin: facts.Live, Timeout: time.Nanosecond})
	if sum.ExitCode != report.ExitUnknown {
		t.Errorf("exit %d, want %d", sum.ExitCode, report.ExitUnknown)
	}
	if doc.Error == nil || doc.Error.Kind != report.TimeoutError {
		t.Errorf("error %+v, want timeout", doc.Error)
	}
}
