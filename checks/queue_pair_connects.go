package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/status"
)

var queuePairConnects = register(&Check{
	ID:    "queue-pair-connects",
	Title: "queue pairs reach RTS",
	Doc: "A queue pair goes from INIT to RTR to RTS. At RTR the kernel checks the GID index and, for RoCE, looks up route " +
		"and neighbour from the GID's netdev; on InfiniBand it asks nobody. A wrong packet sequence number, remote QP number or " +
		"key is not checked here at all: those fail the first transfer.",
	Layer: Verbs,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.RoutesSource, facts.NeighSource},
	Codes: []string{"qp-transition-failed", "gid-index-empty", "gid-index-wrong-type", "gid-index-not-usable-here",
		"gid-only-link-local", "grh-required", "lid-on-ethernet", "pkey-limited", "no-route-to-peer", "no-neighbour"},
	Params: Params{
		"qp-transition-failed":      ladderParams,
		"gid-index-empty":           pinParams,
		"gid-index-wrong-type":      pinParams,
		"gid-index-not-usable-here": pinParams,
		"gid-only-link-local":       linkLocalParams,
		"grh-required":              ladderParams,
		"lid-on-ethernet":           ladderParams,
		"pkey-limited":              "device port netdev? pci? pkey? pkey_index?",
		"no-route-to-peer":          noRouteParams,
		"no-neighbour":              noNeighbourParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA, facts.RoutesSource, facts.NeighSource)
		for l := range p.Ladders() {
			if !made(l, "init", "rtr", "rts") {
				p.notReached(l, "connecting a queue pair")
				continue
			}
			p.Examine(1)
			if st := failedStep(l, "init", "rtr", "rts"); st != nil {
				judgeTransition(p, s, l, st)
			}
		}
	},
})

const (
	linkLocalParams   = "device port netdev? pci? gid_index?"
	noRouteParams     = "device port netdev? pci? subnet? address? peer?"
	noNeighbourParams = "device port netdev? pci? peer?"
)

// A transition is one failed move of a queue pair, as it is judged.
type transition struct {
	*Finding
	ladder  *facts.Ladder
	step    *facts.ProbeStep
	at      end
	refused string
}

func judgeTransition(p *Pass, s *facts.Snapshot, l *facts.Ladder, st *facts.ProbeStep) {
	at, err := endOfLadder(s, l), st.Error
	f := Finding{
		Severity: Fail, Subject: at.Subject, Confidence: Proved, Where: at.Where, Evidence: []Evidence{stepEvidence(l, st)},
		Params: at.Params("step", st.Name, "errno", err.Name),
	}
	t := transition{&f, l, st, at, fmt.Sprintf("%s was refused with %s", stepTitle(st.Name), err.Name)}
	if dgid := l.Path.DGID; dgid != "" {
		f.Evidence = append(f.Evidence, Evidence{"path of the queue pair", pathText(&l.Path)})
	}
	v := worked(l, st.Name)
	if v != nil {
		f.Evidence = append(f.Evidence, variedEvidence(l, v))
	}
	roce := l.Path.Transport != "InfiniBand" && l.Path.Transport != "iWARP"
	errno := err.Errno
	switch {
	case st.Name == "rtr" && roce && t.gid(errno, v):
	case v != nil && v.Attribute == "is_global" && (v.To == "true" || v.To == "1"):
		f.Code, f.Message = "grh-required", t.refused+": without a GRH it fails, with one it works"
		if roce && l.Path.DLID.Or(0) > 0 {
			f.Code = "lid-on-ethernet"
			f.Message = fmt.Sprintf("%s: LID %d is an InfiniBand address, and this port is Ethernet", t.refused, l.Path.DLID.Or(0))
		}
	case v != nil && v.Attribute == "pkey_index":
		f.Code = "pkey-limited"
		f.Message = fmt.Sprintf("%s at pkey_index %s, and works at %s", t.refused, v.From, v.To)
		f.Params = at.portParams("pkey_index", v.To)
	case roce && (errno == status.ENETUNREACH || errno == status.EHOSTUNREACH):
		f.Code = "no-route-to-peer"
		f.Message = fmt.Sprintf("%s: no route from %s to %s", t.refused, orUnnamed(l.Path.Netdev, "the GID's netdev"), orUnnamed(l.Path.DGID, "the peer"))
		f.Params = at.portParams("peer", at.Peer)
	case roce && errno == status.ETIMEDOUT:
		f.Code = "no-neighbour"
		f.Message = fmt.Sprintf("%s: %s did not tell its MAC address on %s", t.refused, orUnnamed(l.Path.DGID, "the peer"),
			orUnnamed(l.Path.Netdev, "the GID's netdev"))
		f.Params = at.portParams("peer", at.Peer)
	case roce && errno == status.ENODEV:
		f.Code = "gid-index-not-usable-here"
		f.Message = t.refused + ": the netdev of the GID belongs to another network namespace or is gone"
		f.Params = at.portParams("gid_index", f.Params["gid_index"])
	default:
		f.Code, f.Message, f.Confidence = "qp-transition-failed", t.refused, Likely
		if v != nil {
			f.Confidence = Proved
			f.Message += fmt.Sprintf("; with %s %s instead of %s it works", v.Attribute, v.To, v.From)
			f.Params["attribute"], f.Params["from"], f.Params["to"] = v.Attribute, v.From, v.To
		} else {
			not := "InfiniBand"
			if !roce {
				not = "RoCE"
			}
			addCauses(&f, st.Name, err.Errno, not)
		}
	}
	p.Report(f)
}

