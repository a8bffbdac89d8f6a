package checks

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var ipoibAddress = register(&Check{
	ID:    "ipoib-address",
	Title: "IPoIB netdevs of InfiniBand ports are up and have an address",
	Doc: "rdma_cm, and with it storage over RDMA, starts from IP addresses, which InfiniBand ports have on IPoIB netdevs " +
		"only. Programs that exchange LIDs themselves, as NCCL and MPI do, need none: a host without IPoIB is no fault.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.Namespaces},
	Codes: []string{"ipoib-down"},
	Params: Params{
		"ipoib-down": "device port netdev? pci?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Namespaces)
		var ready PortRef // a port whose IPoIB has an address
		for _, port := range ports(s) {
			if n := ipoibOf(s, port); IB(port) && n != nil && routable(s, n.Name, 0) != "" && (ready.Port == nil || port.String() < ready.String()) {
				ready = port
			}
		}
		for port := range p.Ports(IB) {
			switch {
			case !s.Host.InitNetns.Or(true):
				p.NotApplicable("the netdevs of the host are not to be seen from a container")
			case port.State.Or("") != facts.StateActive:
				p.NotApplicable("%s is not ACTIVE", port)
			case portGUID(port) == "":
				p.Unread(port.String(), "port GUID")
			case ready.Port == nil:
				p.NotApplicable("no IPoIB netdev of this host has an address")
			default:
				judgeIPoIB(p, s, port, ready)
			}
		}
	},
})

func judgeIPoIB(p *Pass, s *facts.Snapshot, port, ready PortRef) {
	f := Finding{Code: "ipoib-down", Severity: Info, Subject: port.String(), Confidence: Likely, Where: port.Where(), Params: port.Params()}
	n := ipoibOf(s, port)
	if n == nil {
		f.Message = fmt.Sprintf("there is no IPoIB netdev for this port, while %s has one", ready)
		f.Evidence = []Evidence{{port.Path("gids/0"), port.GIDs[0].Value}}
		p.Report(f)
		return
	}
	f.Where.Netdev, f.Params["netdev"] = n.Name, n.Name
	ip := routable(s, n.Name, 0)
	carrier, known := lit(n)
	switch {
	case ip == "":
		f.Message = fmt.Sprintf("IPoIB netdev %s has no address, while that of %s has one", n.Name, ready)
		f.Evidence = []Evidence{{"RTM_GETADDR " + n.Name, "no address"}}
	case down(n):
		f.Severity = Warn
		f.Message = fmt.Sprintf("IPoIB netdev %s has the address %s and is administratively down", n.Name, ip)
		f.Evidence = []Evidence{{"RTM_GETLINK " + n.Name, "IFF_UP is clear"}}
	case known && !carrier:
		f.Severity = Warn
		f.Message = fmt.Sprintf("IPoIB netdev %s has the address %s and no carrier, though the port is ACTIVE", n.Name, ip)
		f.Evidence = []Evidence{{"/sys/class/net/" + n.Name + "/operstate", n.OperState.String()}}
	default:
		return
	}
	p.Report(f)
}

// portGUID is the lower half of the port's first GID, without colons.
func portGUID(port PortRef) string {
	for _, g := range port.GIDs {
		if hex := strings.ReplaceAll(g.Value, ":", ""); g.Index == 0 && len(hex) == 32 {
			return hex[16:]
		}
	}
	return ""
}

// ipoibOf finds the netdev whose hardware address ends in the port's GUID, the
// lowest by name: those of further partitions end so, too.
func ipoibOf(s *facts.Snapshot, port PortRef) (found *facts.Netdev) {
	guid := portGUID(port)
	for i := range s.Netdevs {
		n := &s.Netdevs[i]
		hex := strings.ReplaceAll(n.MAC.Or(""), ":", "")
		if guid == "" || len(hex) != 40 || hex[24:] != guid {
			continue
		}
		if found == nil || n.Name < found.Name {
			found = n
		}
	}
	return found
}
