package checks

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/status"
)

var dataArrives = register(&Check{
	ID:    "data-arrives",
	Title: "data sent by RDMA arrives, whole",
	Doc: "WRITE, READ, SEND and atomics move a pattern and compare it. The first completion that is not a flush says what " +
		"went wrong and on which side; status 12 alone does not say whether packets were lost, were too long for the path or " +
		"met nobody, so sizes, path MTU and the counters of both ends are asked as well.",
	Layer: Verbs,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.Links},
	Codes: []string{"retry-exceeded", "path-mtu-blackhole", "roce-filtered", "gid-index-wrong-type", "rnr-exceeded", "rkey-denied",
		"remote-invalid-request", "remote-operation-error", "local-protection-error", "local-length-error",
		"local-qp-operation-error", "memory-window-error", "bad-response", "remote-aborted", "device-fatal", "cq-overrun",
		"response-timeout", "general-error", "flush-only", "qp-error-state", "corruption", "atomics-unsupported", "verbs-call-failed"},
	Params: Params{
		"retry-exceeded": ladderParams, "path-mtu-blackhole": ladderParams + " mtu?", "roce-filtered": filterParams,
		"gid-index-wrong-type": pinParams, "rnr-exceeded": ladderParams, "rkey-denied": ladderParams,
		"remote-invalid-request": requestParams, "remote-operation-error": requestParams,
		"local-protection-error": ladderParams, "local-length-error": requestParams,
		"local-qp-operation-error": ladderParams, "memory-window-error": ladderParams, "bad-response": ladderParams,
		"remote-aborted": ladderParams, "device-fatal": ladderParams, "cq-overrun": ladderParams, "response-timeout": ladderParams,
		"general-error": ladderParams, "flush-only": ladderParams, "qp-error-state": ladderParams, "corruption": requestParams,
		"atomics-unsupported": ladderParams, "verbs-call-failed": ladderParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA, facts.Links)
		for l := range p.Ladders() {
			if !made(l, transfers...) {
				p.notReached(l, "moving data")
				continue
			}
			judgeTransfers(p, s, l)
		}
		told := map[string]bool{} // What ends one measurement of a pair ends them all.
		for m := range p.Measurements() {
			if m.Failed == nil || !m.Failed.WCStatus.Known() && !m.Failed.TimedOut {
				continue // Its queue pair was not made, which the ladder says.
			}
			key := fmt.Sprint(pairKey(m), m.Failed.WCStatus)
			if !told[key] {
				told[key] = true
				judgeTransfers(p, s, asLadder(m))
			}
		}
	},
})

const filterParams = "device port netdev? pci? family? table? chain? hook? peer? gid_index? tool?"

// transfers are the steps that move data.
var transfers = []string{"write", "read", "send", "recv", "fetch-add", "cmp-swap"}

// asLadder is a measurement that failed, as a ladder of the one transfer.
func asLadder(m *facts.Measurement) *facts.Ladder {
	l := &facts.Ladder{Probe: m.Probe, Local: m.Local, Remote: m.Remote, Moved: m.Moved, Events: m.Events,
		Steps: []facts.ProbeStep{{Name: m.Op, Bytes: m.SizeBytes, Error: m.Failed}}}
	if m.Path != nil {
		l.Path = *m.Path
	}
	return l
}

// A transfer is one failed transfer, as it is judged.
type transfer struct {
	*Finding
	snap   *facts.Snapshot
	ladder *facts.Ladder
	step   *facts.ProbeStep
	at     end
	status int // -1: none was told
}

func judgeTransfers(p *Pass, s *facts.Snapshot, l *facts.Ladder) {
	var failed *facts.ProbeStep
	for i := range l.Steps {
		st := &l.Steps[i]
		if !slices.Contains(transfers, st.Name) {
			continue
		}
		p.Examine(1)
		if same, ok := st.Verified.Get(); ok && !same {
			reportCorruption(p, s, l, st)
		}
		if st.Error == nil {
			continue
		}
		// Flushes follow from the first error, which is the cause.
		if failed == nil || flushed(failed) && !flushed(st) {
			failed = st
		}
	}
	if failed == nil {
		return
	}
	at := endOfLadder(s, l)
	tool := tools[failed.Name]
	f := Finding{
		Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where, Evidence: []Evidence{stepEvidence(l, failed)},
	}
	t := transfer{&f, s, l, failed, at, failed.Error.WCStatus.Or(-1)}
	f.Params = at.Params("step", failed.Name, "op", failed.Name, "size", positiveText(failed.Bytes), "tool", tool)
	if t.status >= 0 {
		f.Params["status"] = strconv.Itoa(t.status)
	}
	t.provider()
	for _, e := range l.Events {
		text := e.Name
		if known, ok := status.EventOf(e.Name); ok {
			text += ": " + known.Means
		}
		f.Evidence = append(f.Evidence, Evidence{"asynchronous event during the probe", text})
	}
	t.judge()
	p.Report(f)
}

