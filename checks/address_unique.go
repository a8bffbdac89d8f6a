package checks

import (
	"fmt"
	"net/netip"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var addressUnique = register(&Check{
	ID:    "address-unique",
	Title: "addresses of RDMA netdevs are used once",
	Doc: "Peers send to one MAC and one address. Where two netdevs have the same, connections reach the wrong one or " +
		"change between them. The kernel itself looks for others with its IPv6 addresses, and tells when it found one.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.PCISysfs},
	Codes: []string{"address-duplicate"},
	Params: Params{
		"address-duplicate": "device? port? netdev pci? address other?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.PCISysfs)
		for port := range p.Ports(OnEthernet) {
			if n := s.Netdev(port.Netdev.Or("")); n != nil {
				judgeAddresses(p, port, n)
			} else {
				p.Unread(port.String(), "netdev")
			}
		}
	},
})

func judgeAddresses(p *Pass, port PortRef, n *facts.Netdev) {
	s := p.snap
	report := func(message, address, other string, evidence ...Evidence) {
		p.Report(Finding{
			Code: "address-duplicate", Severity: Warn, Subject: port.String(), Confidence: Proved, Where: port.Where(),
			Message: message, Evidence: evidence,
			Params: port.Params("netdev", n.Name, "address", address, "other", other),
		})
	}
	for _, a := range n.Addresses {
		if a.Duplicate {
			report(fmt.Sprintf("another host answers for %s of %s", a.IP, n.Name), a.IP, "",
				Evidence{"RTM_GETADDR " + n.Name, a.IP + " dadfailed"})
		}
	}
	if down(n) {
		return
	}
	for _, r := range rails(s) {
		if r.Port == port.Port || r.on.Name >= n.Name || down(r.on) || r.on.Master != n.Master || r.single() {
			continue // Hosts that route to their rails have one /32 on all of them.
		}
		for _, a := range n.Addresses {
			if ip, err := netip.ParseAddr(a.IP); err == nil && ip == r.addr && a.PrefixLen < ip.BitLen() {
				report(fmt.Sprintf("%s and %s both have the address %s", r.on.Name, n.Name, a.IP), a.IP, r.on.Name,
					Evidence{"RTM_GETADDR " + r.on.Name, a.IP}, Evidence{"RTM_GETADDR " + n.Name, a.IP})
			}
		}
	}
	if o := p.sameMAC(port, n); o != nil {
		report(fmt.Sprintf("%s and %s both have the MAC %s", o.Name, n.Name, n.MAC), n.MAC.Or(""), o.Name,
			Evidence{"IFLA_ADDRESS " + o.Name, n.MAC.Or("")}, Evidence{"IFLA_ADDRESS " + n.Name, n.MAC.Or("")})
	}
}

// sameMAC finds another NIC's netdev with the MAC of n, earlier by name.
// Members of a bond share one, and so does a virtual function with what stands
// in for it.
func (p *Pass) sameMAC(port PortRef, n *facts.Netdev) (found *facts.Netdev) {
	mac, ok := n.MAC.Get()
	if !ok || mac == "00:00:00:00:00:00" || n.Master.Known() || n.Kind.Known() || !n.PCI.Known() || p.virtualFunction(port.Device) {
		return nil
	}
	for _, o := range ports(p.snap) {
		on := p.snap.Netdev(o.Netdev.Or(""))
		if on == nil || !OnEthernet(o) || on.Name >= n.Name || on.MAC != n.MAC || on.Master.Known() || on.Kind.Known() ||
			!on.PCI.Known() || on.PCI == n.PCI || down(on) || p.virtualFunction(o.Device) {
			continue
		}
		if found == nil || on.Name < found.Name {
			found = on
		}
	}
	return found
}
