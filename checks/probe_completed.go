package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var probeCompleted = register(&Check{
	ID:    "probe-completed",
	Title: "probes run to their end",
	Doc: "A probe runs in a process of its own. Where that process crashes, hangs, is killed for want of memory or cannot " +
		"even be killed, the provider library, the driver or the host did it, and programs meet the same.",
	Layer: Verbs,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.MemorySource},
	Codes: []string{"provider-crash", "probe-hung", "peer-lost", "firmware-command-timeout", "host-memory-low"},
	Params: Params{
		"provider-crash":           ladderParams + " signal? provider?",
		"probe-hung":               ladderParams,
		"peer-lost":                ladderParams,
		"firmware-command-timeout": "pci? device? port? netdev? count? detail? path?",
		"host-memory-low":          "percent?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA, facts.MemorySource)
		for l := range p.Ladders() {
			judgeEnd(p, endOfLadder(s, l), l.Probe, l.End)
		}
		for m := range p.Measurements() {
			if m.End != nil {
				judgeEnd(p, endOfMeasurement(s, m), m.Probe, *m.End)
			}
		}
	},
})

// judgeEnd judges how the process of one probe ended.
func judgeEnd(p *Pass, at end, probe string, e facts.ProbeEnd) {
	p.Examine(1)
	in := ""
	if e.Step != "" {
		in = " while " + stepTitle(e.Step)
	}
	f := Finding{
		Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where,
		Evidence: []Evidence{{"probe " + probe + " of " + at.Subject, endDetail(e)}},
		Params:   at.Params("step", e.Step),
	}
	switch e.Outcome {
	case facts.Completed, "":
		return
	case facts.NotRun, facts.Stopped:
		p.NotApplicable("the probe of %s was not run to its end: %s", at.Subject, endDetail(e))
		return
	case facts.Unavailable:
		p.Unread(at.Subject, "verbs ("+endDetail(e)+")")
		return
	case facts.Crashed:
		f.Code = "provider-crash"
		f.Message = fmt.Sprintf("the probe's process died of %s%s", orUnnamed(e.Signal, "a signal"), in)
		f.Params["signal"] = orUnnamed(e.Signal, "signal")
		blameProvider(&f, at)
	case facts.Garbled:
		f.Code, f.Confidence = "provider-crash", Likely
		f.Message = fmt.Sprintf("the probe's process told nonsense%s: its memory was overwritten", in)
		blameProvider(&f, at)
	case facts.Hung:
		f.Code = "probe-hung"
		f.Message = fmt.Sprintf("the probe gave no answer in its time%s and was killed", in)
	case facts.Stuck:
		f.Code = "firmware-command-timeout"
		f.Message = fmt.Sprintf("the probe's process sleeps in the kernel%s and cannot be killed: the driver waits for the device", in)
		f.Params = params("device", at.Device, "pci", at.Where.PCI, "netdev", at.Where.Netdev, "detail", orUnnamed(e.Step, "a verbs call"))
	case facts.OOMKilled:
		f.Code = "host-memory-low"
		f.Message = fmt.Sprintf("the probe's process was killed%s, as the kernel does when memory runs out", in)
		f.Confidence, f.Subject, f.Where, f.Params = Likely, hostSubject, Where{}, params()
		m := p.snap.Memory
		if have, ok := m.Available.Get(); ok {
			f.Evidence = append(f.Evidence, Evidence{"/proc/meminfo", fmt.Sprintf("MemAvailable: %d kB", have>>10)})
		}
		if most, ok := m.CgroupMax.Get(); ok {
			f.Evidence = append(f.Evidence, Evidence{"memory.max", fmt.Sprint(most)})
		}
	case facts.PeerGone:
		f.Code = "peer-lost"
		f.Message = fmt.Sprintf("%s fell silent%s: its process, the host or the way to it is gone", orUnnamed(at.Peer, "the peer"), in)
	default:
		p.Unread(at.Subject, "end of the probe ("+endDetail(e)+")")
		return
	}
	p.Report(f)
}

// blameProvider names the user-space provider that ran in the process.
func blameProvider(f *Finding, at end) {
	if at.Port == nil {
		return
	}
	if name, ok := at.Port.Device.Provider.Get(); ok {
		f.Params["provider"] = name
		f.Evidence = append(f.Evidence, Evidence{"user-space provider of " + at.Device, name})
	}
}

func orUnnamed(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
