package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var trafficClass = register(&Check{
	ID:    "traffic-class",
	Title: "RoCE packets carry the DSCP that the port maps",
	Doc: "A map from DSCP to a lossless priority protects packets that carry the DSCP. Programs choose the traffic class " +
		"themselves and many leave it at zero: then the bytes leave on priority 0, beside the protection.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.DCBNetlink, facts.Ethtool},
	Uses:  []facts.Source{facts.PCISysfs, facts.ConfigFS},
	Codes: []string{"traffic-class-unset"},
	Params: Params{
		"traffic-class-unset": "device port netdev pci? priority dscp tos",
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool, facts.ConfigFS)
		for q := range p.qosPorts() {
			judgeTrafficClass(p, q)
		}
	},
})

func judgeTrafficClass(p *Pass, q qosPort) {
	prio, ok := q.Priority.Get()
	if !ok || !q.Mapped || prio == 0 || prio > 7 {
		p.NotApplicable("RoCE has no priority of its own on %s", q.Netdev.Name)
		return
	}
	name := func(prio int) string { return fmt.Sprintf("tx_prio%d_packets", prio) }
	onZero, ok1 := q.Ethtool[name(0)].Delta()
	onOwn, ok2 := q.Ethtool[name(prio)].Delta()
	switch _, there := q.Ethtool[name(prio)]; {
	case there && (!ok1 || !ok2):
		p.Unread(q.PortRef.String(), "second sample of packets by priority")
		return
	case !there:
		p.NotApplicable("%s does not count packets by priority", q.Netdev.Name)
		return
	}
	rdma, ok := rdmaSent(q.PortRef, q.Netdev)
	switch {
	case !ok:
		p.Unread(q.PortRef.String(), "RDMA packets sent")
		return
	case rdma < idlePackets:
		p.Idle(q.PortRef.String())
		return
	case onOwn*10 >= rdma: // A tenth on its priority: some program sets its class.
		return
	case onZero < rdma-rdma/10:
		return // The bytes are on neither: another map than the one read.
	}
	d := q.DSCP.Or(defaultDSCP)
	p.Report(Finding{
		Code: "traffic-class-unset", Severity: Warn, Subject: q.PortRef.String(), Confidence: Likely, Where: q.Where(),
		Message: fmt.Sprintf("%d RDMA packets were sent, %d packets left on priority 0 and %d on priority %d, which DSCP %d leads to",
			rdma, onZero, onOwn, prio, d),
		Evidence: []Evidence{
			moved("ethtool -S "+q.Netdev.Name+" "+name(0), q.Ethtool[name(0)], onZero, p.snap.Between(facts.Ethtool)),
			moved("ethtool -S "+q.Netdev.Name+" "+name(prio), q.Ethtool[name(prio)], onOwn, p.snap.Between(facts.Ethtool)),
			{"rdma_cm default_roce_tos of " + q.PortRef.String(), q.CMRoCETOS.String()},
		},
		Params: q.Params("priority", strconv.Itoa(prio), "dscp", strconv.Itoa(d), "tos", strconv.Itoa(d<<2|ect0)),
	})
}

// ect0 is the ECN-capable mark in a traffic class: DSCP 26 with it is 106, the
// value of most guides.
const ect0 = 2

// rdmaSent is how many RDMA packets the port sent between the samples.
func rdmaSent(port PortRef, n *facts.Netdev) (sent uint64, ok bool) {
	for _, v := range []facts.Counter{
		n.Ethtool["tx_vport_rdma_unicast_packets"], port.HWCounters["rdma_tx_packets"], port.HWCounters["sent_pkts"],
		port.HWCounters["tx_pkts"], port.Counters["port_xmit_packets"],
	} {
		if d, known := v.Delta(); known {
			return d, true
		}
	}
	return 0, false
}
