package collect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// processors reads frequency control, idle states and NUMA nodes
// (Documentation/admin-guide/pm/cpufreq.rst, cpuidle.rst; ABI/stable/
// sysfs-devices-node).
var _ = register(Collector{
	Source: facts.CPUSource,
	Read: func(r *Reader) {
		c := &r.Snap.CPU
		var policies, nodes []int
		b := r.batch()
		b.file(cpuDir+"/online", func(text string) {
			r.Have()
			store(r, cpuDir+"/online", text, &c.Online, parseCPUList)
		})
		attrIf(b, cpuDir+"/smt/active", &c.SMT, parseBool01)
		attrIf(b, cpuDir+"/cpuidle/current_driver", &c.IdleDriver, parseText)
		attrIf(b, "/proc/sys/kernel/numa_balancing", &c.Balancing, parseInt)
		b.dirIf(cpuDir+"/cpufreq", func(names []string) { policies = spread(numbered(names, "policy"), mostPolicies) })
		b.dirIf(nodeDir, func(names []string) { nodes = spread(numbered(names, "node"), mostNodes) })
		b.run()
		collectFrequency(r, policies)
		collectIdle(r)
		collectNodes(r, nodes)
	},
})

const (
	cpuDir  = "/sys/devices/system/cpu"
	nodeDir = "/sys/devices/system/node"

	// With intel_pstate each processor has a policy. Settings are made for all or
	// for a socket, so a few spread over the host tell.
	mostPolicies = 64
	mostNodes    = 64
	mostStates   = 16 // CPUIDLE_STATE_MAX is 10
)

// numbered are the numbers of names of that form, "policy12", in order.
func numbered(names []string, prefix string) []int {
	var all []int
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, prefix)
		if n, err := strconv.ParseUint(digits, 10, 16); ok && err == nil {
			all = append(all, int(n))
		}
	}
	slices.Sort(all)
	return all
}

// spread picks at most that many of all, evenly, the first among them.
func spread(all []int, most int) []int {
	if len(all) <= most {
		return all
	}
	picked := make([]int, most)
	for i := range picked {
		picked[i] = all[i*len(all)/most]
	}
	return picked
}

// collectFrequency reads the governors. The preference is read
// of the first only: intel_pstate asks the processor itself for it.
func collectFrequency(r *Reader, policies []int) {
	c := &r.Snap.CPU
	b := r.batch()
	for i, n := range policies {
		dir := fmt.Sprintf("%s/cpufreq/policy%d/", cpuDir, n)
		if i == 0 {
			attrIf(b, dir+"scaling_driver", &c.FreqDriver, parseText)
			attrIf(b, dir+"energy_performance_preference", &c.EPP, parseText)
		}
		var governor facts.Opt[string]
		b.fileIf(dir+"scaling_governor", func(text string) {
			store(r, dir+"scaling_governor", text, &governor, parseText)
			if name, ok := governor.Get(); ok {
				if c.Governors == nil {
					c.Governors = map[string]int{}
				}
				c.Governors[name]++
			}
		})
	}
	b.run()
}

// collectIdle reads the idle states of the first processor; all have the same,
// save on hybrid ones.
func collectIdle(r *Reader) {
	const dir = cpuDir + "/cpu0/cpuidle"
	var states []int
	list, reads := r.batch(), r.batch()
	list.dirIf(dir, func(names []string) { states = spread(numbered(names, "state"), mostStates) })
	list.run()
	all := make([]facts.IdleState, len(states))
	for i, n := range states {
		state, path := &all[i], fmt.Sprintf("%s/state%d/", dir, n)
		state.Name = fmt.Sprintf("state%d", n)
		reads.fileIf(path+"name", func(text string) {
			if name, err := parseText(text); err == nil {
				state.Name = name
			}
		})
		var exit facts.Opt[int]
		reads.fileIf(path+"latency", func(text string) {
			store(r, path+"latency", text, &exit, parseInt)
			state.Exit = time.Duration(max(exit.Or(0), 0)) * time.Microsecond
		})
		attrIf(reads, path+"disable", &state.Disabled, parseBool01)
	}
	reads.run()
	r.Snap.CPU.IdleStates = all
}

func collectNodes(r *Reader, nodes []int) {
	b := r.batch()
	for _, n := range nodes {
		path := fmt.Sprintf("%s/node%d/cpulist", nodeDir, n)
		b.fileIf(path, func(text string) {
			var cpus facts.Opt[string]
			store(r, path, text, &cpus, parseCPUList)
			r.Snap.CPU.Nodes = append(r.Snap.CPU.Nodes, facts.NUMANode{ID: n, CPUs: cpus.Or("")})
		})
	}
	b.run()
	slices.SortFunc(r.Snap.CPU.Nodes, func(a, b facts.NUMANode) int { return cmp.Compare(a.ID, b.ID) })
}
