package checks

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/status"
)

var keysEnforced = register(&Check{
	ID:    "keys-enforced",
	Title: "accesses that are not allowed are refused",
	Doc: "A wrong or stale key, an address out of range, a right that was not given and a missing receive must be refused by " +
		"the responder's NIC, with status 10, 9 or 13. On iWARP a WRITE succeeds where it was sent and the refusal shows as an " +
		"event and as memory that stayed as it was.",
	Layer: Verbs,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA},
	Codes: []string{"rkey-not-enforced", "refusal-misreported"},
	Params: Params{
		"rkey-not-enforced":   ladderParams,
		"refusal-misreported": ladderParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA)
		for l := range p.Ladders() {
			if len(l.Refused) == 0 {
				p.notReached(l, "accesses that must be refused")
				continue
			}
			judgeCanary(p, s, l)
			for i := range l.Refused {
				judgeRefusal(p, s, l, &l.Refused[i])
			}
		}
	},
})

// refusedWith are the statuses that refuse each access. Where a right is missing
// some devices call the request invalid: the QP's own flags lack it too.
var refusedWith = map[string][]int{
	"wrong-rkey": {10}, "stale-rkey": {10}, "out-of-range": {10},
	"no-remote-write": {10, 9}, "no-remote-read": {10, 9}, "no-remote-atomic": {10, 9},
	"no-receive": {13},
}

// accessTitles are the accesses in words.
var accessTitles = map[string]string{
	"wrong-rkey": "with a wrong rkey", "stale-rkey": "with the rkey of a region that is gone", "out-of-range": "out of the region's range",
	"no-remote-write": "without IBV_ACCESS_REMOTE_WRITE", "no-remote-read": "without IBV_ACCESS_REMOTE_READ",
	"no-remote-atomic": "without IBV_ACCESS_REMOTE_ATOMIC", "no-receive": "without a receive posted",
}

// judgeCanary judges the memory around what was asked for.
func judgeCanary(p *Pass, s *facts.Snapshot, l *facts.Ladder) {
	changed, ok := l.Canary.Get()
	if !ok {
		return
	}
	p.Examine(1)
	if !changed {
		return
	}
	at := endOfLadder(s, l)
	p.Report(Finding{
		Code: "rkey-not-enforced", Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where,
		Message:  "memory that no access was allowed to was written",
		Evidence: []Evidence{{"probe " + l.Probe + ": pattern outside of the region", "changed"}},
		Params:   at.Params(),
	})
}

func judgeRefusal(p *Pass, s *facts.Snapshot, l *facts.Ladder, st *facts.ProbeStep) {
	p.Examine(1)
	at := endOfLadder(s, l)
	op := orUnnamed(st.Op, "access")
	f := Finding{
		Code: "rkey-not-enforced", Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where,
		Params: at.Params("step", st.Name, "op", st.Op),
	}
	what := op + " " + orUnnamed(accessTitles[st.Name], st.Name)
	source := "probe " + l.Probe + ": " + what
	got, told := 0, false
	if st.Error != nil {
		got, told = st.Error.WCStatus.Get()
	}
	switch {
	case st.Error == nil && iWARP(&l.Path):
		// That it was sent is all that success says here; the canary tells.
		if !l.Canary.Known() {
			p.Unread(at.Subject, "memory after a "+what)
		}
		return
	case st.Error == nil && st.Name == "no-receive":
		f.Code = "refusal-misreported"
		f.Message = "a send without a receive posted was acknowledged"
		f.Evidence = []Evidence{{source, "it completed with success"}}
	case st.Error == nil:
		f.Message = fmt.Sprintf("a %s succeeded and had to be refused", what)
		f.Evidence = []Evidence{{source, "it completed with success"}}
	case iWARP(&l.Path), !told && st.Error.Event != "":
		return // An event or a flush is how it is refused there.
	case !told:
		p.Unread(at.Subject, fmt.Sprintf("answer to a %s (%s)", what, errorText(st.Error)))
		return
	case slices.Contains(refusedWith[st.Name], got) || len(refusedWith[st.Name]) == 0:
		return
	default:
		f.Code, f.Severity = "refusal-misreported", Warn
		want := refusedWith[st.Name][0]
		gotName, _ := status.Of(got)
		wantName, _ := status.Of(want)
		f.Message = fmt.Sprintf("a %s was refused with status %d (%s), not with %d (%s)", what, got, gotName.Text, want, wantName.Text)
		f.Evidence = []Evidence{{source, errorText(st.Error)}}
		f.Params["status"] = fmt.Sprint(got)
	}
	p.Report(f)
}
