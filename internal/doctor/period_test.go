package doctor

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// hour is a constructed hour of a host with one RoCE port, a snapshot a minute:
// its netdev is switched off at minute 20 and on again at minute 23, the MTU is
// changed at minute 40, and discards grow from minute 50 to 52.
func hour(t *testing.T) []*facts.Snapshot {
	t.Helper()
	begin := time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC)
	var all []*facts.Snapshot
	for i := range 60 {
		s := new(facts.Snapshot)
		text := `{"schema":"1.0","sources":["sysfs-rdma","link","kernel-log","ethtool"],"devices":[{"name":"mlx5_0","protocol":"roce","provider":"mlx5",
			"ports":[{"number":1,"state":"ACTIVE","state_last":"ACTIVE","link_layer":"Ethernet","netdev":"eth2",
			"hw_counters":{"out_of_buffer":{"first":0,"last":0}}}]}],
			"netdevs":[{"name":"eth2","index":2,"admin_up":true,"operstate":"up","carrier":true,"mtu_bytes":9000,
			"ethtool":{"rx_prio3_discards":{"first":7,"last":7}},
			"addresses":[{"ip":"192.0.2.1","prefix_len":24,"scope":"global"}]}]}`
		if err := json.Unmarshal([]byte(text), s); err != nil {
			t.Fatal(err)
		}
		s.Taken, s.Interval = begin.Add(time.Duration(i)*time.Minute), time.Minute
		s.Host.Uptime = facts.Some(100*time.Hour + time.Duration(i)*time.Minute)
		port, n := &s.Devices[0].Ports[0], &s.Netdevs[0]
		if i >= 20 && i < 23 {
			n.AdminUp, n.OperState, port.State = facts.Some(false), facts.Some("down"), facts.Some(facts.StateDown)
		}
		if i >= 19 && i < 22 {
			port.StateLast = facts.Some(facts.StateDown)
		}
		if i >= 40 {
			n.MTU = facts.Some(1500)
		}
		if i >= 50 && i < 53 {
			n.Ethtool = map[string]facts.Counter{"rx_prio3_discards": {First: facts.Some(uint64(7 + i)), Last: facts.Some(uint64(8 + i))}}
		}
		for j, at := range []time.Duration{99 * time.Hour, 100*time.Hour + 20*time.Minute} {
			if at <= s.Host.Uptime.Or(0) {
				s.Log = append(s.Log, facts.LogRecord{SinceBoot: at, Level: 4, Text: []string{"eth2: Link up", "eth2: Link down"}[j]})
			}
		}
		all = append(all, s)
	}
	return all
}

func period(t *testing.T, opt Options, live func(report.Message), snaps []*facts.Snapshot) (report.Summary, *report.Document) {
	t.Helper()
	p, err := NewPeriod(opt, live)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range snaps {
		p.Add(s)
	}
	var f report.Fold
	sum := p.Close(t.Context(), nil, func(m report.Message) {
		if err := m.Send(&f); err != nil {
			t.Fatal(err)
		}
	})
	if err := f.Summary(&sum); err != nil {
		t.Fatal(err)
	}
	return sum, f.Document()
}

// The fault of the middle is the answer, as it was then, though the host is well
// before and after.
func TestPeriodJudgesTheMomentOfTheFault(t *testing.T) {
	snaps := hour(t)
	if sum, _ := period(t, Options{FailOn: checks.Warn}, nil, snaps[:19]); sum.Fail+sum.Warn != 0 {
		t.Fatalf("%d failures and %d warnings before the fault", sum.Fail, sum.Warn)
	}
	sum, d := period(t, Options{FailOn: checks.Warn}, nil, snaps)
	if sum.ExitCode != report.ExitFailures || len(d.Diagnoses) == 0 || d.Diagnoses[0].Code != "port-admin-down" {
		t.Fatalf("exit %d, diagnoses %v", sum.ExitCode, d.Diagnoses)
	}
	seen := d.Diagnoses[0].Evidence[len(d.Diagnoses[0].Evidence)-1]
	if want := "2026-11-29 02:20:00 UTC to 2026-11-29 02:23:00 UTC, in 3 of 60 intervals"; seen.Value != want {
		t.Errorf("seen %q, want %q", seen.Value, want)
	}
	if sum.Pass == 0 {
		t.Error("no check passed: what could be looked at once was looked at")
	}
	var got []string
	for _, e := range d.Timeline {
		got = append(got, e.Time.Format("15:04 ")+string(e.Kind)+" "+e.Subject+": "+e.Text)
	}
	for _, want := range []string{
		"02:19 link mlx5_0/1: state ACTIVE -> DOWN",
		"02:22 link mlx5_0/1: state DOWN -> ACTIVE",
		"02:19 link eth2: operstate: up -> down",
		"02:20 log kernel: eth2: Link down",
		"02:20 finding mlx5_0/1: netdev eth2 is administratively down (in 3 intervals)",
		"02:39 fact eth2: mtu_bytes: 9000 -> 1500",
		"02:50 counter mlx5_0/1: eth2 rx_prio3_discards +3",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("the timeline lacks %q", want)
		}
	}
	if slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "Link up") }) {
		t.Error("the timeline has a line from before the period")
	}
	if !slices.IsSortedFunc(d.Timeline, func(a, b report.Event) int { return a.Time.Compare(b.Time) }) {
		t.Errorf("the timeline is not in the order of time: %q", got)
	}
	if t.Failed() {
		t.Logf("%s", strings.Join(got, "\n"))
	}
}

