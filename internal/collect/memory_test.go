package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestMemory(t *testing.T) {
	s := collected(t, constructed(t, "memory-cgroup"), facts.MemorySource, facts.RDMACgroup)
	noGaps(t, s)
	want(t, "memory", s.Memory, facts.Memory{
		Total: facts.Some[uint64](16384000 << 10), Available: facts.Some[uint64](8192000 << 10),
		SwapTotal: facts.Some[uint64](0), SwapFree: facts.Some[uint64](0),
		CgroupMax: facts.Some[uint64](4 << 30), CgroupUsed: facts.Some[uint64](4096), MaxMapCount: facts.Some(65530),
	})
	const job = "/system.slice/slurmstepd.scope/job_7"
	want(t, "rdma cgroup", s.RDMA.Cgroup, []facts.RDMACgroupLimit{
		{Path: job, Device: "mlx5_0", HandleMax: facts.Some[uint64](2), HandleCurrent: facts.Some[uint64](2), ObjectCurrent: facts.Some[uint64](20)},
		{Path: job, Device: "mlx5_1"},
		{Path: "/system.slice", Device: "mlx5_0", ObjectMax: facts.Some[uint64](2000)},
	})
	want(t, "sources", s.Sources, []facts.Source{facts.MemorySource, facts.RDMACgroup})
}

func TestMemoryAncestorIsTighter(t *testing.T) {
	h := constructed(t, "memory-cgroup")
	h.Put("/sys/fs/cgroup/system.slice/memory.max", "2147483648\n")
	s := collected(t, h, facts.MemorySource)
	want(t, "max", s.Memory.CgroupMax, facts.Some[uint64](2<<30))
	want(t, "used", s.Memory.CgroupUsed, facts.Some[uint64](1<<30))
}

func TestRDMACgroupOtherHierarchies(t *testing.T) {
	h := constructed(t, "memory-cgroup")
	h.Put("/proc/self/cgroup", "5:rdma:/job\n0::/x\n")
	h.Put("/sys/fs/cgroup/rdma/cgroup.procs", "")
	h.Put("/sys/fs/cgroup/rdma/job/rdma.max", "mlx5_0 hca_handle=1 hca_object=2\n")
	s := collected(t, h, facts.RDMACgroup)
	want(t, "cgroup v1", s.RDMA.Cgroup, []facts.RDMACgroupLimit{
		{Path: "/job", Device: "mlx5_0", HandleMax: facts.Some[uint64](1), ObjectMax: facts.Some[uint64](2)}})
	h.Put("/proc/self/cgroup", "0::/../other\n")
	s = collected(t, h, facts.RDMACgroup)
	want(t, "outside the namespace", s.RDMA.Cgroup, []facts.RDMACgroupLimit(nil))
}

func TestMemoryBad(t *testing.T) {
	empty := collected(t, fixture.Host(fixture.Parse("")), facts.MemorySource, facts.RDMACgroup)
	for _, what := range []string{"/proc/meminfo", "/proc/sys/vm/max_map_count", "/proc/self/cgroup"} {
		gap(t, empty, what)
	}
	want(t, "sources", empty.Sources, []facts.Source{})
	h := constructed(t, "memory-cgroup")
	const job = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/"
	h.Put("/proc/meminfo", "MemTotal: lots kB\n")
	h.Put("/proc/sys/vm/max_map_count", "-")
	h.Put(job+"memory.max", "much")
	h.Put(job+"rdma.max", "mlx5_0 hca_handle=many\nmlx5_1 hca_handle=1 hca_object=1\n")
	h.Put(job+"rdma.current", "errno: EACCES")
	s := collected(t, h, facts.MemorySource, facts.RDMACgroup)
	for _, what := range []string{"/proc/meminfo", "/proc/sys/vm/max_map_count", job + "memory.max", job + "rdma.max", job + "rdma.current"} {
		gap(t, s, what)
	}
	want(t, "the other line is kept", s.RDMA.Cgroup[0].Device, "mlx5_1")
}

func TestParseMemory(t *testing.T) {
	checkParser(t, "parseMeminfo", parseMeminfo, []parsed[map[string]facts.Opt[uint64]]{
		{text: "MemTotal: 1 kB\n", want: map[string]facts.Opt[uint64]{"MemTotal": facts.Some[uint64](1024)}},
		{text: "MemFree: 1 kB\n", err: true}, {text: "MemTotal: 1", err: true}, {text: "MemTotal", err: true}, {text: "", err: true},
		{text: "MemTotal: -1 kB", err: true},
	})
	checkParser(t, "parseCgroupMax", parseCgroupMax, []parsed[uint64]{{text: "0"}, {text: "max", err: true}, {text: "1k", err: true}, {text: "", err: true}})
	want(t, "root", cgroupDirs("/"), []string{"/sys/fs/cgroup/"})
	want(t, "deep", cgroupDirs("/a/b"), []string{"/sys/fs/cgroup/a/b/", "/sys/fs/cgroup/a/", "/sys/fs/cgroup/"})
	want(t, "relative", cgroupDirs("a"), []string(nil))
}

func FuzzMemory(f *testing.F) {
	f.Add("MemTotal: 1 kB\nMemAvailable: 1 kB\n")
	f.Add("mlx5_0 hca_handle=2 hca_object=max")
	f.Add("0::/a/b/../c")
	f.Fuzz(func(t *testing.T, s string) {
		if info, err := parseMeminfo(s); err == nil && !info["MemTotal"].Known() {
			t.Errorf("parseMeminfo(%q) has no MemTotal", s)
		}
		if device, _, _, err := parseRDMALimit(s); (device == "") != (err != nil) {
			t.Errorf("parseRDMALimit(%q) = %q, %v", s, device, err)
		}
		if dirs := cgroupDirs(parseUnified(s)); len(dirs) > 64 {
			t.Errorf("cgroupDirs(%q) has %d", s, len(dirs))
		}
		parseCgroupMax(s)
	})
}
