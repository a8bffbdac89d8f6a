package compare

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// pcieAgrees compares what the BIOS and the slot make of a card.
func pcieAgrees(ss []slot) checks.Result {
	of := func(read func(*facts.PCIFunction) (string, bool)) func(member) (string, bool) {
		return func(m member) (string, bool) {
			f := m.pci()
			if f == nil || f.VF {
				return "", false // A VF shows its host's.
			}
			return read(f)
		}
	}
	config := func(read func(facts.PCIConfig) (string, bool)) func(member) (string, bool) {
		return of(func(f *facts.PCIFunction) (string, bool) {
			c, ok := f.Config.Get()
			if !ok {
				return "", false
			}
			return read(c)
		})
	}
	attr := func(name string) func(member) string {
		return func(m member) string { return "/sys/bus/pci/devices/" + m.device.PCI.Or("") + "/" + name }
	}
	return agree("pcie-agrees", checks.PCIe, "hosts agree on the PCIe links and settings of their NICs", ss, []trait{
		{what: "PCIe width", severity: checks.Warn, better: larger, source: attr("current_link_width"), pick: lower("pcie-width-degraded"), ofDevice: true,
			value: of(func(f *facts.PCIFunction) (string, bool) { return known(f.CurrentWidth) }),
			params: func(_ member, is, want string) []string {
				return []string{"width", "x" + is, "expected", "x" + want}
			}},
		{what: "PCIe speed", severity: checks.Warn, better: larger, source: attr("current_link_speed"), pick: lower("pcie-speed-degraded"), ofDevice: true,
			value: of(func(f *facts.PCIFunction) (string, bool) { return known(f.CurrentSpeed) }),
			params: func(_ member, is, want string) []string {
				return []string{"speed", is + " GT/s", "expected", want + " GT/s"}
			}},
		{what: "IOMMU domain", severity: checks.Warn, source: attr("iommu_group/type"),
			value: of(func(f *facts.PCIFunction) (string, bool) { return known(f.IOMMUType) })},
		{what: "Max_Payload_Size", severity: checks.Warn, better: larger, source: attr("config"),
			value: config(func(c facts.PCIConfig) (string, bool) { return known(c.MaxPayload) })},
		{what: "Max_Read_Request_Size", severity: checks.Warn, better: larger, source: attr("config"),
			value: config(func(c facts.PCIConfig) (string, bool) { return known(c.MaxReadRequest) })},
		{what: "ASPM", severity: checks.Warn, source: attr("config"),
			value: config(func(c facts.PCIConfig) (string, bool) { return known(c.ASPM) })},
		{what: "width of the slot", severity: checks.Warn, better: larger, source: above("max_link_width"),
			value: ofSlot(func(f *facts.PCIFunction) (string, bool) { return known(f.MaxWidth) })},
		{what: "speed of the slot", severity: checks.Warn, better: larger, source: above("max_link_speed"),
			value: ofSlot(func(f *facts.PCIFunction) (string, bool) { return known(f.MaxSpeed) })},
		{what: "ACS of the bridges above", severity: checks.Warn, source: above("config"), value: acsAbove},
		{what: "relaxed ordering", severity: checks.Warn, source: attr("config"),
			value: config(func(c facts.PCIConfig) (string, bool) { return known(c.RelaxedOrdering) })},
		{what: "NUMA node", severity: checks.Warn, source: attr("numa_node"),
			value: of(func(f *facts.PCIFunction) (string, bool) { return known(f.NUMANode) })},
	})
}

// bridge is the one right above a member's function, nil where it was not read.
// What stands above a VF is its host's.
func bridge(m member) *facts.PCIFunction {
	f := m.pci()
	if f == nil || f.VF {
		return nil
	}
	return m.snap.PCITree()[f.Parent]
}

// above is a file of the bridge above.
func above(name string) func(member) string {
	return func(m member) string {
		if f := bridge(m); f != nil {
			return "/sys/bus/pci/devices/" + f.Address + "/" + name
		}
		return "bridge above " + m.device.PCI.Or("")
	}
}

// ofSlot reads what the bridge above says of the slot.
func ofSlot(read func(*facts.PCIFunction) (string, bool)) func(member) (string, bool) {
	return func(m member) (string, bool) {
		f := bridge(m)
		if f == nil {
			return "", false
		}
		return read(f)
	}
}

// acsAbove is the ACS control of all bridges above that have one, the nearest
// first. It is read where a GPU's traffic passes them.
func acsAbove(m member) (string, bool) {
	f := m.pci()
	if f == nil || f.VF {
		return "", false
	}
	var values []string
	for _, up := range m.snap.PCITree().Bridges(f) {
		if c, ok := up.Config.Get(); ok && c.Bytes == facts.PCIConfigSpace {
			if acs, ok := c.ACS.Get(); ok {
				values = append(values, fmt.Sprintf("%#x", acs))
			} else {
				values = append(values, "none")
			}
		}
	}
	return strings.Join(values, " "), values != nil
}
