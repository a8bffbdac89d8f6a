package report

import (
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// TestMeasuredLine: figures stand in the units that people use.
func TestMeasuredLine(t *testing.T) {
	failed := "the peer fell silent"
	for _, c := range []struct {
		m    facts.Measurement
		want string
	}{
		{facts.Measurement{Probe: "bandwidth", Op: "write", SizeBytes: 65536, QPs: 4, Direction: "out", Unit: "bit/s", Bytes: 121e9, Time: 10 * time.Second},
			"bandwidth write 65536 B x 4 QPs, out: 96.8 Gb/s"},
		{facts.Measurement{Probe: "latency", Op: "read", SizeBytes: 2, QPs: 1, Unit: "ns", Mode: "event",
			Quantiles: &facts.Quantiles{Count: 9, Min: 1700, P50: 1850, P99: 2210, P999: 67_100_000, Max: 134_200_000}},
			"latency read 2 B, event: min 1.7 us, p50 1.85 us, p99 2.21 us, p99.9 67.1 ms, max 134 ms"},
		{facts.Measurement{Probe: "message-rate", Op: "write", SizeBytes: 8, QPs: 16, Unit: "messages/s", Samples: []float64{2.1e7}},
			"message-rate write 8 B x 16 QPs: 21 M messages/s"},
		{facts.Measurement{Probe: "ordering", SizeBytes: 4096, Iterations: 1000, Violations: facts.Some(uint64(0))},
			"ordering 4096 B: 0 violations in 1000 rounds"},
		{facts.Measurement{Probe: "bandwidth", Op: "send", SizeBytes: 65536, Error: &failed}, "bandwidth send 65536 B: the peer fell silent"},
		{facts.Measurement{Probe: "latency", SizeBytes: 2}, "latency 2 B: 0 samples"},
	} {
		if got := measured(&c.m); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestMovedText names what says something before plain traffic.
func TestMovedText(t *testing.T) {
	all := []facts.CounterMove{{Subject: "rxe0/1", Name: "sent_pkts", Delta: 10000}, {Subject: "rxe0/1", Name: "rcvd_seq_err", Delta: 90},
		{Host: "hostB", Subject: "rxe0/1", Name: "out_of_seq_request", Delta: 88}, {Subject: "eth2", Name: "a", Delta: 1}, {Subject: "eth2", Name: "b", Delta: 1}}
	want := "rxe0/1 rcvd_seq_err +90, hostB rxe0/1 out_of_seq_request +88, eth2 a +1, eth2 b +1, and 1 more"
	if got := movedText(all); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if all[0].Name != "sent_pkts" {
		t.Error("the measurement's own list was sorted")
	}
	if movedText(nil) != "" {
		t.Error("nothing moved says something")
	}
}

func TestLoadText(t *testing.T) {
	got := loadText([]facts.HostLoad{{Processors: 2, Elapsed: time.Second, Busy: time.Second},
		{Host: "hostB", Processors: 1, Elapsed: time.Second, Busy: 990 * time.Millisecond, Top: "stress (pid 812)", TopTime: 520 * time.Millisecond}, {Host: "hostC"}})
	if want := "here 50 % of 2 processors busy; hostB 99 % of 1 processors busy, stress (pid 812) 52 % of one"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestByEnds(t *testing.T) {
	g := byEnds([]facts.Measurement{{Local: "a"}, {Local: "b", Remote: "b"}, {Local: "a", Probe: "latency"}})
	if len(g) != 2 || len(g[0]) != 2 || g[0][1].Probe != "latency" || endNames(g[1][0]) != "b to itself" || endNames(g[0][0]) != "a" {
		t.Errorf("%v", g)
	}
}
