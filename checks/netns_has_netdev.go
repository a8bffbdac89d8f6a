package checks

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var netnsHasNetdev = register(&Check{
	ID:    "netns-has-netdev",
	Title: "the netdevs of the RDMA devices are in this network namespace",
	Doc: "In the shared namespace mode every container sees all RDMA devices, but the kernel shows it only the GIDs of " +
		"netdevs inside its own namespace. Without one the device opens and no connection can be addressed. One " +
		"fully usable device is enough.",
	Layer: Driver,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Uses:  []facts.Source{facts.Namespaces, facts.RDMANetlink, facts.PCISysfs},
	Codes: []string{"netns-no-netdev"},
	Params: Params{
		"netns-no-netdev": "device port pci? netdev? container?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Namespaces, facts.RDMANetlink, facts.PCISysfs)
		usable := false
		var without []PortRef
		for port := range p.Ports(OnEthernet) {
			known := port.Netdev.Known()
			switch {
			case s.Netdev(port.Netdev.Or("")) != nil:
				usable = true
			case linksCut(s):
				p.Unread(port.String(), "netdev")
			case s.Host.InitNetns.Or(false) && p.virtualFunction(port.Device):
				p.NotApplicable("the netdev of virtual function %s was given to another namespace", port.Device.Name)
			case known || !inInitNetns(s.Host):
				without = append(without, port)
			case len(port.GIDs) > 0 || len(port.Device.NetnsNetdevs) > 0:
				p.Unread(port.String(), "netdev") // It is here, which of them is not known.
			default:
				without = append(without, port)
			}
		}
		for _, port := range without {
			f := Finding{
				Code: "netns-no-netdev", Severity: Fail, Subject: port.String(), Confidence: Likely, Where: port.Where(),
				Message: "the device is visible and no netdev of it is in this network namespace: no GID is usable here",
				Evidence: []Evidence{{port.Path("gid_attrs/ndevs"), "no netdev of this namespace"},
					{"RDMA_NLDEV_SYS_ATTR_NETNS_MODE", s.RDMA.NetnsMode.Or("not read")},
					{"/proc/self/ns/net", initNetns(s.Host)}},
				Params: port.Params("container", s.Host.Container.Or("")),
			}
			if usable && !slices.ContainsFunc(p.opt.Wanted, func(w string) bool { return w == port.Device.Name || w == port.String() }) {
				f.Severity = Info
			}
			if name, ok := port.Netdev.Get(); ok {
				f.Message = fmt.Sprintf("netdev %s of the device is not in this network namespace: no GID is usable here", name)
				f.Evidence[0] = Evidence{"RDMA_NLDEV_ATTR_NDEV_NAME " + port.String(), name}
				f.Evidence = append(f.Evidence, Evidence{"ip link show dev " + name, "no such device"})
			}
			p.Report(f)
		}
	},
})

// inInitNetns reports whether the machine's own network namespace is looked
// at. Inside a container's PID namespace that cannot be compared, and a
// container has a namespace of its own as a rule.
func inInitNetns(h facts.Host) bool {
	return h.InitNetns.Or(h.Container.Or("") == "")
}

func initNetns(h facts.Host) string {
	switch in, ok := h.InitNetns.Get(); {
	case !ok:
		return "not compared with process 1"
	case in:
		return "that of process 1"
	}
	return "not that of process 1"
}

// linksCut reports whether the list of netdevs may lack some: a copied tree
// holds what was copied, and a dump can break off.
func linksCut(s *facts.Snapshot) bool {
	return s.Origin == facts.Tree || slices.ContainsFunc(s.Gaps, func(g facts.Gap) bool {
		return g.Source == facts.Links && (g.Kind == facts.Timeout || g.Kind == facts.Malformed)
	})
}
