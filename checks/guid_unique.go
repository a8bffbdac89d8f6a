package checks

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var guidUnique = register(&Check{
	ID:    "guid-unique",
	Title: "no two devices have one GUID",
	Doc: "A subnet manager knows ports by their GUIDs, and librdmacm knows devices by theirs. Where two have the same, one " +
		"is kept out of the subnet or is mistaken for the other. Cloned firmware settings and virtual functions that were " +
		"given one value are the usual source.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"guid-duplicate"},
	Params: Params{
		"guid-duplicate": "device pci? guid other?",
	},
	Run: func(p *Pass) {
		s := p.Read()
		for d := range p.Devices(nil) {
			switch {
			case d.Software() || !addressedByGUID(d):
				p.NotApplicable("%s is not known by its GUID", d.Name)
			case !d.NodeGUID.Known():
				p.Unread(d.Name, "node_guid")
			default:
				judgeGUID(p, s, d)
			}
		}
	},
})

// addressedByGUID reports whether peers or programs find the device by GUID,
// which is so on InfiniBand and RoCE.
func addressedByGUID(d *facts.Device) bool {
	return slices.ContainsFunc(d.Ports, func(port facts.Port) bool {
		return port.LinkLayer.Or("") == facts.InfiniBand || facts.RoCE(d, &port)
	})
}

// judgeGUID reports the later of two devices by name. Several devices of one
// PCI function, as the planes of one port, may share a GUID.
func judgeGUID(p *Pass, s *facts.Snapshot, d *facts.Device) {
	guid := d.NodeGUID.Or("")
	if strings.Trim(guid, "0:") == "" {
		return // The node-guid check's.
	}
	var first *facts.Device
	for i := range s.Devices {
		o := &s.Devices[i]
		if o.Name < d.Name && o.NodeGUID.Or("") == guid && !o.Software() && addressedByGUID(o) &&
			o.PCI.Known() && o.PCI != d.PCI && d.PCI.Known() && (first == nil || o.Name < first.Name) {
			first = o
		}
	}
	if first == nil {
		return
	}
	p.Report(Finding{
		Code: "guid-duplicate", Severity: Warn, Subject: d.Name, Confidence: Proved,
		Where:   Where{Device: d.Name, PCI: d.PCI.Or("")},
		Message: fmt.Sprintf("the node GUID %s is that of %s, too", guid, first.Name),
		Evidence: []Evidence{{"/sys/class/infiniband/" + d.Name + "/node_guid", guid},
			{"/sys/class/infiniband/" + first.Name + "/node_guid", guid}},
		Params: params("device", d.Name, "pci", d.PCI.Or(""), "guid", guid, "other", first.Name),
	})
}
