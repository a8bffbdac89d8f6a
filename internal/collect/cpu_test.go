package collect

import (
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestCPU(t *testing.T) {
	h := constructed(t, "cpu-intel")
	s := collected(t, h, facts.CPUSource)
	noGaps(t, s)
	want(t, "processors", s.CPU, facts.CPU{
		Online: facts.Some("0-1"), SMT: facts.Some(true), FreqDriver: facts.Some("intel_pstate"),
		Governors: map[string]int{"powersave": 1, "performance": 1}, EPP: facts.Some("balance_performance"),
		IdleDriver: facts.Some("intel_idle"), Balancing: facts.Some(1),
		IdleStates: []facts.IdleState{
			{Name: "POLL", Disabled: facts.Some(false)},
			{Name: "C1E", Exit: 2 * time.Microsecond, Disabled: facts.Some(false)},
			{Name: "C6", Exit: 290 * time.Microsecond, Disabled: facts.Some(true)},
		},
		Nodes: []facts.NUMANode{{ID: 0, CPUs: "0-1"}, {ID: 1}},
	})
	for _, key := range h.Log {
		if key == "read:/sys/devices/system/cpu/cpufreq/policy1/energy_performance_preference" {
			t.Errorf("%s interrupts a processor", key)
		}
	}
}

// A guest has processors and no control of their frequency.
func TestCPUGuest(t *testing.T) {
	s := collected(t, fixture.Host(fixture.Parse("-- /sys/devices/system/cpu/online --\n0\n")), facts.CPUSource)
	noGaps(t, s)
	want(t, "processors", s.CPU, facts.CPU{Online: facts.Some("0")})
}

func TestCPUBad(t *testing.T) {
	for _, file := range []string{"online", "cpufreq/policy0/scaling_governor", "cpu0/cpuidle/state1/latency", "smt/active"} {
		for _, bad := range []string{"errno: EACCES", "timed out", ""} {
			h := constructed(t, "cpu-intel")
			h.Put(cpuDir+"/"+file, bad)
			s := collected(t, h, facts.CPUSource)
			if bad != "" {
				gap(t, s, cpuDir+"/"+file)
			}
			want(t, file+": driver", s.CPU.FreqDriver, facts.Some("intel_pstate"))
			want(t, file+": states", len(s.CPU.IdleStates), 3)
		}
	}
	h := constructed(t, "cpu-intel")
	h.Put(cpuDir+"/cpufreq/policyx/scaling_governor", "powersave")
	h.Put(cpuDir+"/cpufreq/policy99999999/scaling_governor", "powersave")
	want(t, "policies", collected(t, h, facts.CPUSource).CPU.Governors, map[string]int{"powersave": 1, "performance": 1})
}

func TestSpread(t *testing.T) {
	want(t, "few", spread([]int{3, 4}, 4), []int{3, 4})
	want(t, "many", spread([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 4), []int{0, 2, 5, 7})
}
