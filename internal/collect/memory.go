package collect

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// memory reads how much memory the host and the own cgroup have: pinned memory
// counts against both.
var _ = register(Collector{
	Source: facts.MemorySource,
	Read: func(r *Reader) {
		m := &r.Snap.Memory
		var cgroup string
		b := r.batch()
		b.file("/proc/meminfo", func(text string) {
			info, err := parseMeminfo(text)
			if err != nil {
				r.Malformed("/proc/meminfo", text, err.Error())
				return
			}
			r.Have()
			m.Total, m.Available = info["MemTotal"], info["MemAvailable"]
			m.SwapTotal, m.SwapFree = info["SwapTotal"], info["SwapFree"]
		})
		attr(b, "/proc/sys/vm/max_map_count", &m.MaxMapCount, parseInt)
		b.fileIf("/proc/self/cgroup", func(text string) { cgroup = parseUnified(text) })
		b.run()
		collectCgroupMemory(r, cgroup)
	},
})

// parseMeminfo reads /proc/meminfo, in bytes. Kernels before 3.14 have no
// MemAvailable.
func parseMeminfo(s string) (map[string]facts.Opt[uint64], error) {
	info := map[string]facts.Opt[uint64]{}
	for line := range strings.Lines(s) {
		key, value, ok := strings.Cut(line, ":")
		switch key {
		case "MemTotal", "MemAvailable", "SwapTotal", "SwapFree":
			bytes, err := parseKiB(strings.TrimSpace(value))
			if !ok || err != nil {
				return nil, form(`lines of "NAME: N kB"`)
			}
			info[key] = facts.Some(bytes)
		}
	}
	if !info["MemTotal"].Known() {
		return nil, form(`lines of "NAME: N kB" with MemTotal`)
	}
	return info, nil
}

// collectCgroupMemory keeps the tightest memory.max of the own cgroup and
// those above it, with the memory in use under it. The root has none.
func collectCgroupMemory(r *Reader, cgroup string) {
	m := &r.Snap.Memory
	b := r.batch()
	for _, dir := range cgroupDirs(cgroup) {
		var limit facts.Opt[uint64]
		attrIf(b, dir+"memory.max", &limit, parseCgroupMax)
		attrIf(b, dir+"memory.current", new(facts.Opt[uint64]), func(text string) (uint64, error) {
			used, err := parseUint(text)
			if v, ok := limit.Get(); err == nil && ok && v < m.CgroupMax.Or(v+1) {
				m.CgroupMax, m.CgroupUsed = limit, facts.Some(used)
			}
			return used, err
		})
	}
	b.run()
}

// parseUnified returns the path in the unified hierarchy, "" where there is
// none.
func parseUnified(s string) string {
	for line := range strings.Lines(s) {
		if p, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return p
		}
	}
	return ""
}

// cgroupRoot is where cgroup2 is mounted.
const cgroupRoot = "/sys/fs/cgroup"

// cgroupDirs are the directories of a cgroup in cgroup2 and of those above it,
// its own first. A cgroup outside the own namespace ("/../x") has none here.
func cgroupDirs(cgroup string) []string {
	if !strings.HasPrefix(cgroup, "/") || strings.Contains(cgroup, "/..") {
		return nil
	}
	var dirs []string
	for at := strings.TrimRight(cgroup, "/"); len(dirs) < 64; at = at[:strings.LastIndexByte(at, '/')] {
		dirs = append(dirs, cgroupRoot+at+"/")
		if at == "" {
			break
		}
	}
	return dirs
}

// parseCgroupMax reads a limit, where "max" is none.
func parseCgroupMax(s string) (uint64, error) {
	if s == "max" {
		return 0, errNoValue
	}
	v, err := parseUint(s)
	if err != nil {
		return 0, form(`a number or "max"`)
	}
	return v, nil
}
