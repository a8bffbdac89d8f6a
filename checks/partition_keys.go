package checks

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var partitionKeys = register(&Check{
	ID:    "partition-keys",
	Title: "InfiniBand ports are full members of a partition",
	Doc: "Limited members of a partition reach full members only. A port whose keys are all limited cannot talk to its " +
		"equals; one that has a full key at another index than 0 needs programs to choose it.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"pkey-limited"},
	Params: Params{
		"pkey-limited": "device port netdev? pci? pkey? pkey_index?",
	},
	Run: func(p *Pass) {
		for port := range p.Ports(IB) {
			if len(port.PKeys) == 0 {
				p.Unread(port.String(), "pkeys")
				continue
			}
			full, first := -1, port.PKeys[0]
			var texts []string
			for _, k := range port.PKeys {
				texts = append(texts, fmt.Sprintf("%d: 0x%04x", k.Index, k.Value))
				if k.Index < first.Index {
					first = k
				}
				if k.Full() && (full < 0 || k.Index < full) {
					full = k.Index
				}
			}
			if len(texts) > 8 {
				texts = append(texts[:8], "...")
			}
			f := Finding{
				Code: "pkey-limited", Subject: port.String(), Confidence: Proved, Where: port.Where(),
				Evidence: []Evidence{{port.Path("pkeys"), strings.Join(texts, ", ")}},
				Params:   port.Params("pkey", fmt.Sprintf("0x%04x", first.Value)),
			}
			switch {
			case full < 0:
				f.Severity = Warn
				f.Message = fmt.Sprintf("none of the %d partition keys is a full membership: only full members can be reached", len(port.PKeys))
			case !first.Full():
				f.Severity = Info
				f.Message = fmt.Sprintf("the partition key at index %d is limited, a full one is at index %d", first.Index, full)
				f.Params["pkey_index"] = fmt.Sprint(full)
			default:
				continue
			}
			p.Report(f)
		}
	},
})
