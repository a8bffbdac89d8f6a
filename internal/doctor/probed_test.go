package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

func ended(outcomes ...facts.Outcome) *facts.Snapshot {
	s := &facts.Snapshot{}
	for _, o := range outcomes {
		s.Ladders = append(s.Ladders, facts.Ladder{Local: "mlx5_0/1", End: facts.ProbeEnd{Outcome: o, Detail: "libibverbs is not installed"}})
	}
	return s
}

func TestARunThatProvesNothing(t *testing.T) {
	for _, tc := range []struct {
		s    *facts.Snapshot
		was  report.Summary
		want int
	}{
		{ended(), report.Summary{Status: report.StatusPass}, report.ExitHealthy},
		{ended(facts.Unavailable, facts.Unavailable), report.Summary{Status: report.StatusPass}, report.ExitUnknown},
		{ended(facts.Unavailable, facts.Completed), report.Summary{Status: report.StatusPass}, report.ExitHealthy},
		{ended(facts.NotRun), report.Summary{Status: report.StatusPass}, report.ExitHealthy},
		{ended(facts.Unavailable), report.Summary{Status: report.StatusFail, ExitCode: report.ExitFailures}, report.ExitFailures},
		{ended(facts.Unavailable), report.Summary{Status: report.StatusWarn}, report.ExitHealthy}, // --fail-on fail
	} {
		sum := tc.was
		if proveNothing(tc.s, &sum); sum.ExitCode != tc.want {
			t.Errorf("%+v: exit code %d, want %d", tc.s.Ladders, sum.ExitCode, tc.want)
		}
		if sum.ExitCode == report.ExitUnknown && (sum.Status != report.StatusUnknown || !strings.Contains(sum.AdviceReason, "not installed")) {
			t.Errorf("summary %+v", sum)
		}
	}
}

// What probes tell is judged and told; the ports that they could not look at
// are gaps; a probe that was cut off ends the run as a timeout.
func TestProbesAreToldAndJudged(t *testing.T) {
	var kinds []string
	s := ended(facts.Unavailable, facts.Stopped)
	s.Measured = []facts.Measurement{{Probe: "latency", Local: "mlx5_0/1"}}
	lookedAt(s)
	sum := Judge(context.Background(), s, nil, Options{Timeout: time.Second}, func(m report.Message) {
		switch {
		case m.Ladder != nil:
			kinds = append(kinds, "ladder "+string(m.Ladder.End.Outcome))
		case m.Measurement != nil:
			kinds = append(kinds, "measurement")
		case m.Gap != nil:
			kinds = append(kinds, "gap "+string(m.Gap.Source)+" "+m.Gap.What)
		case m.Error != nil:
			kinds = append(kinds, "error "+string(m.Error.Kind))
		}
	})
	want := "gap probe mlx5_0/1, ladder unavailable, ladder stopped, measurement, error timeout"
	if got := strings.Join(kinds, ", "); got != want || sum.ExitCode != report.ExitUnknown {
		t.Errorf("told %s, exit code %d; want %s", got, sum.ExitCode, want)
	}
}
