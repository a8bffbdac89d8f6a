package checks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var cpuFrequency = register(&Check{
	ID:    "cpu-frequency",
	Title: "processors are not told to save power",
	Doc: "A governor that keeps processors at their lowest frequency costs latency and message rate. Under intel_pstate and " +
		"amd-pstate the governor powersave is the normal one, which scales up; there the energy preference tells. Alone it is " +
		"information.",
	Layer: Performance,
	Needs: []facts.Source{facts.SysfsRDMA, facts.CPUSource},
	Codes: []string{"cpu-power-saving"},
	Params: Params{
		"cpu-power-saving": governorParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.CPUSource)
		c := s.CPU
		if len(s.Devices) == 0 {
			p.Otherwise(noDevice)
			return
		}
		p.Examine(1)
		slow := c.Governors["powersave"]
		driver, known := c.FreqDriver.Get()
		preference := c.EPP.Or("")
		switch {
		case len(c.Governors) == 0 && !known:
			p.NotApplicable("this host has no control of its processors' frequency")
			return
		case len(c.Governors) == 0 || !known:
			p.Unread("host", "frequency governor")
			return
		case slow == 0:
			return
		case scalesItself(driver) && preference == "" && preferenceDenied(s):
			p.Unread("host", "energy_performance_preference")
			return
		case scalesItself(driver) && !savesEnergy(preference):
			return
		}
		f := Finding{
			Code: "cpu-power-saving", Severity: Info, Subject: hostSubject, Confidence: Possible,
			Message: fmt.Sprintf("governor powersave of %s keeps processors at their lowest frequency", driver),
			Evidence: []Evidence{
				{cpufreq + "scaling_driver", driver},
				{cpufreq + "scaling_governor", fmt.Sprintf("powersave (%d of %d policies looked at)", slow, total(c.Governors))},
			},
			Params: params("governor", "powersave", "driver", driver),
		}
		if scalesItself(driver) {
			f.Message = fmt.Sprintf("the energy preference %s holds processors back", preference)
			f.Evidence = append(f.Evidence, Evidence{cpufreq + "energy_performance_preference", preference})
			f.Params["preference"] = preference
		}
		p.Report(f)
	},
})

// preferenceDenied reports whether the preference is there and was not read.
// Processors before Skylake have none.
func preferenceDenied(s *facts.Snapshot) bool {
	return slices.ContainsFunc(s.Gaps, func(g facts.Gap) bool {
		return g.Source == facts.CPUSource && strings.HasSuffix(g.What, "/energy_performance_preference")
	})
}

const cpufreq = "/sys/devices/system/cpu/cpufreq/policy*/"

func total(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

// scalesItself reports whether a cpufreq driver leaves the frequency to the
// processor, so that powersave means "as needed" (intel_pstate.rst,
// amd-pstate.rst: active mode).
func scalesItself(driver string) bool {
	switch driver {
	case "intel_pstate", "amd-pstate-epp", "amd_pstate_epp":
		return true
	}
	return false
}

// savesEnergy reports whether a preference leans to saving: "balance_power" and
// "power", 192 and 255 where it is a number.
func savesEnergy(preference string) bool {
	n, err := strconv.Atoi(preference)
	return preference == "balance_power" || preference == "power" || err == nil && n >= 192
}
