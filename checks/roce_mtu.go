package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var roceMTU = register(&Check{
	ID:    "roce-mtu",
	Title: "RoCE ports reach path MTU 4096",
	Doc: "A RoCE port's path MTU follows its netdev's MTU by a rule of the driver: 1500 leaves 1024, which costs about " +
		"5 percent of the rate and four times the packets. It needs a network that carries the larger frames.",
	Layer: MTU,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Codes: []string{"roce-mtu-low"},
	Params: Params{
		"roce-mtu-low": "device port netdev pci? mtu netdev_mtu path_mtu best_path_mtu",
	},
	Run: func(p *Pass) {
		for port := range p.Ports(RoCE) {
			n := p.Read(facts.Links).Netdev(port.Netdev.Or(""))
			if n == nil {
				p.Unread(port.String(), "netdev")
				continue
			}
			if bond := bondOf(p.snap, n); bond != nil {
				n = bond // It sets the MTU of its members.
			}
			mtu, ok := n.MTU.Get()
			if !ok {
				p.Unread(port.String(), n.Name+" MTU")
				continue
			}
			rule, ok := mtuRule(port.Device)
			if !ok {
				p.NotApplicable("how %s derives its path MTU is not known", port.Device.Provider.Or("the driver"))
				continue
			}
			best := pathMTUs[len(pathMTUs)-1]
			limit, limited := n.MaxMTU.Get()
			if limited {
				best = min(best, rule.pathMTU(limit))
			}
			now := port.ActiveMTU.Or(rule.pathMTU(mtu))
			if now >= best {
				continue
			}
			need := rule.netdevMTU(best)
			f := Finding{
				Code: "roce-mtu-low", Severity: Info, Subject: port.String(), Confidence: Proved, Where: port.Where(),
				Message: fmt.Sprintf("netdev %s has MTU %d, which leaves path MTU %d; path MTU %d needs netdev MTU %d",
					n.Name, mtu, now, best, need),
				Evidence: []Evidence{{"/sys/class/net/" + n.Name + "/mtu", strconv.Itoa(mtu)},
					{rule.rule, fmt.Sprintf("netdev MTU less %d", rule.bytes)}},
				Params: port.Params("netdev", n.Name, "mtu", strconv.Itoa(need), "netdev_mtu", strconv.Itoa(mtu),
					"path_mtu", strconv.Itoa(now), "best_path_mtu", strconv.Itoa(best)),
			}
			if limited {
				f.Evidence = append(f.Evidence, Evidence{"IFLA_MAX_MTU " + n.Name, strconv.Itoa(limit)})
			}
			p.Report(f)
		}
	},
})
