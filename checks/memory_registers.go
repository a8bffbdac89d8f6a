package checks

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/status"
)

var memoryRegisters = register(&Check{
	ID:    "memory-registers",
	Title: "memory can be registered, as much as is wanted",
	Doc: "A probe registers regions of growing size, on and off page boundaries. Where one is refused errno and limits tell " +
		"why: ENOMEM is the limit on locked memory before anything else, EPERM a limit of zero, EAGAIN the rdma cgroup, " +
		"EINVAL never alignment.",
	Layer: Verbs,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.ProcLimits, facts.RDMACgroup, facts.MemorySource, facts.UnitFiles},
	Codes: []string{"memlock-low", "memlock-zero", "rdma-cgroup-limit", "reg-mr-invalid", "reg-mr-fault", "odp-unsupported",
		"host-memory-low", "qp-limit", "verbs-call-failed"},
	Params: Params{
		"memlock-low":       memlockParams,
		"memlock-zero":      memlockParams,
		"rdma-cgroup-limit": cgroupParams,
		"reg-mr-invalid":    ladderParams,
		"reg-mr-fault":      ladderParams + " gpu?",
		"odp-unsupported":   ladderParams,
		"host-memory-low":   "percent?",
		"qp-limit":          objectParams,
		"verbs-call-failed": ladderParams,
	},
	Run: func(p *Pass) {
		p.Read(facts.Probes, facts.SysfsRDMA, facts.ProcLimits, facts.RDMACgroup, facts.MemorySource, facts.UnitFiles)
		for l := range p.Ladders() {
			if !made(l, "reg-mr") && len(l.Regions) == 0 {
				p.notReached(l, "registering memory")
				continue
			}
			p.Examine(1)
			if st := failedStep(l, "reg-mr", "reg-mr-unaligned"); st != nil {
				judgeRegistration(p, l, st.Error, st.Bytes, st.Name, true)
				continue
			}
			for i := range l.Regions {
				if r := &l.Regions[i]; r.Error != nil {
					judgeRegistration(p, l, r.Error, r.Bytes, "reg-mr", false)
					break // Larger ones fail for the same reason.
				}
			}
		}
	},
})

// judgeRegistration finds why memory was refused. Needed says that the probe
// could not go on; else it looked for the ceiling and found one.
func judgeRegistration(p *Pass, l *facts.Ladder, err *facts.StepError, bytes int, step string, needed bool) {
	s, at := p.snap, endOfLadder(p.snap, l)
	f := Finding{
		Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where,
		Evidence: []Evidence{{fmt.Sprintf("probe %s: %s of %s", l.Probe, err.Call, size(uint64(max(bytes, 0)))), errorText(err)}},
		Params:   at.Params("step", step, "errno", err.Name, "size", positiveText(bytes)),
	}
	most := 0
	for _, r := range l.Regions {
		if r.Error == nil {
			most = max(most, r.Bytes)
		}
	}
	if most > 0 {
		f.Evidence = append(f.Evidence, Evidence{"probe " + l.Probe + ": largest region registered", size(uint64(most))})
	}
	refused := fmt.Sprintf("registering %s was refused with %s", size(uint64(max(bytes, 0))), err.Name)
	switch errno := err.Errno; {
	case limitRefuses(s, errno):
		blameMemlock(s, &f, refused, needed)
	case errno == status.EAGAIN:
		blameCgroup(s, &f, at, refused)
	case errno == status.EINVAL:
		f.Code, f.Message = "reg-mr-invalid", refused+": access flags, length or an address that wraps, never alignment"
		if step == "reg-mr-unaligned" {
			f.Message = refused + " off a page boundary, which verbs allow: the provider or driver is wrong"
		}
		if v := worked(l, "reg-mr"); v != nil {
			f.Evidence = append(f.Evidence, variedEvidence(l, v))
			f.Params["attribute"], f.Params["from"], f.Params["to"] = v.Attribute, v.From, v.To
		}
		addCauses(&f, step, err.Errno)
	case errno == status.EFAULT:
		f.Code, f.Message = "reg-mr-fault", refused+": the address cannot be pinned"
		addCauses(&f, step, err.Errno)
	case errno == status.EOPNOTSUPP:
		f.Code, f.Message = "odp-unsupported", refused+": this device has no registration of that kind"
		if !l.Limits.OnDemandPage {
			f.Evidence = append(f.Evidence, Evidence{"ibv_query_device", "no on-demand paging"})
		}
	case errno == status.ENOMEM && shortOf(s, uint64(max(bytes, 0))):
		f.Code, f.Message = "host-memory-low", refused+": the host has less memory left than that"
		f.Subject, f.Where, f.Params = hostSubject, Where{}, params()
		f.Evidence = append(f.Evidence, Evidence{"/proc/meminfo", fmt.Sprintf("MemAvailable: %d kB", s.Memory.Available.Or(0)>>10)})
	case errno == status.ENOMEM:
		f.Code, f.Confidence = "qp-limit", Likely
		f.Message = refused + ", and neither the limit on locked memory nor free memory is short: the device's table of regions is"
		f.Params = at.objects("mr", l.Limits.MaxMR)
	default:
		callFailed(&f, step, err)
	}
	if !needed && f.Severity == Fail && f.Code != "memlock-low" && f.Code != "memlock-zero" && f.Code != "reg-mr-invalid" {
		f.Severity = Info // A ceiling that was looked for.
	}
	p.Report(f)
}

