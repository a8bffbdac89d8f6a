package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var memlockLimit = register(&Check{
	ID:    "memlock-limit",
	Title: "programs may lock the memory they register",
	Doc: "Registered memory is pinned and counts against RLIMIT_MEMLOCK, unless CAP_IPC_LOCK lifts the limit in the " +
		"initial user namespace. A small limit makes registration fail with ENOMEM, a limit of zero with EPERM.",
	Layer: Limits,
	Needs: []facts.Source{facts.SysfsRDMA, facts.ProcLimits},
	Uses:  []facts.Source{facts.ProcessList, facts.Links, facts.Namespaces, facts.RDMANetlink},
	Codes: []string{"memlock-low", "memlock-zero", "cap-ipc-lock-missing"},
	Params: Params{
		"memlock-low":          memlockParams,
		"memlock-zero":         memlockParams,
		"cap-ipc-lock-missing": "limit user? container",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.ProcLimits, facts.ProcessList, facts.Namespaces)
		want := false
		for d := range p.Devices(nil) {
			p.Examine(-1)
			ok, _ := p.WantedDevice(d)
			want = want || ok
		}
		if len(s.Devices) == 0 {
			p.Otherwise(noDevice)
			return
		}
		judgeShell(p, s, want)
		for _, proc := range byPID(s) {
			if len(proc.Uverbs) > 0 && len(proc.Services) == 0 {
				judgeProcess(p, s, proc)
			}
		}
	},
})

// judgeShell judges the limit that the examining process runs under, which
// programs started from the same shell will have.
func judgeShell(p *Pass, s *facts.Snapshot, want bool) {
	p.Examine(1)
	limit, ok := s.Self.Limits["memlock"]
	if !ok {
		p.Unread("own", "memlock limit")
		return
	}
	if enough(limit) || lifted(s.Self, s.Host) {
		return
	}
	f := Finding{
		Code: "memlock-low", Severity: shellSeverity(limit.Soft), Subject: hostSubject, Confidence: Proved,
		Message:  fmt.Sprintf("the shell may lock %s; programs that register memory need unlimited", size(limit.Soft)),
		Evidence: []Evidence{memlockEvidence("self", limit)},
		Params:   params("limit", strconv.FormatUint(limit.Soft, 10), "user", s.Self.User),
	}
	container := s.Host.Container.Or("")
	if container == "" && !s.Host.InitUserns.Or(true) {
		container = "user namespace"
	}
	switch {
	case limit.Soft == 0:
		f.Code = "memlock-zero"
		f.Message = "the shell may lock no memory: registration fails with EPERM"
	case container != "":
		f.Code = "cap-ipc-lock-missing"
		if f.Severity == Info {
			f.Severity = Warn // A container is where programs run, not a shell to look around.
		}
		where := "container"
		if s.Host.Container.Or("") == "" {
			where = container
		}
		f.Message = fmt.Sprintf("programs in this %s may lock %s and have no CAP_IPC_LOCK that counts", where, size(limit.Soft))
		f.Params["container"] = container
		f.Evidence = append(f.Evidence, Evidence{"/proc/self/status", fmt.Sprintf("CapEff: %016x", s.Self.CapEff.Or(0))})
	}
	if f.Code != "cap-ipc-lock-missing" {
		blame(s, &f, &s.Self, limit)
	}
	if !want {
		f.Severity = Info
	}
	p.Report(f)
}

// judgeProcess judges a process that has a device open.
func judgeProcess(p *Pass, s *facts.Snapshot, proc *facts.Process) {
	p.Examine(1)
	subject := fmt.Sprintf("pid %d", proc.PID)
	limit, ok := proc.Limits["memlock"]
	if !ok {
		p.Unread(subject, "memlock limit")
		return
	}
	if limit.SoftUnlimited || lifted(*proc, s.Host) {
		return
	}
	pinned, known := proc.VmPin.Get()
	// Nine tenths leave no room for the next buffer of a program that grows.
	full := known && pinned >= limit.Soft-limit.Soft/10
	if !full && limit.Soft >= memlockEnough {
		return
	}
	f := Finding{
		Code: "memlock-low", Severity: jobSeverity(limit.Soft), Subject: subject, Confidence: Proved,
		Message:  fmt.Sprintf("%s has an RDMA device open and may lock %s", proc.Comm, size(limit.Soft)),
		Evidence: []Evidence{memlockEvidence(strconv.Itoa(proc.PID), limit)}, Where: Where{PID: proc.PID},
		Params: params("limit", strconv.FormatUint(limit.Soft, 10), "user", proc.User, "pid", strconv.Itoa(proc.PID)),
	}
	if known {
		f.Message += fmt.Sprintf(", of which %s are pinned", size(pinned))
		f.Evidence = append(f.Evidence, Evidence{fmt.Sprintf("/proc/%d/status", proc.PID), fmt.Sprintf("VmPin: %d kB", pinned>>10)})
	}
	if full {
		f.Severity = Fail
	}
	if limit.Soft == 0 {
		f.Code = "memlock-zero"
	}
	blame(s, &f, proc, limit)
	p.Report(f)
}

// blame adds who set the limit: a systemd unit, a rule of limits.conf, or
// nobody.
func blame(s *facts.Snapshot, f *Finding, proc *facts.Process, limit facts.Limit) {
	if u, ok := unit(s, proc.Unit); ok {
		f.Params["unit"] = u.Name
		f.Evidence = append(f.Evidence, unitEvidence(u, "LimitMEMLOCK"))
		return
	}
	if r, ok := limitRule(s.Limits, proc.User, "memlock", limit.Soft); ok {
		f.Params["rule_file"] = r.File
		f.Evidence = append(f.Evidence, ruleEvidence(r))
	}
}
