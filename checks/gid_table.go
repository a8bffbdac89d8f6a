package checks

import (
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var gidTable = register(&Check{
	ID:    "gid-table",
	Title: "the GID table has room for more addresses",
	Doc: "Every address of a RoCE netdev and of its VLANs takes a slot of the port's GID table, two where RoCE v1 is " +
		"supported too. An address that finds no slot cannot be used for RDMA, and only the kernel log says so.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"gid-table-full"},
	Params: Params{
		"gid-table-full": "device port netdev? pci? used limit",
	},
	Run: func(p *Pass) {
		for port := range p.Ports(RoCE) {
			size, ok := port.GIDTableLen.Get()
			if !ok {
				p.Unread(port.String(), "GID table")
				continue
			}
			if size < wholeTable {
				p.NotApplicable("%s lists %d slots, which is no whole GID table", port, size)
				continue
			}
			used := len(port.GIDs)
			f := Finding{
				Code: "gid-table-full", Severity: Warn, Subject: port.String(), Confidence: Proved, Where: port.Where(),
				Message:  fmt.Sprintf("%d of %d slots of the GID table are used", used, size),
				Evidence: []Evidence{{port.Path("gids"), fmt.Sprintf("%d entries, %d used", size, used)}},
				Params:   port.Params("used", strconv.Itoa(used), "limit", strconv.Itoa(size)),
			}
			switch {
			case used >= size:
				f.Severity = Fail
			case used >= size-size/10: // The next VLAN or address or two do not fit.
			default:
				continue
			}
			p.Report(f)
		}
	},
})

// wholeTable is the least that a RoCE device has: hardware has 16 to 1024
// slots, and a copied tree may hold a few of them.
const wholeTable = 8
