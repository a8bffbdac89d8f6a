package checks

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var jobMemlock = register(&Check{
	ID:    "job-memlock",
	Title: "services that launch jobs pass on enough locked memory",
	Doc: "A job inherits its limits from the daemon that starts it, not from a login: limits.conf does not reach it. The " +
		"daemon itself runs as root and is exempt, its children are not.",
	Layer: Limits,
	Needs: []facts.Source{facts.SysfsRDMA, facts.ProcessList},
	Uses:  []facts.Source{facts.UnitFiles, facts.ProcLimits},
	Codes: []string{"memlock-service"},
	Params: Params{
		"memlock-service": "limit service unit? pid?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.ProcessList, facts.UnitFiles, facts.ProcLimits)
		if len(s.Devices) == 0 {
			p.Otherwise(noDevice)
			return
		}
		p.Otherwise("no service that launches jobs is known here")
		running := map[string]bool{}
		for _, proc := range byPID(s) {
			service, ok := launches(proc.Services)
			if !ok {
				continue
			}
			if proc.Unit != "" && running[proc.Unit] {
				continue // One finding for a unit, not for each of its processes.
			}
			p.Examine(1)
			limit, ok := proc.Limits["memlock"]
			if !ok {
				p.Unread(fmt.Sprintf("pid %d", proc.PID), "memlock limit")
				continue
			}
			running[proc.Unit] = true
			if !enough(limit) {
				reportService(p, s, proc, service, limit)
			}
		}
		for _, u := range s.Units {
			value, set := u.Limits["LimitMEMLOCK"]
			service, ok := launches([]string{u.Manager})
			if !set || !ok || running[u.Name] {
				continue
			}
			soft, unlimited, ok := systemdSize(value)
			p.Examine(1)
			if !ok {
				p.Unread(u.Name, "LimitMEMLOCK")
				continue
			}
			if limit := (facts.Limit{Soft: soft, SoftUnlimited: unlimited}); !enough(limit) {
				p.Report(Finding{
					Code: "memlock-service", Severity: Info, Subject: u.Name, Confidence: Likely,
					Message:  fmt.Sprintf("jobs of %s would be able to lock %s; it does not run now", service, size(soft)),
					Evidence: []Evidence{unitEvidence(u, "LimitMEMLOCK")},
					Params:   params("limit", strconv.FormatUint(soft, 10), "service", service, "unit", u.Name),
				})
			}
		}
	},
})

// launches tells what a daemon launches jobs for. Logins get their limits from
// limits.conf(5) through PAM, so sshd's own say nothing.
func launches(services []string) (string, bool) {
	for _, s := range services {
		if s != "" && s != "ssh" && s != "systemd" && s != "other" {
			return s, true
		}
	}
	return "", false
}

// containers are launchers whose jobs may be given limits and capabilities one
// by one, so that the default alone is no fault.
var containers = []string{"containerd", "docker", "kubelet", "crio", "podman"}

func reportService(p *Pass, s *facts.Snapshot, proc *facts.Process, service string, limit facts.Limit) {
	name := proc.Unit
	if name == "" {
		name = proc.Comm
	}
	f := Finding{
		Code: "memlock-service", Severity: jobSeverity(limit.Soft), Subject: name, Confidence: Proved, Where: Where{PID: proc.PID},
		Message:  fmt.Sprintf("jobs that %s starts for %s may lock %s", proc.Comm, service, size(limit.Soft)),
		Evidence: []Evidence{memlockEvidence(strconv.Itoa(proc.PID), limit)},
		Params: params("limit", strconv.FormatUint(limit.Soft, 10), "service", service, "unit", proc.Unit,
			"pid", strconv.Itoa(proc.PID)),
	}
	if enough(s.Self.Limits["memlock"]) {
		f.Message += ", while a shell may lock more"
	}
	if u, ok := unit(s, proc.Unit); ok {
		f.Evidence = append(f.Evidence, unitEvidence(u, "LimitMEMLOCK"))
	}
	if f.Severity == Warn && limit.Soft >= memlockDefault && slices.Contains(containers, service) {
		f.Severity = Info
	}
	p.Report(f)
}
