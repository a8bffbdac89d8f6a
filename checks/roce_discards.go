package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var roceDiscards = register(&Check{
	ID:    "roce-discards",
	Title: "the NIC drops no packets of the RoCE priority",
	Doc: "A packet that the NIC drops on the RoCE priority is sent again by the peer after a timeout or a NAK. With PFC on " +
		"for that priority no packet may be dropped at all: the buffer was too small or the switch did not stop.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.Ethtool},
	Uses:  []facts.Source{facts.DCBNetlink, facts.PCISysfs},
	Codes: []string{"discards-on-roce-priority", "receiver-drops"},
	Params: Params{
		"discards-on-roce-priority": "device port netdev pci? priority counter",
		"receiver-drops":            "device port netdev? pci? counter",
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool, facts.DCBNetlink, facts.PCISysfs)
		for port, n := range p.PortNetdev(RoCE) {
			if p.virtualFunction(port.Device) {
				p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
				continue
			}
			judgeDiscards(p, port, n)
		}
	},
})

func judgeDiscards(p *Pass, port PortRef, n *facts.Netdev) {
	dcb, _ := n.DCB.Get()
	pfc, lossless := dcb.PFC.Get()
	prio, ridden := findRide(port, n, dcb).Priority.Get()
	found := false
	roces := func(g grown) bool { return ridden && g.Index == prio || lossless && pfc.On(g.Index) }
	others := uint64(0) // What priorities beside RoCE's dropped.
	for _, g := range dropped(n) {
		if onPriority(g) && (ridden || lossless) && !roces(g) {
			others += g.Delta
		}
	}
	for _, g := range dropped(n) {
		f := Finding{
			Severity: Warn, Subject: port.String(), Confidence: Proved, Where: port.Where(),
			Evidence: []Evidence{g.evidence("ethtool -S "+n.Name+" ", p.snap.Between(facts.Ethtool))},
			Params:   port.Params("netdev", n.Name, "counter", g.Name),
		}
		switch {
		case onPriority(g) && roces(g):
			f.Code = "discards-on-roce-priority"
			f.Message = fmt.Sprintf("%d packets of priority %d were dropped between the samples", g.Delta, g.Index)
			f.Params["priority"] = strconv.Itoa(g.Index)
			if lossless && pfc.On(g.Index) {
				f.Severity = Fail
				f.Message += ", which PFC protects"
				f.Evidence = append(f.Evidence, pfcEvidence(n.Name, pfc))
			}
		case onPriority(g):
			continue // Another priority's drops are not RoCE's.
		default:
			f.Code = "receiver-drops"
			f.Confidence = Possible // The counter does not tell RoCE from other traffic.
			f.Message = fmt.Sprintf("the NIC dropped %d received %s between the samples", g.Delta, g.Unit)
			if g.Delta <= others {
				f.Severity = Info
				f.Message += ", as many as priorities that RoCE does not ride"
			}
		}
		found = true
		p.Report(f)
	}
	there, twice := sampled(counters.Ethtool, n.Ethtool, counters.CongestionRX)
	switch {
	case found:
	case there && !twice:
		p.Unread(port.String(), "second sample of the discard counters")
	case !there:
		p.NotApplicable("%s shows no discard counters", n.Name)
	case idle(port, n):
		p.Idle(port.String())
	}
}