// Someone who listens hears of a finding once, when it begins, and the document
// has each event once.
func TestPeriodLive(t *testing.T) {
	var f report.Fold
	begun := 0
	live := func(m report.Message) {
		if m.Event.Code == "port-admin-down" {
			begun++
			if !m.Event.Until.IsZero() {
				t.Errorf("%+v has ended when it begins", m.Event)
			}
		}
		_ = f.Event(m.Event)
	}
	_, rest := period(t, Options{FailOn: checks.Warn}, live, hour(t))
	if begun != 1 {
		t.Errorf("told %d times that the finding began, want once", begun)
	}
	_, whole := period(t, Options{FailOn: checks.Warn}, nil, hour(t))
	if got, want := len(f.Document().Timeline)+len(rest.Timeline), len(whole.Timeline); got != want {
		t.Errorf("%d events, want %d", got, want)
	}
}

// A host that makes events without end does not fill memory.
func TestTimelineIsBounded(t *testing.T) {
	p, err := NewPeriod(Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 * mostEvents {
		p.Note(time.Unix(1, 0), time.Time{}, "event")
	}
	n, last := 0, ""
	p.Close(context.Background(), nil, func(m report.Message) {
		if m.Event != nil {
			n, last = n+1, m.Event.Text
		}
	})
	if n != mostEvents+1 || last != "5000 further events are left out" {
		t.Errorf("%d events, the last %q", n, last)
	}
}

func TestPeriodSelects(t *testing.T) {
	_, d := period(t, Options{Only: []string{"port-admin-down"}, Device: "mlx5_0", FailOn: checks.Fail}, nil, hour(t))
	if len(d.Diagnoses) != 1 || d.Summary.ExitCode != report.ExitFailures {
		t.Errorf("%d diagnoses, exit %d", len(d.Diagnoses), d.Summary.ExitCode)
	}
	sum, d := period(t, Options{Device: "mlx5_9", FailOn: checks.Warn}, nil, hour(t))
	if sum.ExitCode != report.ExitUsage || d.Error == nil {
		t.Errorf("a device that is not there: exit %d, error %v", sum.ExitCode, d.Error)
	}
	if _, err := NewPeriod(Options{Only: []string{"nothing"}}, nil); err == nil {
		t.Error("an unknown name was taken")
	}
}

func TestRates(t *testing.T) {
	s := hour(t)[50]
	s.Interval = 2 * time.Second
	s.Devices[0].Ports[0].Counters = map[string]facts.Counter{"port_xmit_data": {First: facts.Some(uint64(1000)), Last: facts.Some(uint64(251000))}}
	s.Devices[0].Ports[0].HWCounters["not_known_here"] = facts.Counter{First: facts.Some(uint64(1)), Last: facts.Some(uint64(5))}
	r := Rates(s, Options{})
	if len(r.Ports) != 1 || r.IntervalSeconds != 2 {
		t.Fatalf("%+v", r)
	}
	p := r.Ports[0]
	if p.TXBitsPerSecond == nil || *p.TXBitsPerSecond != 1e6 || p.RXBitsPerSecond != nil {
		t.Errorf("tx %v, rx %v: want 1 Mb/s and none", p.TXBitsPerSecond, p.RXBitsPerSecond)
	}
	want := []report.CounterRate{{Name: "rx_prio3_discards", Place: "ethtool", Class: "congestion-rx", Delta: 1, PerSecond: 0.5},
		{Name: "not_known_here", Place: "hw_counters", Delta: 4, PerSecond: 2}}
	if !slices.Equal(p.Counters, want) {
		t.Errorf("counters %+v, want %+v", p.Counters, want)
	}
	if text := report.RatesText(r); !strings.Contains(text, "1 Mb/s") || !strings.Contains(text, "0.5/s  ethtool, congestion-rx") {
		t.Errorf("text:\n%s", text)
	}
}
