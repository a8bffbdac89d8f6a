package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/pattern"
)

var hostMemory = register(&Check{
	ID:    "host-memory",
	Title: "the host has free memory",
	Doc: "A compiler or a tool that runs out of memory is no RDMA fault. MemAvailable, the cgroup's limit and the kernel's " +
		"killing of processes tell.",
	Layer: Limits,
	Needs: []facts.Source{facts.MemorySource},
	Uses:  []facts.Source{facts.KernelLog},
	Codes: []string{"host-memory-low"},
	Params: Params{
		"host-memory-low": "percent?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.MemorySource, facts.KernelLog)
		f := Finding{Code: "host-memory-low", Severity: Warn, Subject: hostSubject, Confidence: Proved}
		if rec, ok := oomKill(s); ok {
			f.Message = "the kernel killed a process for want of memory in the last day"
			f.Evidence = []Evidence{logEvidence(rec)}
			f.Params = params()
			p.Report(f)
		}
		judge := func(what, source string, left, all facts.Opt[uint64]) {
			free, ok1 := left.Get()
			size, ok2 := all.Get()
			if !ok1 || !ok2 || size == 0 {
				return
			}
			p.Examine(1)
			if share := float64(free) / float64(size); share < memoryLow {
				f.Message = fmt.Sprintf("%s has %s of %s left (%s)", what, mebibytes(free), mebibytes(size), percent(share))
				f.Evidence = []Evidence{{source, fmt.Sprintf("%d kB of %d kB", free>>10, size>>10)}}
				f.Params = params("percent", percent(share))
				p.Report(f)
			}
		}
		judge("the host", "/proc/meminfo MemAvailable", s.Memory.Available, s.Memory.Total)
		if most, ok := s.Memory.CgroupMax.Get(); ok {
			if used, ok := s.Memory.CgroupUsed.Get(); ok {
				judge("the memory cgroup of this process", "memory.max less memory.current", facts.Some(most-min(used, most)), facts.Some(most))
			}
		}
		if p.res.Examined == 0 {
			p.Examine(1)
			p.Unread(hostSubject, "MemAvailable")
		}
	},
})

// memoryLow is the share of memory left below which allocations stall: the
// kernel's own low watermark is near one percent.
const memoryLow = 0.02

var oomLine = pattern.Of(`(?i)out of memory: killed process|oom-kill:`, "memory: killed", "kill:")

// oomKill is the newest record of the last day that tells of a killed process.
func oomKill(s *facts.Snapshot) (rec facts.LogRecord, found bool) {
	for _, r := range s.Log {
		if oomLine.MatchString(r.Text) && logNow(s)-r.SinceBoot <= recent {
			rec, found = r, true
		}
	}
	return rec, found
}
