package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// host is a constructed one: its ports are written "mlx5_0 eth0 9000", with an
// MTU of 0 for one that was not read, and "ib" for InfiniBand.
func host(name string, ports ...string) Host {
	s := &facts.Snapshot{Schema: facts.SchemaVersion, Origin: facts.Recording, Host: facts.Host{Hostname: name}}
	for _, p := range ports {
		var device, netdev string
		var mtu int
		if _, err := fmt.Sscan(p, &device, &netdev, &mtu); err != nil {
			panic(err)
		}
		port := facts.Port{Number: 1, LinkLayer: facts.Some(facts.Ethernet), Netdev: facts.Some(netdev)}
		if netdev == "ib" {
			port = facts.Port{Number: 1, LinkLayer: facts.Some(facts.InfiniBand)}
		}
		n := facts.Netdev{Name: netdev}
		if mtu > 0 {
			n.MTU = facts.Some(mtu)
		}
		s.Devices = append(s.Devices, facts.Device{Name: device, Ports: []facts.Port{port}})
		s.Netdevs = append(s.Netdevs, n)
	}
	return Host{Snapshot: s}
}

func TestMTUAgrees(t *testing.T) {
	for _, tc := range []struct {
		name     string
		hosts    []Host
		status   checks.Status
		examined int
		subjects []string
	}{
		{"the same", []Host{host("a", "m0 e0 9000"), host("b", "m0 e0 9000")}, checks.Passed, 1, nil},
		{"two differ", []Host{host("a", "m0 e0 9000"), host("b", "m0 e0 1500")}, checks.Failed, 1, []string{"b m0/1 -> a m0/1"}},
		{"in the other order", []Host{host("b", "m0 e0 1500"), host("a", "m0 e0 9000")}, checks.Failed, 1, []string{"b m0/1 -> a m0/1"}},
		{"the same path MTU", []Host{host("a", "m0 e0 9000"), host("b", "m0 e0 4200")}, checks.Warned, 1, []string{"b m0/1 -> a m0/1"}},
		{"the odd one out is the larger", []Host{host("a", "m0 e0 1500"), host("b", "m0 e0 1500"), host("c", "m0 e0 9000")},
			checks.Failed, 1, []string{"c m0/1 -> a m0/1"}},
		{"two ports, one differs", []Host{host("a", "m0 e0 9000", "m1 e1 9000"), host("b", "m0 e0 9000", "m1 e1 1500")},
			checks.Failed, 2, []string{"b m1/1 -> a m1/1"}},
		{"a port that only one has", []Host{host("a", "m0 e0 9000", "m1 e1 1500"), host("b", "m0 e0 9000")}, checks.Passed, 1, nil},
		{"other names, by order", []Host{host("a", "rxe0 e0 9000"), host("b", "rocep1 e7 1500")}, checks.Failed, 1,
			[]string{"b rocep1/1 -> a rxe0/1"}},
		{"not read", []Host{host("a", "m0 e0 9000"), host("b", "m0 e0 0")}, checks.Unknown, 0, nil},
		{"one of three not read", []Host{host("a", "m0 e0 9000"), host("b", "m0 e0 0"), host("c", "m0 e0 9000")}, checks.Passed, 1, nil},
		{"InfiniBand has no netdev MTU", []Host{host("a", "m0 ib 0"), host("b", "m0 ib 0")}, checks.Skipped, 0, nil},
		{"no ports", []Host{host("a"), host("b", "m0 e0 9000")}, checks.Skipped, 0, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := mtuAgrees(slots(named(tc.hosts)))
			var subjects []string
			for _, f := range r.Findings {
				subjects = append(subjects, f.Subject)
				if _, ok := knowledge.Lookup(f.Code); !ok {
					t.Errorf("code %q has no page", f.Code)
				}
				if f.Where.Host == "" || len(f.Evidence) != 2 {
					t.Errorf("finding %+v, want its host and two pieces of evidence", f)
				}
			}
			if r.Status != tc.status || r.Examined != tc.examined || !slices.Equal(subjects, tc.subjects) {
				t.Errorf("%s, %d examined, %q; want %s, %d, %q", r.Status, r.Examined, subjects, tc.status, tc.examined, tc.subjects)
			}
			if (r.Status == checks.Unknown || r.Status == checks.Skipped) && r.Reason == "" {
				t.Error("no reason")
			}
		})
	}
}

func TestNamed(t *testing.T) {
	a := host("a")
	b := host("")
	b.Name = "b.tar.gz"
	var got []string
	for _, h := range named([]Host{a, a, b, host("")}) {
		got = append(got, h.Name)
	}
	if want := []string{"a", "a#2", "b.tar.gz", "host"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRun(t *testing.T) {
	a, b := host("a", "m0 e0 9000"), host("b", "m0 e0 1500")
	a.Snapshot.Gaps = []facts.Gap{{Source: facts.Links, What: "x", Kind: facts.Denied}, {Source: facts.KernelLog, What: "y", Kind: facts.Denied}}
	var f report.Fold
	if err := Run(t.Context(), []Host{a, b}, Options{FailOn: checks.Warn, Version: "1"}, &f); err != nil {
		t.Fatal(err)
	}
	d := f.Document()
	if d.Summary.ExitCode != report.ExitFailures || d.Summary.Advice != report.Drain || d.Origin != "recording" {
		t.Errorf("summary %+v of a %s", d.Summary, d.Origin)
	}
	if len(d.Hosts) != 2 || d.Hosts[0].Summary != "m0/1 e0 MTU 9000" {
		t.Errorf("hosts %+v", d.Hosts)
	}
	if len(d.Diagnoses) != 1 || !strings.Contains(d.Diagnoses[0].Fix[0].Command, "e0 mtu 9000") {
		t.Errorf("diagnoses %+v, want the command for e0", d.Diagnoses)
	}
	if len(d.Gaps) != 1 || d.Gaps[0].What != "a: x" {
		t.Errorf("gaps %+v, want the one that matters here", d.Gaps)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f = report.Fold{}
	if err := Run(ctx, []Host{a, b}, Options{}, &f); err != nil {
		t.Fatal(err)
	}
	if got := f.Document().Summary.ExitCode; got != report.ExitInterrupted {
		t.Errorf("exit %d, want %d", got, report.ExitInterrupted)
	}
}
