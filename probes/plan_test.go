package probes

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// planHost is a constructed host with one RoCE port.
func planHost() *facts.Snapshot {
	port := facts.Port{Number: 1, State: facts.Some(facts.StateActive), LinkLayer: facts.Some(facts.Ethernet), Netdev: facts.Some("eth0"),
		Rate: facts.Some(facts.BitsPerSecond(100e9)), Choice: facts.Some(facts.GIDChoice{Perftest: facts.Some(3)}),
		GIDs: []facts.GID{
			{Index: 2, Value: "0000:0000:0000:0000:0000:ffff:0a00:0001", Type: facts.Some(facts.GIDTypeRoCEv1), Netdev: facts.Some("eth0")},
			{Index: 3, Value: "0000:0000:0000:0000:0000:ffff:0a00:0001", Type: facts.Some(facts.GIDTypeRoCEv2), Netdev: facts.Some("eth0")}}}
	return &facts.Snapshot{
		Devices: []facts.Device{{Name: "mlx5_0", Protocol: facts.Some("roce"), NodeType: facts.Some("CA"), Uverbs: facts.Some("uverbs0"),
			NUMANode: facts.Some(1), Ports: []facts.Port{port}}},
		Netdevs:  []facts.Netdev{{Name: "eth0", Addresses: []facts.Address{{IP: "10.0.0.1", PrefixLen: 24, Scope: "global"}}}},
		CPU:      facts.CPU{Nodes: []facts.NUMANode{{ID: 0, CPUs: "0-3"}, {ID: 1, CPUs: "4-6,9"}}},
		Memory:   facts.Memory{Available: facts.Some(uint64(64 << 30))},
		Interval: time.Second,
	}
}

func one(t *testing.T, s *facts.Snapshot, ask Ask) Planned {
	t.Helper()
	ps := Plan(s, ask)
	if len(ps) != 1 {
		t.Fatalf("%d ports planned, want 1", len(ps))
	}
	return ps[0]
}

func TestPlanTakesTheHostsChoice(t *testing.T) {
	p := one(t, planHost(), Ask{})
	l := p.Params
	if l.Transport != "RoCE v2" || l.GIDIndex != 3 || l.Address != "10.0.0.1" || l.MRMax != 1<<30 || !l.Refusals || l.Messages != 0 {
		t.Errorf("planned %+v", l)
	}
	if p.Skip != "" || p.Busy != "" || !slices.Equal(p.CPUs, []int{4, 5, 6, 9}) {
		t.Errorf("planned %+v", p)
	}
	two, tc := 2, 106
	if l := one(t, planHost(), Ask{GIDIndex: &two, TClass: &tc, MRMax: 1 << 20}).Params; l.Transport != "RoCE v1" || l.GIDIndex != 2 || l.TClass != 106 || l.MRMax != 1<<20 {
		t.Errorf("as asked: %+v", l)
	}
	if ps := Plan(planHost(), Ask{Device: "mlx5_1"}); len(ps) != 0 {
		t.Errorf("a device that is not here: %+v", ps)
	}
}

func TestPlanSparesWhatOthersUse(t *testing.T) {
	for name, change := range map[string]func(*facts.Snapshot){
		"a process has it open": func(s *facts.Snapshot) {
			s.Processes = []facts.Process{{PID: 4711, Comm: "python", Uverbs: []string{"uverbs0"}}}
		},
		"it moves 2 % of its rate": func(s *facts.Snapshot) {
			s.Devices[0].Ports[0].Counters = map[string]facts.Counter{
				"port_xmit_data": {First: facts.Some(uint64(0)), Last: facts.Some(uint64(250e6))}}
		},
	} {
		s := planHost()
		change(s)
		p := one(t, s, Ask{})
		if p.Busy == "" || p.Params.Refusals || p.Params.Messages != 100 || p.Skip != "" {
			t.Errorf("%s: %+v", name, p)
		}
		if p := one(t, s, Ask{BusyOK: true}); !p.Params.Refusals || p.Params.Messages != 0 {
			t.Errorf("%s, --busy-ok: %+v", name, p)
		}
	}
}

