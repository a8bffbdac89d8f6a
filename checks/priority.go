package checks

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// A ride is what is known of the priority that RoCE rides on a port: which
// DSCP its packets carry, and where trust and the APP table put that.
type ride struct {
	DSCP     facts.Opt[int]
	From     string // where the DSCP is set
	ByDSCP   bool   // the port trusts DSCP; else the VLAN tag's PCP
	Priority facts.Opt[int]
	Mapped   bool  // an APP entry gives Priority
	Tagged   bool  // RoCE GIDs sit on VLANs, so with PCP trust the tag decides
	Reach    uint8 // the priorities that some DSCP leads to, a bit each
}

const (
	// selectorUDP is IEEE_8021QAZ_APP_SEL_DGRAM, which bnxt_re's RoCE profile uses
	// with the RoCE v2 port.
	selectorUDP = 3
	// roceUDPPort is ROCE_V2_UDP_DPORT.
	roceUDPPort = 4791
	// cnpDSCP is where vendors send CNPs by default; it is no DSCP of data.
	cnpDSCP = 48
)

// findRide works out the ride from the settings of the port and the DCB of the
// netdev beneath it.
func findRide(port PortRef, n *facts.Netdev, dcb facts.DCB) ride {
	r := ride{ByDSCP: trustsDSCP(dcb), Tagged: tagged(port, n), Reach: reach(port, n, dcb)}
	r.DSCP, r.From = roceDSCP(port, n, dcb)
	return r.mapped(port, dcb)
}

// RoCEPriority is the priority that packets of a traffic class ride on a RoCE
// port. False: the netdev does not tell, or the VLAN tag decides.
func RoCEPriority(s *facts.Snapshot, device string, number, trafficClass int) (int, bool) {
	d := s.Device(device)
	if d == nil {
		return 0, false
	}
	for i := range d.Ports {
		p := &d.Ports[i]
		n := s.Netdev(p.Netdev.Or(""))
		if p.Number != number || n == nil || !facts.RoCE(d, p) {
			continue
		}
		n = s.Beneath(n)
		dcb, ok := n.DCB.Get()
		if !ok {
			return 0, false
		}
		ref := PortRef{p, d}
		r := ride{ByDSCP: trustsDSCP(dcb), Tagged: tagged(ref, n), DSCP: facts.Some(trafficClass >> 2)}
		return r.mapped(ref, dcb).Priority.Get()
	}
	return 0, false
}

// mapped finds the priority of the ride's DSCP.
func (r ride) mapped(port PortRef, dcb facts.DCB) ride {
	for _, a := range dcb.Apps {
		if a.Selector == selectorUDP && a.Protocol == roceUDPPort {
			r.Priority, r.Mapped = facts.Some(a.Priority), true
			return r
		}
	}
	if !r.ByDSCP {
		if !r.Tagged {
			r.Priority = facts.Some(0) // Untagged frames with PCP trust have no priority to read.
		}
		return r
	}
	d, ok := r.DSCP.Get()
	if !ok {
		return r
	}
	for _, a := range dcb.Apps {
		if a.Selector == facts.SelectorDSCP && a.Protocol == d {
			r.Priority, r.Mapped = facts.Some(a.Priority), true
			return r
		}
	}
	r.Priority = facts.Some(unmapped(port, d))
	return r
}

// unmapped is the priority of a DSCP that has no APP entry.
func unmapped(port PortRef, dscp int) int {
	if port.Device.Provider.Or("") == "mlx5" {
		return dscp >> 3 // The device's map before any entry is written.
	}
	return 0
}

// reach is what the DSCPs lead to: those with an APP entry, and where none but
// the CNP's has one, as on a port that was only told to trust DSCP, all.
func reach(port PortRef, n *facts.Netdev, dcb facts.DCB) (priorities uint8) {
	mapped := false
	for _, a := range dcb.Apps {
		if a.Selector == facts.SelectorDSCP && a.Priority >= 0 && a.Priority < 8 {
			priorities |= 1 << a.Priority
			mapped = mapped || a.Protocol != cnpOf(n)
		}
	}
	for dscp := 0; dscp < 64 && !mapped; dscp++ {
		priorities |= 1 << unmapped(port, dscp)
	}
	return priorities
}

// cnpOf is the DSCP of the CNPs that a netdev sends.
func cnpOf(n *facts.Netdev) int {
	if d, ok := n.ECN["roce_np/cnp_dscp"]; ok {
		return d
	}
	return cnpDSCP
}