const (
	memlockParams = "limit user? rule_file? unit? pid?"
	cgroupParams  = "path? device limit? unit?"
	objectParams  = "device pci? port? netdev? kind used? limit?"
)

// limitRefuses reports whether RLIMIT_MEMLOCK of this process explains the
// errno: a finite limit that no capability lifts.
func limitRefuses(s *facts.Snapshot, errno int) bool {
	limit, ok := s.Self.Limits["memlock"]
	if !ok || limit.SoftUnlimited || lifted(s.Self, s.Host) {
		return false
	}
	return errno == status.ENOMEM && limit.Soft > 0 || errno == status.EPERM && limit.Soft == 0
}

// blameMemlock makes a finding one about the limit, with where the limit comes
// from.
func blameMemlock(s *facts.Snapshot, f *Finding, refused string, needed bool) {
	limit := s.Self.Limits["memlock"]
	f.Code, f.Subject, f.Where = "memlock-low", hostSubject, Where{}
	f.Message = fmt.Sprintf("%s: the process may lock %s", refused, size(limit.Soft))
	if limit.Soft == 0 {
		f.Code, f.Message = "memlock-zero", refused+": the process may lock no memory at all"
	}
	if !needed {
		f.Severity = shellSeverity(limit.Soft)
	}
	f.Params = params("limit", strconv.FormatUint(limit.Soft, 10), "user", s.Self.User)
	f.Evidence = append(f.Evidence, memlockEvidence("self", limit))
	if pin, ok := s.Self.VmPin.Get(); ok {
		f.Evidence = append(f.Evidence, Evidence{"/proc/self/status", fmt.Sprintf("VmPin: %d kB", pin>>10)})
	}
	blame(s, f, &s.Self, limit)
}

// blameCgroup makes a finding one about the rdma cgroup, which alone answers
// EAGAIN where no firmware is short of resources.
func blameCgroup(s *facts.Snapshot, f *Finding, at end, refused string) {
	f.Code, f.Confidence = "rdma-cgroup-limit", Likely
	f.Message = refused + ", as the rdma cgroup answers at its limit"
	f.Params = params("device", at.Device)
	f.Subject, f.Where = at.Device, Where{Device: at.Device}
	for _, c := range s.RDMA.Cgroup {
		if c.Device != at.Device {
			continue
		}
		for _, r := range []struct {
			unit        string
			most, holds facts.Opt[uint64]
		}{{"hca_handle", c.HandleMax, c.HandleCurrent}, {"hca_object", c.ObjectMax, c.ObjectCurrent}} {
			if most, ok := r.most.Get(); ok {
				f.Confidence = Proved
				f.Message = fmt.Sprintf("%s: cgroup %s allows %d %s of %s", refused, c.Path, most, r.unit, c.Device)
				f.Params = params("path", c.Path, "device", c.Device, "limit", fmt.Sprint(most), "unit", r.unit)
				f.Evidence = append(f.Evidence, Evidence{"rdma.max of " + c.Path, fmt.Sprintf("%s %s=%d", c.Device, r.unit, most)})
			}
		}
	}
}

// shortOf reports whether less memory than bytes is left to this process.
func shortOf(s *facts.Snapshot, bytes uint64) bool {
	if have, ok := s.Memory.Available.Get(); ok && have < bytes {
		return true
	}
	most, ok := s.Memory.CgroupMax.Get()
	used, known := s.Memory.CgroupUsed.Get()
	return ok && known && most >= used && most-used < bytes
}

// objects are the parameters of a finding about a kind of object.
func (e end) objects(kind string, limit int) map[string]string {
	m := e.Params()
	out := params("device", m["device"], "pci", m["pci"], "port", m["port"], "netdev", m["netdev"], "kind", kind, "limit", positiveText(limit))
	if e.Port != nil {
		if u, ok := e.Port.Device.Resources[kind]; ok {
			out["used"] = strconv.FormatUint(u.Current, 10)
		}
	}
	return out
}

// callFailed makes a finding about a call that no other code fits.
func callFailed(f *Finding, step string, err *facts.StepError) {
	f.Code, f.Confidence = "verbs-call-failed", Likely
	name := err.Name
	if name == "" {
		name = "no errno"
	}
	f.Message = fmt.Sprintf("%s was refused by %s with %s", stepTitle(step), err.Call, name)
	addCauses(f, step, err.Errno)
}

// causesShown is how many causes of an errno a finding tells.
const causesShown = 2

// addCauses shows what is known of the errno at the step, the likeliest first.
// The limit on locked memory was judged before, and causes that hold a word of
// not are ruled out.
func addCauses(f *Finding, step string, errno int, not ...string) {
	shown := 0
	for _, c := range status.Causes(step, errno) {
		text := c.Cause
		out := func(word string) bool { return strings.Contains(text, word) }
		if out("RLIMIT_MEMLOCK") || slices.ContainsFunc(not, out) {
			continue
		}
		if shown++; shown > causesShown {
			break
		}
		if c.Tell != "" {
			text += " (seen by: " + c.Tell + ")"
		}
		f.Evidence = append(f.Evidence, Evidence{fmt.Sprintf("known cause %d of errno %d at %s", shown, errno, step), text})
	}
}

// positiveText is a number, or nothing where there is none.
func positiveText(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}