func TestPlanWantsSomePortsNamed(t *testing.T) {
	for name, change := range map[string]func(*facts.Snapshot){
		"default route": func(s *facts.Snapshot) {
			s.Routes = []facts.Route{{Family: "ipv4", Dst: "default", Netdev: "eth0"}}
		},
		"storage": func(s *facts.Snapshot) {
			s.Modules = []facts.Module{{Name: "nvme_rdma"}}
			s.Devices[0].Resources = map[string]facts.Usage{"cm_id": {Current: 2}}
		},
	} {
		s := planHost()
		change(s)
		if p := one(t, s, Ask{}); !strings.Contains(p.Skip, name) {
			t.Errorf("%s: %+v", name, p)
		}
		if p := one(t, s, Ask{Device: "mlx5_0"}); p.Skip != "" {
			t.Errorf("%s, named: %+v", name, p)
		}
	}
	s := planHost()
	s.Modules = []facts.Module{{Name: "nvme_rdma"}} // Loaded, and it has no connection.
	if p := one(t, s, Ask{}); p.Skip != "" {
		t.Errorf("a module alone: %+v", p)
	}
}

func TestPlanKnowsTransports(t *testing.T) {
	for want, change := range map[string]func(*facts.Device){
		"iWARP": func(d *facts.Device) { d.Protocol = facts.Some("iw") },
		"":      func(d *facts.Device) { d.Provider, d.Protocol = facts.Some("efa"), facts.Some("ib") },
		"InfiniBand": func(d *facts.Device) {
			d.Protocol, d.Ports[0].LinkLayer = facts.Some("ib"), facts.Some(facts.InfiniBand)
		},
	} {
		s := planHost()
		change(&s.Devices[0])
		p := one(t, s, Ask{Device: "mlx5_0"})
		if p.Params.Transport != want || (want == "") != (p.Skip != "") {
			t.Errorf("%q: %+v", want, p)
		}
	}
}

func TestMRCap(t *testing.T) {
	for _, tc := range []struct {
		m    facts.Memory
		want uint64
	}{
		{facts.Memory{}, 1 << 30},
		{facts.Memory{Available: facts.Some(uint64(1 << 30))}, 1 << 30 / 20},
		{facts.Memory{Available: facts.Some(uint64(1 << 40)), CgroupMax: facts.Some(uint64(100 << 20)), CgroupUsed: facts.Some(uint64(60 << 20))}, 20 << 20},
		{facts.Memory{CgroupMax: facts.Some(uint64(10)), CgroupUsed: facts.Some(uint64(60 << 20))}, 0},
	} {
		if got := MRCap(tc.m); got != tc.want {
			t.Errorf("%+v: %d, want %d", tc.m, got, tc.want)
		}
	}
}

func TestPlannedIsSaid(t *testing.T) {
	s := planHost()
	l := one(t, s, Ask{}).Ladder("--plan")
	var text strings.Builder
	for _, part := range l.Planned {
		text.WriteString(part.What + "|" + part.Load + "\n")
	}
	for _, want := range []string{"up to 1024 MiB", "wrong-rkey", "no-receive", "error counters", "kernel log"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the plan does not say %q:\n%s", want, text.String())
		}
	}
	if l.End.Outcome != facts.NotRun || l.Path.SGIDIndex != facts.Some(3) {
		t.Errorf("ladder %+v", l)
	}
}

func TestCPUList(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "0": {0}, "0-2,5": {0, 1, 2, 5}, "x,1,3-": {1}, "0-99999999": nil, "-1": nil} {
		if got := cpuList(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzCPUList(f *testing.F) {
	for _, s := range []string{"0-3,8", "", "0-99999999", "-", ",,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range cpuList(text) {
			if n < 0 || n >= maxCPU {
				t.Errorf("%q has processor %d", text, n)
			}
		}
	})
}
