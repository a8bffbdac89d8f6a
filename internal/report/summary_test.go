package report

import (
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

func result(id string, s checks.Status, findings ...checks.Finding) checks.Result {
	return checks.Result{ID: id, Layer: checks.Link, Status: s, Findings: findings}
}

func finding(code string, sev checks.Severity) checks.Finding {
	return checks.Finding{Code: code, Severity: sev, Subject: "mlx5_0/1", Message: "seen and wanted"}
}

func diagnosis(code string, sev checks.Severity, imp knowledge.Impact) knowledge.Diagnosis {
	return knowledge.Diagnosis{Code: code, Severity: sev, Impact: imp, Subject: "mlx5_0/1", Title: "title of " + code}
}

func TestSummarize(t *testing.T) {
	pass := result("a", checks.Passed)
	warn := result("b", checks.Warned, finding("memlock-low", checks.Warn))
	fail := result("c", checks.Failed, finding("port-no-carrier", checks.Fail))
	unknown := checks.Result{ID: "d", Status: checks.Unknown, Reason: "link was not read"}
	skip := result("e", checks.Skipped)
	unseen := checks.Result{ID: "rdma-device", Status: checks.Unknown, Reason: "sysfs was not read"}
	portless := checks.Result{ID: "rdma-device", Status: checks.Unknown, Reason: "ports were not read", Examined: 1}
	none := result("f", checks.Skipped, finding("no-rdma-device", checks.Info))
	dWarn := diagnosis("memlock-low", checks.Warn, knowledge.Degraded)
	dFail := diagnosis("port-no-carrier", checks.Fail, knowledge.Down)
	dRisk := diagnosis("port-no-carrier", checks.Fail, knowledge.AtRisk)
	dGPU := diagnosis("gpu-fault", checks.Fail, knowledge.Down)
	dNone := diagnosis("no-rdma-device", checks.Info, knowledge.None)
	dNIC := diagnosis("rnic-without-driver", checks.Info, knowledge.None)
	dNIC.Findings = []knowledge.FindingRef{{Code: "rnic-without-driver", Subject: "mlx5_0/1"}, {Code: "no-rdma-device", Subject: "host"}}
	dHost := dWarn
	dHost.Subject = "host"
	err := func(k ErrorKind) *Error { return &Error{Kind: k, Message: "why"} }

	for _, tc := range []struct {
		name   string
		rs     []checks.Result
		ds     []knowledge.Diagnosis
		err    *Error
		failOn checks.Severity
		status string
		exit   int
		advice Advice
		reason string // part of it, with $ its end
	}{
		{"healthy", rs(pass, skip), nil, nil, "", StatusPass, 0, Keep, "1 check passed"},
		{"healthy, one blind", rs(pass, unknown), nil, nil, "", StatusPass, 0, Keep, "1 check passed, 1 could not look"},
		{"mostly blind", rs(pass, unknown, unknown), nil, nil, "", StatusPass, 0, Keep, "nothing is known against it, but only 1 of 3 checks could look"},
		{"warn", rs(pass, warn), ds(dWarn), nil, checks.Warn, StatusWarn, 1, Keep, "it works, but: title of memlock-low (mlx5_0/1)"},
		{"warn, no page", rs(pass, warn), nil, nil, checks.Warn, StatusWarn, 1, Keep, "seen and wanted"},
		{"warn, --fail-on fail", rs(pass, warn), ds(dWarn), nil, checks.Fail, StatusWarn, 0, Keep, "title of memlock-low"},
		{"fail", rs(pass, warn, fail), ds(dFail, dWarn), nil, "", StatusFail, 2, Drain, "title of port-no-carrier"},
		{"fail, --fail-on fail", rs(pass, fail), ds(dFail), nil, checks.Fail, StatusFail, 2, Drain, "title"},
		{"fail, no page", rs(fail), nil, nil, "", StatusFail, 2, Drain, "seen and wanted"},
		{"fail that works now", rs(pass, fail), ds(dRisk), nil, "", StatusFail, 2, Keep, "it works, but"},
		{"not the network", rs(pass, fail), ds(dGPU), nil, "", StatusFail, 2, NotRDMA, "gpu-fault"},
		{"both", rs(pass, fail), ds(dGPU, dFail), nil, "", StatusFail, 2, Drain, "port-no-carrier"},
		{"no RDMA", rs(pass, none), ds(dNone), nil, "", StatusUnknown, 3, NotRDMA, "title of no-rdma-device"},
		{"no RDMA, explained", rs(pass, none), ds(dNIC), nil, "", StatusUnknown, 3, NotRDMA, "title of rnic-without-driver"},
		{"of the whole host", rs(pass, warn), ds(dHost), nil, "", StatusWarn, 1, Keep, "it works, but: title of memlock-low$"},
		{"no RDMA, no page", rs(pass, none), nil, nil, "", StatusUnknown, 3, NotRDMA, "no RDMA device"},
		{"no RDMA and a warning", rs(none, warn), ds(dWarn, dNone), nil, "", StatusWarn, 1, NotRDMA, "no-rdma-device"},
		{"devices unseen", rs(pass, unseen), nil, nil, "", StatusUnknown, 3, NoIdea, "no RDMA device could be looked at: sysfs was not read"},
		{"devices unseen and a warning", rs(unseen, warn), ds(dWarn), nil, "", StatusWarn, 1, Keep, "it works, but"},
		{"a device without ports", rs(pass, portless), nil, nil, "", StatusPass, 0, Keep, "1 could not look"},
		{"nothing judged", rs(unknown, skip), nil, nil, "", StatusUnknown, 3, NoIdea, "d: link was not read"},
		{"nothing at all", nil, nil, nil, "", StatusUnknown, 3, NoIdea, "nothing was examined"},
		{"time ran out", rs(pass, unknown), nil, err(TimeoutError), "", StatusUnknown, 3, NoIdea, "why"},
		{"time ran out, found", rs(pass, fail), ds(dFail), err(TimeoutError), "", StatusFail, 2, Drain, "title"},
		{"interrupted", rs(pass), nil, err(InterruptedError), "", StatusInterrupted, 130, NoIdea, "why"},
		{"interrupted, found", rs(fail), ds(dFail), err(InterruptedError), "", StatusInterrupted, 130, Drain, "title"},
		{"usage", nil, nil, err(UsageError), "", StatusError, 64, NoIdea, "why"},
		{"internal", rs(fail), ds(dFail), err(InternalError), "", StatusError, 70, NoIdea, "why"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := Summarize(tc.rs, tc.ds, tc.err, tc.failOn)
			if s.Status != tc.status || s.ExitCode != tc.exit {
				t.Errorf("status %s exit %d, want %s %d", s.Status, s.ExitCode, tc.status, tc.exit)
			}
			if s.Advice != tc.advice || !strings.Contains(s.AdviceReason+"$", tc.reason) {
				t.Errorf("advice %s: %q, want %s: …%q…", s.Advice, s.AdviceReason, tc.advice, tc.reason)
			}
			if n := s.Pass + s.Warn + s.Fail + s.Skip + s.Unknown; n != len(tc.rs) {
				t.Errorf("%d results counted, want %d", n, len(tc.rs))
			}
		})
	}
}

func rs(r ...checks.Result) []checks.Result             { return r }
func ds(d ...knowledge.Diagnosis) []knowledge.Diagnosis { return d }

func TestAStatusOfALaterVersionIsNotHealth(t *testing.T) {
	if s := Summarize(rs(result("a", "splendid")), nil, nil, ""); s.Unknown != 1 || s.ExitCode != ExitUnknown {
		t.Errorf("unknown %d exit %d, want 1 and %d", s.Unknown, s.ExitCode, ExitUnknown)
	}
}
