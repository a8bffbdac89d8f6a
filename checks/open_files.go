package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var openFiles = register(&Check{
	ID:    "open-files",
	Title: "RDMA programs may open enough files",
	Doc: "Every device, completion channel and rdma_cm channel is a file descriptor, and programs often open one a " +
		"connection. At the limit connecting fails with EMFILE, which few programs name.",
	Layer: Limits,
	Needs: []facts.Source{facts.SysfsRDMA, facts.ProcessList},
	Uses:  []facts.Source{facts.ProcLimits, facts.UnitFiles},
	Codes: []string{"nofile-low"},
	Params: Params{
		"nofile-low": "limit pid? user? unit? rule_file?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.ProcessList, facts.ProcLimits, facts.UnitFiles)
		if len(s.Devices) == 0 {
			p.Otherwise(noDevice)
			return
		}
		p.Otherwise("no process uses RDMA or launches jobs that do")
		for _, proc := range byPID(s) {
			service, launcher := launches(proc.Services)
			if len(proc.Uverbs) == 0 && !launcher {
				continue
			}
			p.Examine(1)
			limit, ok := proc.Limits["nofile"]
			if !ok {
				p.Unread(fmt.Sprintf("pid %d", proc.PID), "nofile limit")
				continue
			}
			if limit.SoftUnlimited {
				continue
			}
			judgeFiles(p, s, proc, limit, service)
		}
	},
})

const (
	// filesDefault is the soft limit that programs start with where nobody set
	// one (INR_OPEN_CUR). Less was set by someone.
	filesDefault = 1024
	// A program at nine tenths has no room for the next peers.
	filesFull = 0.9
)

func judgeFiles(p *Pass, s *facts.Snapshot, proc *facts.Process, limit facts.Limit, service string) {
	open, counted := proc.Files.Get()
	full := counted && float64(open) >= filesFull*float64(limit.Soft)
	if !full && limit.Soft >= filesDefault {
		return
	}
	pid := strconv.Itoa(proc.PID)
	f := Finding{
		Code: "nofile-low", Severity: Warn, Subject: "pid " + pid, Confidence: Proved, Where: Where{PID: proc.PID},
		Message:  fmt.Sprintf("%s may open %d files", proc.Comm, limit.Soft),
		Evidence: []Evidence{{"/proc/" + pid + "/limits", "Max open files " + limitText(limit) + " files"}},
		Params:   params("limit", strconv.FormatUint(limit.Soft, 10), "pid", pid, "user", proc.User),
	}
	if service != "" {
		f.Message = fmt.Sprintf("jobs that %s starts for %s may open %d files", proc.Comm, service, limit.Soft)
	}
	if counted {
		f.Message += fmt.Sprintf(", and has %d open", open)
		f.Evidence = append(f.Evidence, Evidence{"/proc/" + pid + "/fd", fmt.Sprintf("%d entries", open)})
	}
	if full {
		f.Severity = Fail
	}
	if u, ok := unit(s, proc.Unit); ok {
		f.Params["unit"] = u.Name
		f.Evidence = append(f.Evidence, unitEvidence(u, "LimitNOFILE"))
	} else if r, ok := limitRule(s.Limits, proc.User, "nofile", limit.Soft); ok {
		f.Params["rule_file"] = r.File
		f.Evidence = append(f.Evidence, ruleEvidence(r))
	}
	p.Report(f)
}
