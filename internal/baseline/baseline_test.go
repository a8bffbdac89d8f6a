package baseline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/goodhost"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// line is a finding as the table writes it.
func line(f checks.Finding) string { return fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Subject) }

func TestChanges(t *testing.T) {
	port := func(s *facts.Snapshot) *facts.Port { return &s.Devices[0].Ports[0] }
	pfc := func(enabled uint8) func(*facts.Snapshot) {
		return func(s *facts.Snapshot) { goodhost.SetPFC(s, enabled) }
	}
	for _, tc := range []struct {
		name   string
		change func(*facts.Snapshot)
		status checks.Status
		want   []string
	}{
		{"nothing", func(*facts.Snapshot) {}, checks.Passed, nil},
		{"counters and times", func(s *facts.Snapshot) {
			port(s).Counters["port_xmit_data"] = facts.Counter{First: facts.Some(uint64(77))}
			s.Memory.Available, s.Self.PID, s.Devices[0].Index, s.Netdevs[0].Index = facts.Some(uint64(1)), 9, facts.Some(7), 12
			s.Devices[0].Resources["qp"] = facts.Usage{Current: 900, Max: facts.Some(uint64(131072))}
		}, checks.Passed, nil},
		{"a container's netdev", func(s *facts.Snapshot) { s.Netdevs = s.Netdevs[:2] }, checks.Passed, nil},
		{"a device is gone", func(s *facts.Snapshot) { s.Devices = s.Devices[:1] }, checks.Failed, []string{"fail device-missing mlx5_1"}},
		{"a device is new", func(s *facts.Snapshot) {
			s.Devices = append(s.Devices, facts.Device{Name: "mlx5_2"})
		}, checks.Passed, []string{"info changed-since-baseline mlx5_2"}},
		{"renamed", func(s *facts.Snapshot) { s.Devices[0].Name = "rocep59s0" }, checks.Passed,
			[]string{"info changed-since-baseline rocep59s0", "info changed-since-baseline rocep59s0/1"}},
		{"firmware", func(s *facts.Snapshot) { s.Devices[0].FirmwareVersion = facts.Some("28.40.1000") }, checks.Warned,
			[]string{"warn changed-since-baseline mlx5_0"}},
		{"MTU that costs the path MTU", func(s *facts.Snapshot) { s.Netdevs[0].MTU = facts.Some(1500) }, checks.Warned,
			[]string{"warn roce-mtu-low mlx5_0/1"}},
		{"MTU that does not", func(s *facts.Snapshot) { s.Netdevs[0].MTU = facts.Some(4200) }, checks.Warned,
			[]string{"warn changed-since-baseline eth2"}},
		{"slower", func(s *facts.Snapshot) { s.Netdevs[0].Speed = facts.Some(facts.BitsPerSecond(100e9)) }, checks.Warned,
			[]string{"warn link-speed-degraded mlx5_0/1"}},
		{"faster", func(s *facts.Snapshot) { s.Netdevs[0].Speed = facts.Some(facts.BitsPerSecond(800e9)) }, checks.Warned,
			[]string{"warn changed-since-baseline eth2"}},
		{"PFC off", pfc(0), checks.Warned, []string{"warn pfc-off mlx5_0/1"}},
		{"PFC elsewhere", pfc(16), checks.Warned, []string{"warn changed-since-baseline eth2"}},
		{"DSCP map", func(s *facts.Snapshot) {
			goodhost.SetDCB(s, func(d *facts.DCB) { d.Apps = []facts.App{{Selector: 5, Protocol: 26, Priority: 4}} })
		}, checks.Warned,
			[]string{"warn changed-since-baseline eth2"}},
		{"a whole DSCP map", func(s *facts.Snapshot) {
			goodhost.SetDCB(s, func(d *facts.DCB) {
				for i := range 64 {
					d.Apps = append(d.Apps, facts.App{Selector: 5, Protocol: 64 + i, Priority: 4})
				}
			})
		}, checks.Warned, []string{"warn changed-since-baseline eth2"}},
		{"trust", func(s *facts.Snapshot) { goodhost.SetDCB(s, func(d *facts.DCB) { d.Trust = []string{"pcp"} }) }, checks.Warned,
			[]string{"warn changed-since-baseline eth2"}},
		{"ECN off", func(s *facts.Snapshot) { s.Netdevs[0].ECN["roce_np/enable/3"] = 0 }, checks.Warned,
			[]string{"warn ecn-off mlx5_0/1"}},
		{"PCIe lanes", func(s *facts.Snapshot) { s.PCI[1].CurrentWidth = facts.Some(8) }, checks.Warned,
			[]string{"warn pcie-width-degraded 0000:5e:00.0"}},
		{"PCIe generation", func(s *facts.Snapshot) { s.PCI[1].CurrentSpeed = facts.Some(16.0) }, checks.Warned,
			[]string{"warn pcie-speed-degraded 0000:5e:00.0"}},
		{"FEC", func(s *facts.Snapshot) { s.Netdevs[0].FEC = facts.Some("BaseR") }, checks.Warned,
			[]string{"warn changed-since-baseline eth2"}},
		{"a partition", func(s *facts.Snapshot) { port(s).PKeys = nil }, checks.Warned, []string{"warn changed-since-baseline mlx5_0/1"}},
		{"an address", func(s *facts.Snapshot) { s.Netdevs[0].Addresses[0].IP = "10.1.0.99" }, checks.Passed,
			[]string{"info changed-since-baseline eth2", "info changed-since-baseline eth2"}},
		{"a route", func(s *facts.Snapshot) { s.Routes = nil }, checks.Passed,
			[]string{"info changed-since-baseline ipv4 254 10.1.0.0/24 eth2"}},
		{"a value not read now", func(s *facts.Snapshot) { s.Devices[0].FirmwareVersion = facts.Opt[string]{} }, checks.Unknown, nil},
		{"a source not read now", func(s *facts.Snapshot) {
			s.Sources = slices.DeleteFunc(s.Sources, func(src facts.Source) bool { return src == facts.PCISysfs })
			s.PCI = nil
		}, checks.Unknown, nil},
		{"a list that a gap hides", func(s *facts.Snapshot) {
			goodhost.SetDCB(s, func(d *facts.DCB) { d.Apps = nil })
			s.Gaps = []facts.Gap{{Source: facts.DCBNetlink, What: "route/dcb-ieee-get.eth2", Kind: facts.Denied, Detail: "EPERM"}}
		}, checks.Unknown, nil},
		{"nothing at all", func(s *facts.Snapshot) { *s = facts.Snapshot{} }, checks.Unknown, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			now := goodhost.RoCE(t)
			tc.change(now)
			r := Changes(goodhost.RoCE(t), now)
			var got []string
			for _, f := range r.Findings {
				got = append(got, line(f))
				if !slices.Contains(Codes, f.Code) {
					t.Errorf("%s is not among Codes", f.Code)
				}
				complete(t, f)
				if len(f.Evidence) != 2 || f.Evidence[0].Value == "" || f.Evidence[1].Value == "" || strings.Contains(f.Message, "  ") {
					t.Errorf("finding %+v, want a whole sentence and evidence of both times", f)
				}
			}
			if r.Status != tc.status || !slices.Equal(got, tc.want) {
				t.Errorf("%s %q, want %s %q", r.Status, got, tc.status, tc.want)
			}
			if r.Status == checks.Unknown && (r.Reason == "" || len(r.Unread) == 0) {
				t.Errorf("unknown for %q, unread %q", r.Reason, r.Unread)
			}
		})
	}
}

