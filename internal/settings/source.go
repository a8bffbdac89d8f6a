package settings

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// origins are the sources of things, and of fields that come from elsewhere
// than their thing. The longest beginning of "kind.field" decides.
var origins = map[string]facts.Source{
	"device":                 facts.SysfsRDMA,
	"device.resources":       facts.RDMANetlink,
	"device.uverbs":          facts.CharDevNodes,
	"port":                   facts.SysfsRDMA,
	"port.cm_roce":           facts.ConfigFS,
	"netdev":                 facts.Links,
	"netdev.driver":          facts.Ethtool,
	"netdev.fw_ver":          facts.Ethtool,
	"netdev.pause":           facts.Ethtool,
	"netdev.link_modes":      facts.Ethtool,
	"netdev.fec":             facts.Ethtool,
	"netdev.link_ext_state":  facts.Ethtool,
	"netdev.dcb":             facts.DCBNetlink,
	"netdev.sysctl":          facts.SysctlNet,
	"netdev.transceiver":     facts.Ethtool,
	"netdev.lldp":            facts.LLDPFiles,
	"pci":                    facts.PCISysfs,
	"pci.devlink_params":     facts.Devlink,
	"pci.serial_number":      facts.Devlink,
	"pci.virtual_functions":  facts.SRIOV,
	"chardev":                facts.CharDevNodes,
	"module":                 facts.ModuleList,
	"unit":                   facts.UnitFiles,
	"route":                  facts.RoutesSource,
	"rule":                   facts.RoutesSource,
	"filter":                 facts.FilterSource,
	"library setting":        facts.LibraryConf,
	"limit":                  facts.ProcLimits,
	"host":                   facts.Namespaces,
	"host.rdma":              facts.RDMANetlink,
	"host.rdma.subsystem":    facts.SysfsRDMA,
	"host.rdma.cgroup":       facts.RDMACgroup,
	"host.memory":            facts.MemorySource,
	"host.userland":          facts.LibraryFiles,
	"host.kernel_modules":    facts.ModuleIndex,
	"host.self":              facts.ProcLimits,
	"host.cpu":               facts.CPUSource,
	"host.gpudirect":         facts.ModuleList,
	"host.kernel_modules.bu": facts.ModuleList,
}

// Source is where a field of a thing comes from. Field may be empty.
func Source(kind Kind, field string) facts.Source {
	name, best, src := string(kind)+"."+field, -1, facts.Source("")
	for prefix, s := range origins {
		if len(prefix) > best && strings.HasPrefix(name, prefix) {
			best, src = len(prefix), s
		}
	}
	return src
}
