package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/status"
)

var cmConnects = register(&Check{
	ID:    "cm-connects",
	Title: "rdma_cm connects by address",
	Doc: "rdma_cm looks up the device by the route to an address, then asks the peer's connection manager over QP1 or, for " +
		"iWARP, over TCP. Each step fails in a way of its own: no route, no neighbour, nobody who answers, or an answer that " +
		"says no and why.",
	Layer: Verbs,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA},
	Codes: []string{"cm-address-error", "cm-rejected", "cm-unreachable", "no-route-to-peer", "no-neighbour"},
	Params: Params{
		"cm-address-error": ladderParams,
		"cm-rejected":      ladderParams + " reason?",
		"cm-unreachable":   ladderParams,
		"no-route-to-peer": noRouteParams,
		"no-neighbour":     noNeighbourParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA)
		steps := []string{"listen", "resolve-addr", "resolve-route", "connect", "accept", "established"}
		for l := range p.Ladders() {
			if !made(l, steps...) {
				p.notReached(l, "rdma_cm")
				continue
			}
			p.Examine(1)
			if st := failedStep(l, steps...); st != nil {
				judgeCM(p, s, l, st)
			}
		}
	},
})

func judgeCM(p *Pass, s *facts.Snapshot, l *facts.Ladder, st *facts.ProbeStep) {
	at, err := endOfLadder(s, l), st.Error
	errno := cmErrno(err)
	name := err.Name
	if name == "" && errno != 0 {
		name = status.ErrnoName(errno)
	}
	f := Finding{
		Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where, Evidence: []Evidence{stepEvidence(l, st)},
		Params: at.Params("step", st.Name, "errno", name, "tool", tools[st.Name]),
	}
	peer := orUnnamed(at.Peer, "the peer")
	resolving := st.Name == "resolve-addr" || st.Name == "resolve-route"
	reason, told := err.Reason.Get()
	switch {
	case resolving && (errno == status.ENETUNREACH || errno == status.EHOSTUNREACH):
		f.Code, f.Message = "no-route-to-peer", "rdma_cm finds no route to "+peer
		f.Params = at.portParams("peer", at.Peer)
	case st.Name == "resolve-addr" && errno == status.ETIMEDOUT:
		f.Code, f.Message = "no-neighbour", "rdma_cm got no MAC address of "+peer+" or of the gateway"
		f.Params = at.portParams("peer", at.Peer)
	case resolving || st.Name == "listen":
		f.Code = "cm-address-error"
		f.Message = fmt.Sprintf("rdma_cm failed at %s with %s", stepTitle(st.Name), orUnnamed(name, "no errno"))
		if st.Name == "resolve-route" && errno == status.ETIMEDOUT {
			f.Message += ": the subnet manager did not answer"
		}
		addCauses(&f, st.Name, errno)
	case told && reason > 0 && err.Event != "RDMA_CM_EVENT_UNREACHABLE":
		means, known := status.Reject(reason)
		if !known {
			means = "a reason that is not known"
		}
		f.Code, f.Message = "cm-rejected", fmt.Sprintf("%s rejected the connection, reason %d: %s", peer, reason, means)
		f.Params["reason"] = fmt.Sprint(reason)
	case err.Event == "RDMA_CM_EVENT_REJECTED", errno == status.ECONNREFUSED, errno == status.ECONNRESET:
		f.Code, f.Message = "cm-rejected", fmt.Sprintf("%s rejected the connection with %s", peer, orUnnamed(name, "no reason"))
		if iWARP(&l.Path) {
			f.Message += ": nobody listens on that TCP port there"
		}
	default:
		f.Code, f.Message = "cm-unreachable", peer+" did not answer the connection request"
		if !err.TimedOut && errno != 0 {
			f.Message += " (" + orUnnamed(name, "no errno") + ")"
		}
		addCauses(&f, st.Name, errno)
	}
	p.Report(f)
}

// cmErrno is the errno of a step of rdma_cm: that of the call, or that of the
// event, which is negative.
func cmErrno(err *facts.StepError) int {
	if r, ok := err.Reason.Get(); ok && r < 0 {
		return -r
	}
	return err.Errno
}
