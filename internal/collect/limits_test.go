package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestLimits(t *testing.T) {
	s := collected(t, constructed(t, "limits-slurm"), facts.ProcLimits)
	want(t, "self", s.Self, facts.Process{
		PID: 900, UID: facts.Some(1000), User: "alice",
		Limits: map[string]facts.Limit{"memlock": {Soft: 8 << 20, Hard: 8 << 20}, "nofile": {Soft: 1024, Hard: 524288}},
		VmPin:  facts.Some[uint64](0), VmLck: facts.Some[uint64](0), CapEff: facts.Some[uint64](0),
		Cgroup: "/user.slice/user-1000.slice/session-3.scope", Unit: "session-3.scope",
	})
	const main, dropin = "/etc/security/limits.conf", "/etc/security/limits.d/10-rdma.conf"
	want(t, "rules", s.Limits, []facts.LimitRule{
		{File: main, Line: 2, Domain: "*", Type: "soft", Item: "memlock", Value: "unlimited"},
		{File: main, Line: 3, Domain: "@hpc", Type: "-", Item: "nofile", Value: "65536"},
		{File: dropin, Line: 1, Domain: "root", Type: "hard", Item: "memlock", Value: "unlimited"},
		{File: dropin, Line: 2, Domain: "carol", Type: "-", Item: "memlock", Value: "unlimited"},
		{File: dropin, Line: 2, Domain: "carol", Type: "-", Item: "nofile", Value: "unlimited"},
	})
	want(t, "bad line", gap(t, s, dropin).Detail, `found "bad line", want DOMAIN TYPE ITEM VALUE`)
	if len(s.Gaps) != 1 {
		t.Errorf("gaps: %v", s.Gaps)
	}
}

func TestLimitsBad(t *testing.T) {
	s := collected(t, fixture.Host(fixture.Parse("")), facts.ProcLimits)
	for _, what := range []string{"limits", "/proc/self/limits", "/proc/self/status", "/proc/self/cgroup"} {
		gap(t, s, what)
	}
	want(t, "sources", s.Sources, []facts.Source{})
	h := constructed(t, "limits-slurm")
	h.Put("system:ids", "nobody")
	h.Put("/proc/self/limits", "Max locked memory  plenty plenty bytes\n")
	h.Put("/proc/self/status", "VmPin: many kB\n")
	h.Put("/etc/security/limits.conf", "errno: EACCES")
	h.Put("/etc/security/limits.d/", "errno: EACCES")
	s = collected(t, h, facts.ProcLimits)
	for _, what := range []string{"ids", "/proc/self/limits", "/proc/self/status", "/etc/security/limits.conf", "/etc/security/limits.d"} {
		gap(t, s, what)
	}
}

func TestParseLimits(t *testing.T) {
	checkParser(t, "parseLimits", parseLimits, []parsed[map[string]facts.Limit]{
		{text: "Max locked memory         unlimited            8388608              bytes     \n",
			want: map[string]facts.Limit{"memlock": {SoftUnlimited: true, Hard: 8388608}}},
		{text: "Max open files 0 0 files\n", want: map[string]facts.Limit{"nofile": {}}},
		{text: "Max locked memory", err: true},
		{text: "Max locked memory 1", err: true},
		{text: "Max locked memory -1 1 bytes", err: true},
		{text: "", err: true},
		{text: "Limit Soft Hard", err: true},
	})
	checkParser(t, "parseStatus", parseStatus, []parsed[procStatus]{
		{text: "Name:\ta b\nUid:\t1\t2\t3\t4\nVmPin:\t  4 kB\nVmLck:\t 0 kB\nCapEff:\t4000\n",
			want: procStatus{comm: "a b", uid: facts.Some(2), vmPin: facts.Some[uint64](4096), vmLck: facts.Some[uint64](0), capEff: facts.Some[uint64](0x4000)}},
		{text: "Name:\ta\nCpus_allowed_list:\t0-15,32\nMems_allowed_list:\t\n", want: procStatus{comm: "a", cpus: facts.Some("0-15,32")}},
		{text: "Name:\tkthreadd\n", want: procStatus{comm: "kthreadd"}},
		{text: "", err: true}, {text: "Uid:\t1\n", err: true}, {text: "Uid:\t1 x 1 1\n", err: true},
		{text: "Name:\tx\nCapEff:\tzz\n", err: true}, {text: "Name:\tx\nVmPin:\t5 MB\n", err: true},
		{text: "Name:\tx\nVmPin:\t18446744073709551615 kB\n", err: true},
	})
}

func TestCgroupAndUnit(t *testing.T) {
	tests := []struct{ text, cgroup, unit string }{
		{"0::/system.slice/slurmd.service\n", "/system.slice/slurmd.service", "slurmd.service"},
		{"0::/user.slice/user-1.slice/user@1.service/app.slice/x.service\n", "/user.slice/user-1.slice/user@1.service/app.slice/x.service", "user@1.service"},
		{"12:memory:/x\n1:name=systemd:/system.slice/docker.service\n0::/\n", "/system.slice/docker.service", "docker.service"},
		{"0::/\n", "/", ""},
		{"0::/a:b/c.scope\n", "/a:b/c.scope", "c.scope"},
		{"", "", ""},
		{"nonsense", "", ""},
	}
	for _, tt := range tests {
		var p facts.Process
		setCgroup(&p, tt.text)
		if p.Cgroup != tt.cgroup || p.Unit != tt.unit {
			t.Errorf("%q is %q, %q, want %q, %q", tt.text, p.Cgroup, p.Unit, tt.cgroup, tt.unit)
		}
	}
}

func FuzzLimits(f *testing.F) {
	f.Add("Max locked memory         8388608              8388608              bytes     \n")
	f.Add("* soft memlock unlimited\nbob -\n")
	f.Add("Name:\tx\nUid:\t0\t0\t0\t0\nVmPin:\t 4 kB\n")
	f.Add("0::/system.slice/x.service")
	f.Fuzz(func(t *testing.T, s string) {
		if m, err := parseLimits(s); err == nil && len(m) == 0 {
			t.Errorf("parseLimits(%q) is empty", s)
		}
		rules, _ := parseLimitRules("f", s)
		for _, r := range rules {
			if r.Line < 1 || r.Domain == "" || r.Item != "memlock" && r.Item != "nofile" {
				t.Errorf("parseLimitRules(%q) holds %+v", s, r)
			}
		}
		parseStatus(s)
		unitOf(parseCgroup(s))
	})
}
