package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var cnpPriority = register(&Check{
	ID:    "cnp-priority",
	Title: "congestion notifications ride another priority than the data",
	Doc: "A CNP tells the sender to slow down. On the priority of the data it waits behind the very congestion, or is " +
		"paused with it, and the sender learns too late.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.DCBNetlink},
	Uses:  []facts.Source{facts.PCISysfs},
	Codes: []string{"cnp-priority-wrong"},
	Params: Params{
		"cnp-priority-wrong": "device port netdev pci? priority cnp_dscp cnp_priority",
	},
	Run: func(p *Pass) {
		for q := range p.qosPorts() {
			data, ok := q.Priority.Get()
			if !ok || !q.Mapped {
				p.NotApplicable("RoCE has no priority of its own on %s", q.Netdev.Name)
				continue
			}
			cnp, from, ok := cnpRide(q)
			if !ok {
				p.NotApplicable("which priority CNPs of %s ride is not known", q.Netdev.Name)
				continue
			}
			if cnp != data {
				continue
			}
			d := cnpDSCP
			if own, ok := q.ECN["roce_np/cnp_dscp"]; ok {
				d = own
			}
			better := 6 // Where DSCP 48 leads by its class selector.
			if pfc, _ := q.PFC.Get(); data == better || pfc.On(better) {
				better = 7
			}
			p.Report(Finding{
				Code: "cnp-priority-wrong", Severity: Warn, Subject: q.PortRef.String(), Confidence: Likely, Where: q.Where(),
				Message:  fmt.Sprintf("CNPs ride priority %d, the priority of the RoCE data they speak of", cnp),
				Evidence: append(from, Evidence{"priority of RoCE on " + q.Netdev.Name, strconv.Itoa(data)}),
				Params: q.Params("priority", strconv.Itoa(data), "cnp_dscp", strconv.Itoa(d),
					"cnp_priority", strconv.Itoa(better)),
			})
		}
	},
})

// cnpRide is the priority of CNPs: by the map of their DSCP where DSCP is
// trusted and mapped, else by the driver's own setting.
func cnpRide(q qosPort) (prio int, from []Evidence, ok bool) {
	d, own := q.ECN["roce_np/cnp_dscp"]
	if own {
		from = append(from, Evidence{"/sys/class/net/" + q.Netdev.Name + "/ecn/roce_np/cnp_dscp", strconv.Itoa(d)})
	} else {
		d = cnpDSCP
	}
	if q.ByDSCP {
		for _, a := range q.Apps {
			if a.Selector == facts.SelectorDSCP && a.Protocol == d {
				from = append(from, Evidence{"dcb -N app show dev " + q.Netdev.Name + " dscp-prio", fmt.Sprintf("dscp-prio %d:%d", d, a.Priority)})
				return a.Priority, from, true
			}
		}
	}
	if prio, ok := q.ECN["roce_np/cnp_802p_prio"]; ok {
		from = append(from, Evidence{"/sys/class/net/" + q.Netdev.Name + "/ecn/roce_np/cnp_802p_prio", strconv.Itoa(prio)})
		return prio, from, true
	}
	if own && q.ByDSCP && q.Device.Provider.Or("") == "mlx5" {
		return d >> 3, from, true // The device's map before any entry is written.
	}
	return 0, nil, false
}
