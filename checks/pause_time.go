package checks

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var pauseTime = register(&Check{
	ID:    "pause-time",
	Title: "priority pause takes little of the time",
	Doc: "PFC stops a priority instead of dropping its packets. Pause sent says that this host takes data too slowly; " +
		"pause received, that the network or the peer does. Pause for half of the time, or a storm counter that moves, " +
		"is a host or port that pauses without end and stalls others with it.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.Ethtool},
	Uses:  []facts.Source{facts.PCISysfs},
	Codes: []string{"pfc-storm", "pause-sent", "pause-received"},
	Params: Params{
		"pfc-storm":      "device port netdev? pci? priority? direction percent? counter?",
		"pause-sent":     pauseParams,
		"pause-received": pauseParams,
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool, facts.PCISysfs)
		for port, n := range p.PortNetdev(RoCE) {
			if p.virtualFunction(port.Device) {
				p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
				continue
			}
			judgePause(p, port, n)
		}
	},
})

func judgePause(p *Pass, port PortRef, n *facts.Netdev) {
	s := p.snap
	storm := false
	for _, g := range grew(counters.Ethtool, n.Ethtool, counters.PauseStorm) {
		if strings.Contains(g.Name, "resume") { // The end of a storm, and counted with its start.
			continue
		}
		storm = true
		p.Report(Finding{
			Code: "pfc-storm", Severity: Fail, Subject: port.String(), Confidence: Proved, Where: port.Where(),
			Message:  fmt.Sprintf("%s grew by %d between the samples: this host paused the network too long", g.Name, g.Delta),
			Evidence: []Evidence{g.evidence("ethtool -S "+n.Name+" ", s.Between(facts.Ethtool))},
			Params:   port.Params("netdev", n.Name, "direction", "sent", "counter", g.Name),
		})
	}
	times, there, read := pauseTimes(n, s.Between(facts.Ethtool), false)
	for _, t := range times {
		f := Finding{
			Code: "pause-" + t.direction(), Severity: pauseSeverity(t.Share), Subject: port.String(),
			Confidence: Proved, Where: port.Where(), Evidence: []Evidence{t.Evidence},
			Message: fmt.Sprintf("%s for %s of the interval", t.what(), percent(t.Share)),
			Params:  port.Params("netdev", n.Name, "priority", strconv.Itoa(t.Priority), "percent", percent(t.Share)),
		}
		if t.Share >= pauseStorm {
			f.Code, f.Params["direction"] = "pfc-storm", t.direction()
		}
		p.Report(f)
	}
	switch {
	case storm || len(times) > 0:
	case there && !read:
		p.Unread(port.String(), "second sample of the pause durations")
	case !read:
		// The counters exist only while PFC is on for a priority (mlx5 counters.rst).
		p.NotApplicable("%s shows no pause durations", n.Name)
	case idle(port, n):
		p.Idle(port.String())
	}
}
