package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var pinnedMemory = register(&Check{
	ID:    "pinned-memory",
	Title: "registered memory leaves the host enough",
	Doc: "Registered memory cannot be swapped or moved. Where it takes most of the RAM, everything else on the host runs " +
		"short, and the kernel kills processes to make room.",
	Layer: Limits,
	Needs: []facts.Source{facts.ProcessList, facts.MemorySource},
	Codes: []string{"pinned-memory-high"},
	Params: Params{
		"pinned-memory-high": "pid percent",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.ProcessList, facts.MemorySource)
		p.Otherwise("no process pins memory")
		var all uint64
		var most *facts.Process
		for i := range s.Processes {
			proc := &s.Processes[i]
			pin, ok := proc.VmPin.Get()
			if !ok || pin == 0 {
				continue
			}
			all += pin
			if most == nil || pin > most.VmPin.Or(0) || pin == most.VmPin.Or(0) && proc.PID < most.PID {
				most = proc
			}
		}
		if most == nil {
			return
		}
		p.Examine(1)
		ram, ok := s.Memory.Total.Get()
		if !ok || ram == 0 {
			p.Unread(hostSubject, "memory size")
			return
		}
		share := float64(all) / float64(ram)
		f := Finding{
			Code: "pinned-memory-high", Subject: hostSubject, Confidence: Proved, Where: Where{PID: most.PID},
			Message: fmt.Sprintf("%s of RAM is pinned by RDMA (%s), most by pid %d (%s)", percent(share), mebibytes(all), most.PID, most.Comm),
			Evidence: []Evidence{{fmt.Sprintf("/proc/%d/status", most.PID), fmt.Sprintf("VmPin: %d kB", most.VmPin.Or(0)>>10)},
				{"/proc/meminfo", fmt.Sprintf("MemTotal: %d kB", ram>>10)}},
			Params: params("pid", strconv.Itoa(most.PID), "percent", percent(share)),
		}
		if free, ok := s.Memory.Available.Get(); ok {
			f.Evidence = append(f.Evidence, Evidence{"/proc/meminfo", fmt.Sprintf("MemAvailable: %d kB", free>>10)})
		}
		switch {
		case share >= pinnedFail:
			f.Severity = Fail
		case share >= pinnedWarn:
			f.Severity = Warn
		case share >= pinnedInfo:
			f.Severity = Info
		default:
			return
		}
		p.Report(f)
	},
})

// Shares of RAM. Storage and key-value caches pin half of it on purpose; above
// nine tenths the kernel itself has no room (its own reserve is a few percent).
const (
	pinnedInfo = 0.5
	pinnedWarn = 0.75
	pinnedFail = 0.9
)

func mebibytes(n uint64) string { return strconv.FormatUint(n>>20, 10) + " MiB" }
