package collect

import (
	"fmt"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestProcesses(t *testing.T) {
	s := collected(t, constructed(t, "limits-slurm"), facts.ProcLimits, facts.ProcessList)
	want(t, "processes", s.Processes, []facts.Process{
		{PID: 700, Comm: "slurmd", UID: facts.Some(0), User: "root",
			Limits: map[string]facts.Limit{"memlock": {Soft: 65536, Hard: 65536}, "nofile": {Soft: 1024, Hard: 524288}},
			VmPin:  facts.Some[uint64](0), VmLck: facts.Some[uint64](0), CapEff: facts.Some[uint64](0x1ffffffffff),
			Cgroup: "/system.slice/slurmd.service", Unit: "slurmd.service", Services: []string{"slurm"}},
		{PID: 811, Comm: "train", UID: facts.Some(1000), User: "alice",
			Limits: map[string]facts.Limit{"memlock": {SoftUnlimited: true, HardUnlimited: true}, "nofile": {Soft: 4096, Hard: 524288}},
			CPUs:   facts.Some("0-15"), Mems: facts.Some("0-1"),
			VmPin: facts.Some[uint64](4 << 30), VmLck: facts.Some[uint64](0), CapEff: facts.Some[uint64](0),
			Cgroup: "/system.slice/slurmstepd.scope/job_1", Unit: "slurmstepd.scope",
			Uverbs: []string{"/dev/infiniband/rdma_cm", "/dev/infiniband/uverbs1"}, Files: facts.Some(5), MapCount: facts.Some(2)},
	})
	want(t, "another user's files", gap(t, s, "/proc/PID/fd"), facts.Gap{
		Source: facts.ProcessList, What: "/proc/PID/fd", Kind: facts.Denied, Detail: "of 1 processes"})
}

func TestProcessesBounds(t *testing.T) {
	h := fixture.Host(fixture.Parse(""))
	for pid := 1; pid <= mostReported+20; pid++ {
		h.Put(fmt.Sprintf("/proc/%d/status", pid), fmt.Sprintf("Name:\tsshd\nUid:\t0\t0\t0\t0\nVmLck:\t0 kB\nVmPin:\t%d kB\n", pid))
	}
	s := collected(t, h, facts.ProcessList)
	want(t, "shown", len(s.Processes), mostReported)
	want(t, "most pinned first, by pid", s.Processes[0].PID, 21)
	want(t, "gap", gap(t, s, "/proc").Kind, facts.Unsupported)
	empty := collected(t, fixture.Host(fixture.Parse("")), facts.ProcessList)
	want(t, "no /proc", gap(t, empty, "/proc").Kind, facts.Absent)
	want(t, "sources", empty.Sources, []facts.Source{})
}

func TestUnits(t *testing.T) {
	s := collected(t, constructed(t, "limits-slurm"), facts.UnitFiles)
	noGaps(t, s)
	want(t, "units", s.Units, []facts.Unit{
		{Name: "containerd.service", Manager: "containerd", Files: []string{"/usr/lib/systemd/system/containerd.service"},
			Limits: map[string]string{"LimitNOFILE": "infinity"}},
		{Name: "docker.service", Manager: "docker", Files: []string{"/etc/systemd/system/docker.service"}},
		{Name: "slurmd.service", Manager: "slurm", Files: []string{
			"/usr/lib/systemd/system/slurmd.service",
			"/usr/lib/systemd/system/slurmd.service.d/10-first.conf",
			"/etc/systemd/system/slurmd.service.d/90-limits.conf"},
			Limits: map[string]string{"LimitNOFILE": "131072", "LimitMEMLOCK": "65536"}},
		{Name: "system.conf", Manager: "systemd", Files: []string{"/etc/systemd/system.conf", "/etc/systemd/system.conf.d/rdma.conf"},
			Limits: map[string]string{"DefaultLimitNOFILE": "1024:524288", "DefaultLimitMEMLOCK": "infinity"}},
	})
}

func TestUnitsOfRDMAProcesses(t *testing.T) {
	h := constructed(t, "limits-slurm")
	h.Put("/etc/systemd/system/storage.service", "[Service]\nLimitMEMLOCK=1G\n")
	s := &facts.Snapshot{Processes: []facts.Process{
		{PID: 1, Unit: "storage.service", Uverbs: []string{"/dev/infiniband/uverbs0"}},
		{PID: 2, Unit: "cron.service"},
	}}
	readWith(t, s, h, facts.UnitFiles)
	names := map[string]string{}
	for _, u := range s.Units {
		names[u.Name] = u.Manager
	}
	want(t, "units", names, map[string]string{"storage.service": "other", "containerd.service": "containerd",
		"docker.service": "docker", "slurmd.service": "slurm", "system.conf": "systemd"})
}

func TestUnitsBad(t *testing.T) {
	empty := collected(t, fixture.Host(fixture.Parse("")), facts.UnitFiles)
	want(t, "no systemd", gap(t, empty, "/etc/systemd/system").Kind, facts.Unsupported)
	h := constructed(t, "limits-slurm")
	h.Put("/usr/lib/systemd/system/containerd.service", "errno: EACCES")
	s := collected(t, h, facts.UnitFiles)
	want(t, "denied", gap(t, s, "/usr/lib/systemd/system/containerd.service").Kind, facts.Denied)
	want(t, "the others are kept", len(s.Units), 3)
}

func TestParseUnit(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]string
	}{
		{"last wins", "[Service]\nLimitMEMLOCK=1\nLimitMEMLOCK = 2 \n", map[string]string{"LimitMEMLOCK": "2"}},
		{"empty resets", "[Service]\nLimitMEMLOCK=1\nLimitMEMLOCK=\n", nil},
		{"other section", "[Unit]\nLimitMEMLOCK=1\n", nil},
		{"no section", "LimitMEMLOCK=1\n", nil},
		{"comments", "[Service]\n#LimitMEMLOCK=1\n;LimitMEMLOCK=2\n", nil},
		{"continued line is not a setting", "[Service]\nExecStart=a \\\nLimitMEMLOCK=1\nLimitNOFILE=2\n", map[string]string{"LimitNOFILE": "2"}},
		{"continued at the end", "[Service]\nLimitNOFILE=1\\", nil},
		{"unknown key", "[Service]\nLimitCORE=1\n", nil},
		{"empty", "", nil},
	}
	for _, tt := range tests {
		got := map[string]string{}
		parseUnit(tt.text, "Service", got)
		want(t, tt.name, got, tt.want)
	}
}

func FuzzUnit(f *testing.F) {
	f.Add("[Service]\nLimitMEMLOCK=infinity\\\n x\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := map[string]string{}
		parseUnit(s, "Service", got)
		for key, value := range got {
			if value == "" {
				t.Errorf("parseUnit(%q) holds an empty %s", s, key)
			}
		}
	})
}
