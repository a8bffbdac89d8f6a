package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var memoryMaps = register(&Check{
	ID:    "memory-maps",
	Title: "RDMA programs have room for more memory mappings",
	Doc: "With fork protection (ibv_fork_init, RDMAV_FORK_SAFE) every registration splits a mapping. At vm.max_map_count " +
		"registering and even allocating fails with ENOMEM, although memory is free.",
	Layer: Limits,
	Needs: []facts.Source{facts.ProcessList, facts.MemorySource},
	Codes: []string{"max-map-count-low"},
	Params: Params{
		"max-map-count-low": "pid limit count wanted",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.ProcessList, facts.MemorySource)
		limit, ok := s.Memory.MaxMapCount.Get()
		p.Otherwise("no process has an RDMA device open")
		for _, proc := range s.Processes {
			if len(proc.Uverbs) == 0 {
				continue
			}
			p.Examine(1)
			count, counted := proc.MapCount.Get()
			if !ok || !counted {
				p.Unread(fmt.Sprintf("pid %d", proc.PID), "count of mappings")
				continue
			}
			f := Finding{
				Code: "max-map-count-low", Severity: Warn, Subject: fmt.Sprintf("pid %d", proc.PID), Confidence: Proved,
				Where:   Where{PID: proc.PID},
				Message: fmt.Sprintf("%s has %d of %d memory mappings", proc.Comm, count, limit),
				Evidence: []Evidence{{fmt.Sprintf("/proc/%d/maps", proc.PID), fmt.Sprintf("%d lines", count)},
					{"/proc/sys/vm/max_map_count", strconv.Itoa(limit)}},
				Params: params("pid", strconv.Itoa(proc.PID), "limit", strconv.Itoa(limit), "count", strconv.Itoa(count),
					"wanted", strconv.Itoa(4*max(limit, 65530))), // Four times the kernel's default, DEFAULT_MAX_MAP_COUNT.
			}
			switch {
			case count >= limit:
				f.Severity = Fail
			case count >= limit-limit/10:
			default:
				continue
			}
			p.Report(f)
		}
	},
})
