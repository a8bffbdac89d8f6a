package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var congestionLoop = register(&Check{
	ID:    "congestion-loop",
	Title: "marked packets are answered",
	Doc: "Where switches mark packets, the receiver must send CNPs, and the sender slows down. Marks without CNPs mean that " +
		"the notification point is off; marks with CNPs are a network that is congested and works.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.Ethtool, facts.DCBNetlink},
	Codes: []string{"cnp-not-sent", "congestion"},
	Params: Params{
		"cnp-not-sent": "device port netdev pci? counter priority?",
		"congestion":   "device port netdev? pci? counter priority?",
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool, facts.DCBNetlink)
		for port, n := range p.PortNetdev(RoCE) {
			if port.Device.Software() {
				p.NotApplicable("%s is software without congestion control", port.Device.Name)
				continue
			}
			judgeLoop(p, port, n)
		}
	},
})

// cnpLoops are the counters of marks received, CNPs sent and CNPs heeded, by
// driver.
var cnpLoops = []struct{ marked, sent, handled string }{
	{"np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled"}, // mlx5
	{"RxECNMrkd", "cnpSent", "cnpHandled"},                          // irdma
	{"received_ecns", "sent_cnps", "received_cnp_count"},            // mana
}

// markedEnough is how many marks must go unanswered before that is a fault: a
// receiver sends one CNP for many marks (min_time_between_cnps).
const markedEnough = 1000

func judgeLoop(p *Pass, port PortRef, n *facts.Netdev) {
	dcb, _ := n.DCB.Get()
	priority := ""
	if prio, ok := findRide(port, n, dcb).Priority.Get(); ok && n.DCB.Known() {
		priority = strconv.Itoa(prio)
	}
	for _, l := range cnpLoops {
		marked, ok1 := port.HWCounters[l.marked].Delta()
		sent, ok2 := port.HWCounters[l.sent].Delta()
		if !ok1 || !ok2 {
			continue
		}
		handled, ok3 := port.HWCounters[l.handled].Delta()
		show := func(name string, d uint64) Evidence {
			return moved(port.Path("hw_counters/"+name), port.HWCounters[name], d, p.snap.Between(facts.SysfsRDMA))
		}
		f := Finding{
			Subject: port.String(), Confidence: Proved, Where: port.Where(),
			Evidence: []Evidence{show(l.marked, marked), show(l.sent, sent)},
			Params:   port.Params("netdev", n.Name, "counter", l.marked, "priority", priority),
		}
		if ok3 {
			f.Evidence = append(f.Evidence, show(l.handled, handled))
		}
		switch {
		case marked >= markedEnough && sent == 0:
			f.Code, f.Severity = "cnp-not-sent", Warn
			f.Message = fmt.Sprintf("%d marked packets arrived and no CNP was sent", marked)
		case marked > 0 && sent > 0 || handled > 0:
			f.Code, f.Severity = "congestion", Info
			f.Message = fmt.Sprintf("the network is congested and says so: %d marked packets arrived, %d CNPs sent, %d heeded", marked, sent, handled)
		case idle(port, n):
			p.Idle(port.String())
			return
		default:
			return
		}
		p.Report(f)
		return
	}
	if len(port.HWCounters) == 0 {
		p.Unread(port.String(), "hw_counters")
		return
	}
	p.NotApplicable("%s does not count marks and CNPs", port)
}
