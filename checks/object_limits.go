package checks

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var objectLimits = register(&Check{
	ID:    "object-limits",
	Title: "the devices have room for more QPs and other objects",
	Doc: "A device holds a fixed number of QPs, CQs, memory regions and protection domains. All-to-all programs need one " +
		"QP a peer and process; at the limit creating one fails with ENOMEM or EINVAL.",
	Layer: Limits,
	Needs: []facts.Source{facts.SysfsRDMA, facts.RDMANetlink},
	Codes: []string{"qp-limit"},
	Params: Params{
		"qp-limit": objectParams,
	},
	Run: func(p *Pass) {
		p.Read(facts.RDMANetlink)
		for d := range p.Devices(nil) {
			if len(d.Resources) == 0 {
				p.Unread(d.Name, "object counts")
				continue
			}
			limited := false
			for _, kind := range slices.Sorted(maps.Keys(d.Resources)) {
				u := d.Resources[kind]
				most, ok := u.Max.Get()
				if !ok || most == 0 {
					continue
				}
				limited = true
				if u.Current < most-most/10 {
					continue
				}
				f := Finding{
					Code: "qp-limit", Severity: Warn, Subject: d.Name, Confidence: Proved,
					Where:    Where{Device: d.Name, PCI: d.PCI.Or("")},
					Message:  fmt.Sprintf("%d of %d objects of kind %s are in use", u.Current, most, kind),
					Evidence: []Evidence{{"rdma resource show " + d.Name, fmt.Sprintf("%s %d of %d", kind, u.Current, most)}},
					Params: params("device", d.Name, "pci", d.PCI.Or(""), "kind", kind,
						"used", strconv.FormatUint(u.Current, 10), "limit", strconv.FormatUint(most, 10)),
				}
				if u.Current >= most {
					f.Severity = Fail
				}
				p.Report(f)
			}
			if !limited {
				p.NotApplicable("the kernel does not tell the limits of %s", d.Name)
			}
		}
	},
})
