package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var dcbxOwner = register(&Check{
	ID:    "dcbx-owner",
	Title: "the host owns the lossless settings it made",
	Doc: "DCBX negotiates PFC and maps with the switch. Where the NIC's firmware runs it, settings made on the host are " +
		"ignored or overwritten later.",
	Layer: Lossless,
	Needs: []facts.Source{facts.SysfsRDMA, facts.Links, facts.DCBNetlink},
	Uses:  []facts.Source{facts.PCISysfs},
	Codes: []string{"dcbx-not-host-owned"},
	Params: Params{
		"dcbx-not-host-owned": "device port netdev pci? dcbx",
	},
	Run: func(p *Pass) {
		for q := range p.qosPorts() {
			mode, ok := q.DCBX.Get()
			if !ok {
				p.missing(facts.DCBNetlink, q.Netdev.Name, "DCBX mode")
				continue
			}
			const host = 1 // DCB_CAP_DCBX_HOST
			if mode&host != 0 {
				continue
			}
			p.Report(Finding{
				Code: "dcbx-not-host-owned", Severity: Info, Subject: q.PortRef.String(), Confidence: Proved, Where: q.Where(),
				Message:  fmt.Sprintf("the firmware of %s owns DCB: settings made on the host may not hold", q.Netdev.Name),
				Evidence: []Evidence{{"DCB_ATTR_DCBX " + q.Netdev.Name, fmt.Sprintf("0x%02x, DCB_CAP_DCBX_HOST clear", mode)}},
				Params:   q.Params("dcbx", strconv.Itoa(mode)),
			})
		}
	},
})
