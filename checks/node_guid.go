package checks

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var nodeGUID = register(&Check{
	ID:    "node-guid",
	Title: "every device has a node GUID",
	Doc: "rdma_cm knows devices by their node GUID and cannot use one whose GUID is zero, as virtual functions have until " +
		"the host sets it.",
	Layer: Addressing,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.ProcessList, facts.RDMANetlink, facts.PCISysfs},
	Codes: []string{"node-guid-zero"},
	Params: Params{
		"node-guid-zero": "device pci?",
	},
	Run: func(p *Pass) {
		for d := range p.Devices(nil) {
			guid, ok := d.NodeGUID.Get()
			if !ok {
				p.Unread(d.Name, "node_guid")
				continue
			}
			if strings.Trim(guid, "0:") != "" {
				continue
			}
			severity := Fail
			if want, _ := p.WantedDevice(d); !want || p.spare(d) {
				severity = Info
			}
			p.Report(Finding{
				Code: "node-guid-zero", Severity: severity, Subject: d.Name, Confidence: Proved,
				Where:    Where{Device: d.Name, PCI: d.PCI.Or("")},
				Message:  "the node GUID is zero: rdma_cm cannot use the device",
				Evidence: []Evidence{{"/sys/class/infiniband/" + d.Name + "/node_guid", guid}},
				Params:   params("device", d.Name, "pci", d.PCI.Or("")),
			})
		}
	},
})