// portParams are the parameters of the port alone, and further ones.
func (e end) portParams(pairs ...string) map[string]string {
	m := e.Params()
	return params(append([]string{"device", m["device"], "port", m["port"], "netdev", m["netdev"], "pci", m["pci"]}, pairs...)...)
}

// gid judges the GID index that a RoCE queue pair was moved to RTR with, and
// reports whether it is what is wrong.
func (t transition) gid(errno int, v *facts.Variation) bool {
	index, ok := t.ladder.Path.SGIDIndex.Get()
	if !ok {
		return false
	}
	other := ""
	if v != nil && v.Attribute == "sgid_index" {
		other = v.To
	}
	fill := func(code, message string) bool {
		t.Code, t.Message = code, message
		t.Params = t.at.portParams("gid_index", strconv.Itoa(index), "choice", other)
		return true
	}
	empty := errno == status.ENODATA
	var used facts.GID
	if t.at.Port != nil {
		g, there := t.at.Port.GIDAt(index)
		used = g
		if !there && slotRead(*t.at.Port, index) {
			empty = empty || errno == status.EINVAL
			t.Evidence = append(t.Evidence, Evidence{t.at.Port.Path(fmt.Sprintf("gids/%d", index)), "no entry"})
		}
	}
	switch {
	case empty:
		return fill("gid-index-empty", fmt.Sprintf("%s: GID index %d is an empty slot", t.refused, index))
	case used.Value == "" || errno != status.ETIMEDOUT && errno != status.ENETUNREACH && errno != status.EHOSTUNREACH && errno != status.EINVAL:
		return false
	case used.LinkLocal() && !routableV2(*t.at.Port):
		t.Code, t.Message = "gid-only-link-local", fmt.Sprintf("%s: GID index %d is link-local, and the port has no other", t.refused, index)
		t.Params = t.at.portParams("gid_index", strconv.Itoa(index))
		return true
	case used.LinkLocal() || used.Type.Or("") == facts.GIDTypeRoCEv1 && routableV2(*t.at.Port):
		t.Evidence = append(t.Evidence, Evidence{t.at.Port.Path(fmt.Sprintf("gids/%d", index)), used.Value + ", " + used.Type.String()})
		return fill("gid-index-wrong-type", fmt.Sprintf("%s: GID index %d is %s", t.refused, index, kindOf(used)))
	}
	return false
}

// pathText is a path's addresses in one line.
func pathText(path *facts.Path) string {
	text := path.Transport
	if i, ok := path.SGIDIndex.Get(); ok {
		text += fmt.Sprintf(", GID index %d", i)
	}
	if path.SGID != "" {
		text += ", from " + path.SGID
	}
	if path.DGID != "" {
		text += ", to " + path.DGID
	}
	if path.PathMTU > 0 {
		text += fmt.Sprintf(", path MTU %d", path.PathMTU)
	}
	return text
}
