package checks

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// dcbSources are what qosPorts reads, besides DCB itself.
var dcbSources = []facts.Source{facts.PCISysfs}

// qosPort is a RoCE port with the DCB of the netdev beneath it.
type qosPort struct {
	PortRef
	*facts.Netdev
	facts.DCB
	ride
}

// qosPorts yields the RoCE ports whose quality of service this host owns and
// whose DCB was read. Elsewhere the host of a VF owns it, or the driver has no
// DCB.
func (p *Pass) qosPorts() iter.Seq[qosPort] {
	p.Read(facts.DCBNetlink, facts.PCISysfs)
	return func(yield func(qosPort) bool) {
		for port, n := range p.PortNetdev(RoCE) {
			if p.virtualFunction(port.Device) {
				p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
				continue
			}
			dcb, ok := n.DCB.Get()
			if !ok {
				p.missing(facts.DCBNetlink, n.Name, "DCB")
				continue
			}
			if !yield(qosPort{port, n, dcb, findRide(port, n, dcb)}) {
				return
			}
		}
	}
}

// virtualFunction reports whether d is a VF, whose physical port belongs to the
// host.
func (p *Pass) virtualFunction(d *facts.Device) bool {
	return slices.ContainsFunc(p.snap.PCI, func(f facts.PCIFunction) bool {
		return f.VF && f.Address == d.PCI.Or("")
	})
}

// Params adds the netdev beneath, where DCB lives, to the port's parameters.
func (q qosPort) Params(pairs ...string) map[string]string {
	return q.PortRef.Params(append([]string{"netdev", q.Netdev.Name}, pairs...)...)
}

// evidence shows PFC and the entries that decide the ride, as dcb(8) prints
// them.
func (q qosPort) evidence(pfc facts.PFC) []Evidence {
	es := []Evidence{pfcEvidence(q.Netdev.Name, pfc)}
	var byDSCP, byPort []string
	for _, a := range q.Apps {
		entry := fmt.Sprintf("%d:%d", a.Protocol, a.Priority)
		switch a.Selector {
		case facts.SelectorDSCP:
			byDSCP = append(byDSCP, entry)
		case selectorUDP:
			byPort = append(byPort, entry)
		}
	}
	if len(byDSCP) > 16 { // A full map has 64.
		byDSCP = append(byDSCP[:16], "...")
	}
	source := "dcb -N app show dev " + q.Netdev.Name
	if byDSCP == nil && byPort == nil {
		es = append(es, Evidence{source, "no entries, so PCP is trusted"})
	}
	if byDSCP != nil {
		es = append(es, Evidence{source + " dscp-prio", "dscp-prio " + strings.Join(byDSCP, " ")})
	}
	if byPort != nil {
		es = append(es, Evidence{source + " dgram-port-prio", "dgram-port-prio " + strings.Join(byPort, " ")})
	}
	if d, ok := q.DSCP.Get(); ok {
		es = append(es, Evidence{q.From, fmt.Sprintf("DSCP %d", d)})
	}
	return es
}

// pfcEvidence shows PFC by priority as dcb(8) prints it.
func pfcEvidence(netdev string, pfc facts.PFC) Evidence {
	text := "prio-pfc"
	for prio := range 8 {
		state := "off"
		if pfc.On(prio) {
			state = "on"
		}
		text += fmt.Sprintf(" %d:%s", prio, state)
	}
	return Evidence{"dcb pfc show dev " + netdev + " prio-pfc", text}
}

// defaultDSCP and defaultPriority are what vendors' RoCE profiles use (AMD
// ROCm roce-network-config, Mellanox traffic class 104 and 106): the values a
// fix takes where the host does not show its own.
const (
	defaultDSCP     = 26
	defaultPriority = 3
)

// dscpParam is the DSCP that RoCE carries or, for a fix, should.
func (r ride) dscpParam() string { return strconv.Itoa(r.DSCP.Or(defaultDSCP)) }

// dropped lists the discard counters of the netdev that grew, and resent the
// retransmission counters of the port: the harm that makes a lossy setting a
// fault.
func dropped(n *facts.Netdev) []grown {
	return slices.DeleteFunc(grew(counters.Ethtool, n.Ethtool, counters.CongestionRX), func(g grown) bool {
		return !strings.Contains(g.Name, "discard") && !strings.Contains(g.Name, "drop")
	})
}

// roceDropped are those of dropped that may be RoCE's, which rides prio: not
// what counters of other priorities count, nor a total that these make up.
func roceDropped(n *facts.Netdev, prio facts.Opt[int]) []grown {
	all := dropped(n)
	mine, ok := prio.Get()
	if !ok {
		return all
	}
	others := uint64(0)
	for _, g := range all {
		if onPriority(g) && g.Index != mine {
			others += g.Delta
		}
	}
	return slices.DeleteFunc(all, func(g grown) bool {
		if onPriority(g) {
			return g.Index != mine
		}
		return g.Delta <= others
	})
}

// onPriority reports a counter of one priority.
func onPriority(g grown) bool { return g.Index >= 0 && strings.Contains(g.Name, "prio") }

func resent(port PortRef) []grown {
	return grew(counters.Device, port.HWCounters, counters.Loss, counters.Timeout)
}

// LosslessRide is the priority that RoCE rides on a netdev where PFC is on for
// it, else the first that has PFC, and the DSCP that leads there. Enabled is a
// bitmap as in facts.PFC.
func LosslessRide(s *facts.Snapshot, netdev string, enabled uint8) (priority, dscp int) {
	pfc := facts.PFC{Enabled: enabled}
	priority, dscp = max(firstPriority(pfc), 0), defaultDSCP
	for i := range s.Devices {
		d := &s.Devices[i]
		for j := range d.Ports {
			n := s.Netdev(d.Ports[j].Netdev.Or(""))
			if n == nil || s.Beneath(n).Name != netdev {
				continue
			}
			n = s.Beneath(n)
			r := findRide(PortRef{&d.Ports[j], d}, n, n.DCB.Or(facts.DCB{}))
			dscp = r.DSCP.Or(dscp)
			if pfc.On(r.Priority.Or(-1)) {
				return r.Priority.Or(0), dscp
			}
		}
	}
	return priority, dscp
}
