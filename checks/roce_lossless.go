package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var roceLossless = register(&Check{
	ID:    "roce-lossless",
	Title: "PFC protects the priority that RoCE rides",
	Doc: "RoCE recovers from loss slowly, so most networks give it a lossless priority: PFC on one priority, and DSCP or " +
		"VLAN tags that lead RoCE there. PFC on another priority than the traffic's protects nothing. A network may be " +
		"lossy by choice: then only harm makes it a fault.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.DCBNetlink},
	Uses:  []facts.Source{facts.PCISysfs, facts.Ethtool, facts.ConfigFS},
	Codes: []string{"pfc-off", "roce-in-priority-zero", "dscp-map-mismatch"},
	Params: Params{
		"pfc-off":               "device port netdev pci? priority dscp",
		"roce-in-priority-zero": "device port netdev pci? priority dscp",
		"dscp-map-mismatch":     "device port netdev pci? priority dscp mapped_priority?",
	},
	Run: func(p *Pass) {
		p.Read(facts.Ethtool, facts.ConfigFS)
		for q := range p.qosPorts() {
			pfc, ok := q.PFC.Get()
			if !ok {
				p.missing(facts.DCBNetlink, q.Netdev.Name, "PFC")
				continue
			}
			switch v := judgeQoS(q.ride, q.DCB, pfc, q.Pause); v {
			case qosLossy, qosPFCOff:
				reportPFCOff(p, q, pfc, v)
			case qosPriorityZero, qosMapMismatched:
				reportElsewhere(p, q, pfc, v)
			}
		}
	},
})

// reportPFCOff: no priority has PFC. Alone it is a choice; discards make it a
// fault, and retransmission a likely one.
func reportPFCOff(p *Pass, q qosPort, pfc facts.PFC, v qosVerdict) {
	f := Finding{
		Code: "pfc-off", Severity: Info, Subject: q.PortRef.String(), Confidence: Possible, Where: q.Where(),
		Evidence: q.evidence(pfc),
	}
	prio := q.Priority.Or(0)
	f.Message = fmt.Sprintf("PFC is off on netdev %s for priority %d, which RoCE rides", q.Netdev.Name, prio)
	if v == qosLossy {
		f.Message = fmt.Sprintf("netdev %s has neither PFC nor a DSCP map: RoCE is lossy there", q.Netdev.Name)
		prio = defaultPriority
	}
	if drops := roceDropped(q.Netdev, q.Priority); len(drops) > 0 {
		f.Severity, f.Confidence = Fail, Likely
		f.Message += fmt.Sprintf(", and %d packets were discarded between the samples", most(drops))
		for _, g := range drops {
			f.Evidence = append(f.Evidence, g.evidence("ethtool -S "+q.Netdev.Name+" ", p.snap.Between(facts.Ethtool)))
		}
	} else if again := resent(q.PortRef); len(again) > 0 {
		f.Severity = Warn
		f.Message += ", and packets were sent again between the samples"
		for _, g := range again {
			f.Evidence = append(f.Evidence, g.evidence(q.Path("hw_counters/"), p.snap.Between(facts.SysfsRDMA)))
		}
	}
	f.Params = q.Params("priority", strconv.Itoa(prio), "dscp", q.dscpParam())
	p.Report(f)
}

// reportElsewhere: PFC is on for a priority that RoCE does not ride.
func reportElsewhere(p *Pass, q qosPort, pfc facts.PFC, v qosVerdict) {
	lossless := firstPriority(pfc)
	f := Finding{
		Code: "roce-in-priority-zero", Severity: Warn, Subject: q.PortRef.String(), Confidence: Likely, Where: q.Where(),
		Evidence: q.evidence(pfc), Params: q.Params("priority", strconv.Itoa(lossless), "dscp", q.dscpParam()),
	}
	switch mapped, known := q.Priority.Get(); {
	case v == qosMapMismatched && known:
		f.Code = "dscp-map-mismatch"
		f.Message = fmt.Sprintf("RoCE rides priority %d, and PFC is on for priority %s", mapped, priorities(pfc))
		if q.DSCP.Known() {
			f.Message = fmt.Sprintf("DSCP %s of RoCE maps to priority %d, and PFC is on for priority %s", q.DSCP, mapped, priorities(pfc))
		}
		f.Params["mapped_priority"] = strconv.Itoa(mapped)
	case v == qosMapMismatched:
		f.Code = "dscp-map-mismatch"
		f.Message = fmt.Sprintf("no DSCP of the map leads to a priority with PFC, which is on for %s", priorities(pfc))
	case q.ByDSCP:
		f.Message = fmt.Sprintf("no map entry for DSCP %s: RoCE rides priority %d, and PFC is on for priority %s",
			q.dscpParam(), mapped, priorities(pfc))
	default:
		f.Message = fmt.Sprintf("untagged RoCE with PCP trust rides priority 0, and PFC is on for priority %s", priorities(pfc))
	}
	if drops := roceDropped(q.Netdev, q.Priority); len(drops) > 0 {
		f.Severity = Fail
		f.Message += fmt.Sprintf("; %d packets were discarded between the samples", most(drops))
		for _, g := range drops {
			f.Evidence = append(f.Evidence, g.evidence("ethtool -S "+q.Netdev.Name+" ", p.snap.Between(facts.Ethtool)))
		}
	}
	p.Report(f)
}
