package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var globalPause = register(&Check{
	ID:    "global-pause",
	Title: "global pause does not stop the port",
	Doc: "802.3x pause stops all priorities at once, so that one slow flow stops every other. It is on from the factory " +
		"on many NICs and harmless while no frame moves. Beside PFC it has no effect on most drivers.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.Ethtool},
	Uses:  []facts.Source{facts.PCISysfs, facts.DCBNetlink},
	Codes: []string{"global-pause-active"},
	Params: Params{
		"global-pause-active": "device port netdev pci? direction? percent?",
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool, facts.PCISysfs, facts.DCBNetlink)
		for port, n := range p.PortNetdev(RoCE) {
			if p.virtualFunction(port.Device) {
				p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
				continue
			}
			judgeGlobalPause(p, port, n)
		}
	},
})

// globalFrames are the frame counters of drivers that do not count durations.
var globalFrames = []string{"rx_global_pause", "tx_global_pause", "rx_pause", "tx_pause", "rx_pause_frames",
	"tx_pause_frames", "link_xoff_rx.nic", "link_xoff_tx.nic", "port.link_xoff_rx", "port.link_xoff_tx"}

func judgeGlobalPause(p *Pass, port PortRef, n *facts.Netdev) {
	times, _, read := pauseTimes(n, p.snap.Between(facts.Ethtool), true)
	f := Finding{Code: "global-pause-active", Subject: port.String(), Confidence: Proved, Where: port.Where()}
	for _, t := range times {
		f.Severity = pauseSeverity(t.Share)
		f.Message = fmt.Sprintf("%s for %s of the interval", t.what(), percent(t.Share))
		f.Evidence = []Evidence{t.Evidence}
		f.Params = port.Params("netdev", n.Name, "direction", t.direction(), "percent", percent(t.Share))
		p.Report(f)
	}
	if len(times) > 0 {
		return
	}
	for _, name := range globalFrames {
		c, _, _ := counters.Lookup(counters.Ethtool, name)
		d, ok := c.Delta(n.Ethtool[name])
		if read = read || ok; !ok || d == 0 {
			continue
		}
		t := paused{Sent: c.Direction == counters.TX, Priority: -1}
		f.Severity = Info // Frames alone do not tell for how long.
		f.Message = fmt.Sprintf("%s: %d frames between the samples", t.what(), d)
		f.Evidence = []Evidence{moved("ethtool -S "+n.Name+" "+name, n.Ethtool[name], d, p.snap.Between(facts.Ethtool))}
		f.Params = port.Params("netdev", n.Name, "direction", t.direction())
		p.Report(f)
		return
	}
	pause, known := n.Pause.Get()
	dcb, _ := n.DCB.Get()
	if pfc, ok := dcb.PFC.Get(); ok && known && pause.RX && pause.TX && pfc.Enabled != 0 {
		f.Severity = Info
		f.Message = fmt.Sprintf("global pause is on beside PFC for priority %s, which takes its place", priorities(pfc))
		f.Evidence = []Evidence{{"ethtool -a " + n.Name, "RX: on, TX: on"}, pfcEvidence(n.Name, pfc)}
		f.Params = port.Params("netdev", n.Name)
		p.Report(f)
		return
	}
	switch {
	case known && !pause.RX && !pause.TX: // Off, so no frame can move.
	case !read && !known:
		p.missing(facts.Ethtool, n.Name, "pause settings")
	case idle(port, n):
		p.Idle(port.String())
	}
}