// complete wants a finding to carry what the checks give with its code.
func complete(t *testing.T, f checks.Finding) {
	t.Helper()
	always, sometimes, ok := checks.ParamsOf(f.Code)
	for _, name := range always {
		if f.Params[name] == "" {
			t.Errorf("%s lacks the parameter %s", f.Code, name)
		}
	}
	for name := range f.Params {
		if ok && !slices.Contains(always, name) && !slices.Contains(sometimes, name) {
			t.Errorf("%s has the parameter %s, which its check does not give", f.Code, name)
		}
	}
}

// What was not read when the baseline was recorded is no change.
func TestMoreIsReadNow(t *testing.T) {
	before := goodhost.RoCE(t)
	before.Sources = []facts.Source{facts.SysfsRDMA}
	before.Netdevs, before.PCI, before.Modules, before.CharDevs, before.Units, before.Routes = nil, nil, nil, nil, nil, nil
	before.Userland, before.Kernel, before.Memory, before.Self, before.Host = facts.Userland{}, facts.KernelModules{}, facts.Memory{}, facts.Process{}, facts.Host{}
	if r := Changes(before, goodhost.RoCE(t)); r.Status != checks.Passed || len(r.Findings) != 0 {
		t.Errorf("%s %+v, want a pass", r.Status, r.Findings)
	}
	if r := Changes(&facts.Snapshot{}, &facts.Snapshot{}); r.Status == checks.Passed {
		t.Error("two empty snapshots pass")
	}
}

// Every fact that stands still is compared: a field that is changed or lost is
// in the result, whichever it is.
func TestEveryFieldIsCompared(t *testing.T) {
	fields := 0
	for _, thing := range settings.Things(goodhost.RoCE(t)) {
		for field, value := range thing.Fields {
			fields++
			c := &comparison{before: goodhost.RoCE(t), now: goodhost.RoCE(t), result: &checks.Result{}, unread: map[string][]string{}}
			other := settings.Thing{Kind: thing.Kind, Name: thing.Name, Fields: map[string]string{field: value + "1"}}
			c.changed(pair{&settings.Thing{Kind: thing.Kind, Name: thing.Name, Fields: map[string]string{field: value}}, &other})
			if len(c.result.Findings) != 1 {
				t.Errorf("%s %s changed: %d findings, want 1", thing, field, len(c.result.Findings))
			}
			delete(other.Fields, field)
			c.result.Findings = nil
			c.changed(pair{&settings.Thing{Kind: thing.Kind, Name: thing.Name, Fields: map[string]string{field: value}}, &other})
			if len(c.result.Findings)+len(c.unread) != 1 {
				t.Errorf("%s %s lost: %d findings and %v unread, want one", thing, field, len(c.result.Findings), c.unread)
			}
		}
	}
	if fields < 80 {
		t.Errorf("%d fields, want the constructed host to have 80", fields)
	}
}

func TestWanted(t *testing.T) {
	now := goodhost.RoCE(t)
	now.Devices[0].Name = "rocep59s0"
	if got := Wanted(goodhost.RoCE(t), now); len(got) != 0 {
		t.Errorf("%q of a host that works as it did, want none", got)
	}
	now.Devices[0].Ports[0].GIDs = nil
	now.Devices = now.Devices[:1]
	if got, want := Wanted(goodhost.RoCE(t), now), []string{"mlx5_1", "rocep59s0/1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
