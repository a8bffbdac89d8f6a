package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var bondOffload = register(&Check{
	ID:    "bond-offload",
	Title: "bonds of RDMA netdevs have one RDMA device",
	Doc: "A bond moves the kernel's own traffic between its members. RDMA follows only where the driver joins the members " +
		"to one device (RoCE LAG). Members that still have a device each leave RDMA on single ports, on GIDs that do not " +
		"follow a failover.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links},
	Codes: []string{"lag-not-offloaded"},
	Params: Params{
		"lag-not-offloaded": "bond devices device netdev mode?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.SysfsRDMA, facts.Links)
		p.Otherwise("no RDMA netdev is in a bond")
		for i := range s.Netdevs {
			bond := &s.Netdevs[i]
			if bond.Kind.Or("") != "bond" {
				continue
			}
			var members, names []string
			offloaded := false
			var evidence []Evidence
			for _, port := range ports(s) {
				on := s.Netdev(port.Netdev.Or(""))
				if on == nil {
					continue
				}
				offloaded = offloaded || on == bond
				if on.Master.Or("") == bond.Name {
					members, names = append(members, on.Name), append(names, port.Device.Name)
					evidence = append(evidence, Evidence{"rdma link show " + port.String(), "netdev " + on.Name + ", of " + bond.Name})
				}
			}
			if len(names) == 0 && !offloaded {
				continue
			}
			p.Examine(1)
			if len(names) < 2 || offloaded {
				continue
			}
			slices.Sort(names)
			slices.Sort(members)
			slices.SortFunc(evidence, func(a, b Evidence) int { return strings.Compare(a.Source, b.Source) })
			p.Report(Finding{
				Code: "lag-not-offloaded", Severity: Warn, Subject: bond.Name, Confidence: Proved,
				Where:    Where{Netdev: bond.Name},
				Message:  fmt.Sprintf("the members of %s still have an RDMA device each: %s", bond.Name, strings.Join(names, ", ")),
				Evidence: append(evidence, Evidence{"/proc/net/bonding/" + bond.Name, "mode " + bond.BondMode.String()}),
				Params: params("bond", bond.Name, "devices", strings.Join(names, " "), "device", names[0],
					"netdev", members[0], "mode", bond.BondMode.Or("")),
			})
		}
	},
})

// ports lists all ports of the snapshot.
func ports(s *facts.Snapshot) []PortRef {
	var refs []PortRef
	for i := range s.Devices {
		for j := range s.Devices[i].Ports {
			refs = append(refs, PortRef{&s.Devices[i].Ports[j], &s.Devices[i]})
		}
	}
	return refs
}

// bondOf is the bond that n is a member of, or nil.
func bondOf(s *facts.Snapshot, n *facts.Netdev) *facts.Netdev {
	if m := s.Netdev(n.Master.Or("")); m != nil && m.Kind.Or("") == "bond" {
		return m
	}
	return nil
}
