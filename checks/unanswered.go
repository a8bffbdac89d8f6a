package checks

import (
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/status"
)

// unanswered tells apart what status 12 does not: a hole in the path MTU,
// packets that do not arrive at all, answers that do not come back, loss, or a
// silence that nothing explains.
func (t transfer) unanswered(what string) {
	l := t.ladder
	t.Code, t.Confidence = "retry-exceeded", Likely
	wait := ""
	if n, ok := l.Path.Timeout.Get(); ok {
		least, _ := status.GiveUp(n, l.Path.RetryCount.Or(7))
		t.Evidence = append(t.Evidence, Evidence{"timeout and retry_cnt of the QP",
			fmt.Sprintf("%d and %d: no answer for at least %v", n, l.Path.RetryCount.Or(7), least.Round(time.Millisecond))})
		wait = " in time"
	}
	t.Message = fmt.Sprintf("%s got no acknowledgement%s", what, wait)
	if v := worked(l, t.step.Name, "sgid_index"); v != nil {
		t.Evidence = append(t.Evidence, variedEvidence(l, v))
	}
	small, large := t.sizes()
	sent, arrived, known := t.flow()
	switch v := worked(l, t.step.Name, "path_mtu"); {
	case v != nil:
		t.Code, t.Confidence = "path-mtu-blackhole", Proved
		t.Message = fmt.Sprintf("%s dies at path MTU %s and arrives at %s: the network carries less than the path MTU", what, v.From, v.To)
		t.Evidence = append(t.Evidence, variedEvidence(l, v))
		t.Params["mtu"], t.Params["from"], t.Params["to"] = v.To, v.From, v.To
	case small > 0 && large > small && l.Path.PathMTU > 0 && small < l.Path.PathMTU && large > 256:
		t.Code = "path-mtu-blackhole"
		t.Message = fmt.Sprintf("%d bytes arrive and %d bytes do not, at path MTU %d: the network carries less than the path MTU",
			small, large, l.Path.PathMTU)
		t.Params["mtu"] = fmt.Sprint(l.Path.PathMTU)
	case t.lossMoved():
		t.Message += ": packets were lost, as sequence errors say"
	case small > 0:
		t.Message += ", though earlier ones did: the peer or the path went away meanwhile"
	case t.wrongGID():
	case known && sent && !arrived:
		t.Message += fmt.Sprintf(": packets leave here and none arrives at %s", orUnnamed(t.at.Peer, "the peer"))
		t.filtered()
	case known && arrived:
		t.Message += fmt.Sprintf(": packets arrive at %s and its answers do not come back", orUnnamed(t.at.Peer, "the peer"))
		t.filtered()
	default:
		t.Message += ": silence, with nothing lost that a counter tells"
	}
}

// filtered blames a filter: on RoCE the peer's neighbour entry was found on the
// way to RTR, so the link and ARP work and RoCE alone does not pass. There is
// no such filter on InfiniBand.
func (t transfer) filtered() {
	if t.ladder.Path.Transport == "InfiniBand" || iWARP(&t.ladder.Path) {
		return
	}
	t.Code = "roce-filtered"
	t.Message += ", though its MAC address was resolved"
	m := t.Params
	t.Params = t.at.portParams("peer", m["peer"], "gid_index", m["gid_index"], "tool", m["tool"])
}

// sizes are the largest transfer that passed and the smallest that was not
// acknowledged.
func (t transfer) sizes() (passed, died int) {
	for _, st := range t.ladder.Steps {
		switch {
		case !isTransfer(st.Name):
		case st.Error == nil:
			passed = max(passed, st.Bytes)
		case died == 0 || st.Bytes < died:
			died = st.Bytes
		}
	}
	return passed, died
}

func isTransfer(name string) bool {
	for _, n := range transfers {
		if n == name {
			return true
		}
	}
	return false
}

// flow tells whether packets left here and whether any arrived at the peer, by
// the traffic counters of both. It is known only where the peer has such a
// counter: what stands still is not listed.
func (t transfer) flow() (sent, arrived, known bool) {
	for _, m := range t.ladder.Moved {
		c, _, ok := counters.Lookup(counters.Device, m.Name)
		if !ok || c.Class != counters.Traffic {
			continue
		}
		switch {
		case m.Host == "" && c.Direction == counters.TX && m.Delta > 0:
			sent = true
			t.Evidence = append(t.Evidence, moveEvidence(m))
		case m.Host != "" && c.Direction == counters.RX && m.Delta > 0:
			arrived = true
			t.Evidence = append(t.Evidence, moveEvidence(m))
		}
	}
	return sent, arrived, t.peerCounts()
}

// peerCounts reports whether the peer counts RDMA packets that arrive.
func (t transfer) peerCounts() bool {
	peer := t.snap.Peer
	if peer == nil {
		return false
	}
	for _, d := range peer.Devices {
		for _, port := range d.Ports {
			for name := range port.HWCounters {
				c, _, ok := counters.Lookup(counters.Device, name)
				if ok && c.Class == counters.Traffic && c.Direction == counters.RX && c.Unit == "packets" {
					return true
				}
			}
		}
	}
	return false
}

// lossMoved reports whether packets were lost meanwhile, and shows it.
func (t transfer) lossMoved() bool {
	lost := false
	for _, m := range t.ladder.Moved {
		if c, _, ok := counters.Lookup(counters.Device, m.Name); ok && c.Class == counters.Loss && m.Delta > 0 {
			// A retried packet of a silent peer is counted by the completer as well.
			lost = lost || m.Name != "completer_retry_err"
			t.Evidence = append(t.Evidence, moveEvidence(m))
		}
	}
	return lost
}

// wrongGID reports whether the path's GID is one that does not lead to
// another subnet, while the port has one that does.
func (t transfer) wrongGID() bool {
	index, ok := t.ladder.Path.SGIDIndex.Get()
	if !ok || t.at.Port == nil || !RoCE(*t.at.Port) || !routableV2(*t.at.Port) {
		return false
	}
	g, there := t.at.Port.GIDAt(index)
	if !there || !g.LinkLocal() && g.Type.Or("") != facts.GIDTypeRoCEv1 {
		return false
	}
	t.Code = "gid-index-wrong-type"
	t.Message += fmt.Sprintf(": GID index %d is %s, and the port has a routable RoCE v2 one", index, kindOf(g))
	t.Evidence = append(t.Evidence, Evidence{t.at.Port.Path(fmt.Sprintf("gids/%d", index)), g.Value + ", " + g.Type.String()})
	t.Params = t.at.portParams("gid_index", fmt.Sprint(index))
	return true
}

// moveEvidence shows a counter that grew during a probe.
func moveEvidence(m facts.CounterMove) Evidence {
	source := m.Subject + " " + m.Name
	if m.Host != "" {
		source = m.Host + ": " + source
	}
	return Evidence{source + " during the probe", fmt.Sprintf("+%d", m.Delta)}
}