// flushed reports whether a step failed as a consequence of another.
func flushed(st *facts.ProbeStep) bool { return st.Error.WCStatus.Or(-1) == 5 }

func reportCorruption(p *Pass, s *facts.Snapshot, l *facts.Ladder, st *facts.ProbeStep) {
	at := endOfLadder(s, l)
	p.Report(Finding{
		Code: "corruption", Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where,
		Message:  fmt.Sprintf("a %s of %s completed with success, and what arrived is not what was sent", st.Name, size(uint64(max(st.Bytes, 0)))),
		Evidence: []Evidence{{"probe " + l.Probe + ", step " + st.Name + ": pattern compared", "differs"}},
		Params:   at.portParams("side", st.Role),
	})
}

// provider adds what the provider's own number means.
func (t transfer) provider() {
	if t.step.Error.VendorErr == 0 || t.at.Port == nil {
		return
	}
	name := t.at.Port.Device.Provider.Or("")
	if v, ok := status.VendorErr(name, t.step.Error.VendorErr, t.status); ok {
		t.Evidence = append(t.Evidence, Evidence{fmt.Sprintf("vendor_err %#x of %s (%s)", v.Value, name, v.Authority), v.Meaning})
	}
}

// plain are the statuses that one code answers, whatever the step.
var plain = map[int]string{
	1: "local-length-error", 2: "local-qp-operation-error", 4: "local-protection-error", 6: "memory-window-error", 7: "bad-response",
	8: "local-protection-error", 9: "remote-invalid-request", 10: "rkey-denied", 11: "remote-operation-error", 13: "rnr-exceeded",
	16: "remote-aborted", 19: "device-fatal", 20: "response-timeout", 21: "general-error",
}

func (t transfer) judge() {
	name := t.step.Name
	what := fmt.Sprintf("a %s of %s", name, size(uint64(max(t.step.Bytes, 0))))
	if t.step.Bytes <= 0 {
		what = "a " + name
	}
	if t.step.Role == "responder" {
		what += ", seen by the responder,"
	}
	c, known := status.Of(t.status)
	atomic := name == "fetch-add" || name == "cmp-swap"
	switch {
	case t.event("IBV_EVENT_DEVICE_FATAL"):
		t.Code, t.Message = "device-fatal", what+" failed as the device reported a fatal error"
	case t.event("IBV_EVENT_CQ_ERR"):
		t.Code, t.Message = "cq-overrun", what+" failed as a completion queue overflowed"
	case atomic && t.ladder.Limits.AtomicCap == "IBV_ATOMIC_NONE":
		t.Code, t.Severity, t.Message = "atomics-unsupported", Info, what+" failed: the device has no atomics"
		t.Evidence = append(t.Evidence, Evidence{"ibv_query_device atomic_cap", t.ladder.Limits.AtomicCap})
	case t.status == 12, t.status < 0 && t.step.Error.TimedOut:
		t.unanswered(what)
	case t.status == 5 && t.event("IBV_EVENT_QP_REQ_ERR"), t.status == 5 && t.event("IBV_EVENT_QP_ACCESS_ERR"):
		t.Code = "remote-invalid-request"
		if t.event("IBV_EVENT_QP_ACCESS_ERR") {
			t.Code = "rkey-denied"
		}
		t.Message = what + " was flushed: this end refused the peer's request and its QP went to ERROR"
	case t.status == 5:
		t.Code, t.Confidence, t.Message = "flush-only", Likely, what+" was flushed, and no completion told the first error"
	case plain[t.status] != "":
		t.Code = plain[t.status]
		t.Message = fmt.Sprintf("%s failed with status %d (%s)", what, t.status, c.Text)
	case known:
		t.Code, t.Message = "general-error", fmt.Sprintf("%s failed with status %d (%s)", what, t.status, c.Text)
	case t.step.Error.QPState == "ERR", t.step.Error.QPState == "SQE":
		t.Code, t.Message = "qp-error-state", what+" failed: the QP is in "+t.step.Error.QPState
	default:
		callFailed(t.Finding, name, t.step.Error)
	}
	if known && len(c.Causes) > 0 && (plain[t.status] == t.Code || t.Code == "flush-only") {
		t.Evidence = append(t.Evidence, Evidence{fmt.Sprintf("likeliest cause of status %d", t.status), c.Causes[0].Cause})
	}
	switch t.Code { // These share their parameters with the checks of counters.
	case "remote-invalid-request", "remote-operation-error", "local-length-error":
		t.Params = t.at.portParams("side", t.step.Role)
	}
}

// event reports whether an asynchronous event came during the probe.
func (t transfer) event(name string) bool {
	return slices.ContainsFunc(t.ladder.Events, func(e facts.AsyncEvent) bool { return e.Name == name })
}