// trustsDSCP tells which field of a packet chooses the priority. Where the
// kernel has no trust table, drivers switch to DSCP with the first APP entry
// for one (mlx5 en_dcbnl.c).
func trustsDSCP(dcb facts.DCB) bool {
	if len(dcb.Trust) > 0 {
		return dcb.Trust[0] == "dscp"
	}
	return slices.ContainsFunc(dcb.Apps, func(a facts.App) bool { return a.Selector == facts.SelectorDSCP })
}

// roceDSCP is the DSCP of RoCE packets and where it is set: the driver's
// override beats rdma_cm's default; else the one DSCP that the APP table gives
// a priority of its own is taken to be meant for RoCE.
func roceDSCP(port PortRef, n *facts.Netdev, dcb facts.DCB) (facts.Opt[int], string) {
	if tc, ok := port.TrafficClass.Get(); ok && tc > 0 {
		return facts.Some(tc >> 2), fmt.Sprintf("/sys/class/infiniband/%s/tc/%d/traffic_class", port.Device.Name, port.Number)
	}
	if tos, ok := port.CMRoCETOS.Get(); ok && tos > 0 {
		return facts.Some(tos >> 2), fmt.Sprintf("/sys/kernel/config/rdma_cm/%s/ports/%d/default_roce_tos", port.Device.Name, port.Number)
	}
	cnp := cnpOf(n)
	var only []int
	for _, a := range dcb.Apps {
		if a.Selector == facts.SelectorDSCP && a.Protocol != cnp && a.Priority != 0 && !slices.Contains(only, a.Protocol) {
			only = append(only, a.Protocol)
		}
	}
	if len(only) == 1 {
		return facts.Some(only[0]), "the only DSCP with a priority in the APP table"
	}
	return facts.Opt[int]{}, ""
}

// tagged reports whether all routable GIDs of the port belong to VLANs.
func tagged(port PortRef, n *facts.Netdev) bool {
	vlans := 0
	for _, g := range port.GIDs {
		if g.LinkLocal() {
			continue
		}
		if on, ok := g.Netdev.Get(); !ok || on == n.Name || on == n.Master.Or("") {
			return false
		}
		vlans++
	}
	return vlans > 0
}

// A qosVerdict is what the settings mean for RoCE on a port.
type qosVerdict string

// The verdicts. Those that are findings are spelt as the finding's code.
const (
	qosLossless      qosVerdict = "lossless"       // PFC is on for the priority RoCE rides
	qosGlobalPause   qosVerdict = "global-pause"   // 802.3x both ways holds all traffic
	qosLossy         qosVerdict = "lossy"          // neither PFC nor a map: lossy by choice
	qosUndecided     qosVerdict = "undecided"      // the VLAN tag or the application decides
	qosPFCOff        qosVerdict = "pfc-off"        // RoCE has a priority, and no priority has PFC
	qosPriorityZero  qosVerdict = "priority-zero"  // PFC is on elsewhere and nothing maps RoCE there
	qosMapMismatched qosVerdict = "map-mismatched" // RoCE is mapped to a priority without PFC
)

// judgeQoS compares the ride with PFC and global pause.
func judgeQoS(r ride, dcb facts.DCB, pfc facts.PFC, pause facts.Opt[facts.Pause]) qosVerdict {
	prio, known := r.Priority.Get()
	if pfc.Enabled == 0 {
		switch g, ok := pause.Get(); {
		case ok && g.RX && g.TX:
			return qosGlobalPause
		case r.Mapped:
			return qosPFCOff
		}
		return qosLossy
	}
	switch {
	case known && pfc.On(prio):
		return qosLossless
	case known && r.Mapped:
		return qosMapMismatched
	case known:
		return qosPriorityZero
	case !r.ByDSCP:
		return qosUndecided
	}
	// The DSCP is the application's choice: some DSCP must lead to a lossless
	// priority.
	if r.Reach&pfc.Enabled != 0 {
		return qosUndecided
	}
	return qosMapMismatched
}

// priorities lists the priorities of a PFC bitmap, "3" or "3,4" or "none".
func priorities(pfc facts.PFC) string {
	s := ""
	for prio := range 8 {
		if pfc.On(prio) {
			s += fmt.Sprintf(",%d", prio)
		}
	}
	if s == "" {
		return "none"
	}
	return s[1:]
}

// firstPriority is the lowest priority with PFC, or -1.
func firstPriority(pfc facts.PFC) int {
	for prio := range 8 {
		if pfc.On(prio) {
			return prio
		}
	}
	return -1
}
