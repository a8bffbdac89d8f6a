package facts

import "time"

// CPU is how the processors of the host are set up: what costs latency and
// message rate.
type CPU struct {
	Online Opt[string] `json:"online,omitzero"`     // "0-127"
	SMT    Opt[bool]   `json:"smt_active,omitzero"` // two threads a core are in use
	// FreqDriver and Governors are of cpufreq; hosts without control of the
	// frequency, as most guests, have neither.
	FreqDriver Opt[string]    `json:"scaling_driver,omitzero"`     // "intel_pstate", "amd-pstate-epp", "acpi-cpufreq", ...
	Governors  map[string]int `json:"scaling_governors,omitempty"` // policies by governor, of at most 64 spread over the host
	EPP        Opt[string]    `json:"energy_preference,omitzero"`  // energy_performance_preference of the first policy
	IdleDriver Opt[string]    `json:"cpuidle_driver,omitzero"`     // "intel_idle", "acpi_idle", "none"
	IdleStates []IdleState    `json:"idle_states,omitempty"`       // of the first processor
	Balancing  Opt[int]       `json:"numa_balancing,omitzero"`     // kernel.numa_balancing; 0: pages stay where they are
	Nodes      []NUMANode     `json:"numa_nodes,omitempty"`        // by ID
}

// IdleState is one way of a processor to sleep.
type IdleState struct {
	Name     string        `json:"name"`
	Exit     time.Duration `json:"exit_latency_nanos"`
	Disabled Opt[bool]     `json:"disabled,omitzero"`
}

// NUMANode is a memory node and its processors; some nodes have none.
type NUMANode struct {
	ID   int    `json:"id"`
	CPUs string `json:"cpulist"`
}
