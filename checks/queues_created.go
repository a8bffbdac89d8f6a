package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/status"
)

var queuesCreated = register(&Check{
	ID:    "queues-created",
	Title: "the device opens and gives queues",
	Doc: "Opening a device, a protection domain, completion queues and queue pairs need nothing of the network: what refuses " +
		"them is permission, the limit on locked memory (rings are pinned too), a limit of the device or of a cgroup, or an " +
		"attribute beyond what the provider has.",
	Layer: Verbs,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.RDMANetlink, facts.ProcLimits, facts.RDMACgroup, facts.UnitFiles},
	Codes: []string{"verbs-call-failed", "qp-inline-too-large", "qp-limit", "rdma-cgroup-limit", "memlock-low", "memlock-zero",
		"nofile-low"},
	Params: Params{
		"verbs-call-failed":   ladderParams,
		"qp-inline-too-large": ladderParams,
		"qp-limit":            objectParams,
		"rdma-cgroup-limit":   cgroupParams,
		"memlock-low":         memlockParams,
		"memlock-zero":        memlockParams,
		"nofile-low":          "limit pid? user? unit? rule_file?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA, facts.RDMANetlink, facts.ProcLimits, facts.RDMACgroup, facts.UnitFiles)
		for l := range p.Ladders() {
			if !made(l, "open") {
				p.notReached(l, "opening the device")
				continue
			}
			p.Examine(1)
			if st := failedStep(l, "open", "query-device", "query-port", "alloc-pd", "create-comp-channel", "create-cq", "create-qp",
				"dereg-mr", "destroy-qp"); st != nil {
				judgeCreation(p, s, l, st)
			}
		}
	},
})

// kinds are the objects that steps make, as rdma(8) counts them.
var kinds = map[string]string{"open": "ctx", "alloc-pd": "pd", "create-cq": "cq", "create-qp": "qp"}

func judgeCreation(p *Pass, s *facts.Snapshot, l *facts.Ladder, st *facts.ProbeStep) {
	at, err := endOfLadder(s, l), st.Error
	f := Finding{
		Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where, Evidence: []Evidence{stepEvidence(l, st)},
		Params: at.Params("step", st.Name, "errno", err.Name),
	}
	refused := fmt.Sprintf("%s was refused with %s", stepTitle(st.Name), err.Name)
	errno := err.Errno
	v := worked(l, st.Name)
	if v != nil {
		f.Evidence = append(f.Evidence, variedEvidence(l, v))
		f.Params["attribute"], f.Params["from"], f.Params["to"] = v.Attribute, v.From, v.To
	}
	pinned := st.Name == "create-cq" || st.Name == "create-qp"
	switch {
	case v != nil && v.Attribute == "max_inline_data":
		f.Code = "qp-inline-too-large"
		f.Message = fmt.Sprintf("a queue pair with %s bytes of inline data was refused with %s, one with %s is made", v.From, err.Name, v.To)
	case pinned && limitRefuses(s, errno):
		blameMemlock(s, &f, refused, true)
	case errno == status.EAGAIN:
		blameCgroup(s, &f, at, refused)
	case errno == status.EMFILE:
		f.Code, f.Message = "nofile-low", refused+": the process may open no more files"
		f.Subject, f.Where = hostSubject, Where{}
		f.Params = params("limit", "unknown", "user", s.Self.User)
		if limit, ok := s.Self.Limits["nofile"]; ok {
			f.Params["limit"] = strconv.FormatUint(limit.Soft, 10)
			f.Evidence = append(f.Evidence, Evidence{"/proc/self/limits", "Max open files " + limitText(limit)})
		}
	case errno == status.ENOMEM && kinds[st.Name] != "":
		f.Code, f.Confidence = "qp-limit", Likely
		f.Message = refused + ": the device or its firmware has no more of them"
		f.Params = at.objects(kinds[st.Name], map[string]int{"pd": l.Limits.MaxPD, "cq": l.Limits.MaxCQ, "qp": l.Limits.MaxQP}[kinds[st.Name]])
		if used, limit := f.Params["used"], f.Params["limit"]; used != "" && limit != "" {
			f.Evidence = append(f.Evidence, Evidence{"rdma resource show", fmt.Sprintf("%s of %s: %s of %s", kinds[st.Name], at.Device, used, limit)})
		}
	default:
		callFailed(&f, st.Name, err)
		if v != nil {
			f.Confidence = Proved
			f.Message += fmt.Sprintf("; with %s %s instead of %s it works", v.Attribute, v.To, v.From)
		}
	}
	p.Report(f)
}
