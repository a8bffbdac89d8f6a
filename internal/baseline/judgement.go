package baseline

import (
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// judgement is what a change of a field means and what to call it.
type judgement struct {
	severity checks.Severity
	title    string
}

// set are the fields that change only when somebody or some fault changes them,
// by the beginning of "kind.field". All others are information: they follow
// from the network, from a boot or from an update.
var set = map[string]string{
	"device":                           "the device",
	"device.fw_ver":                    "firmware",
	"device.driver":                    "driver",
	"device.provider":                  "user-space provider",
	"device.protocol":                  "protocol",
	"device.node_type":                 "node type",
	"device.board_id":                  "board",
	"device.hca_type":                  "device type",
	"device.pci":                       "PCI place",
	"device.numa_node":                 "NUMA node",
	"device.resources":                 "object limit",
	"port":                             "the port",
	"port.link_layer":                  "link layer",
	"port.rate":                        "rate",
	"port.width":                       "link width",
	"port.speed":                       "link speed",
	"port.active_mtu":                  "active MTU",
	"port.max_mtu":                     "largest MTU",
	"port.gid_table_len":               "GID table length",
	"port.pkeys":                       "partition key",
	"port.netdev":                      "netdev",
	"port.traffic_class":               "traffic class",
	"port.cm_roce_mode":                "default RoCE mode of rdma_cm",
	"port.cm_roce_tos":                 "default RoCE ToS of rdma_cm",
	"netdev":                           "the netdev",
	"netdev.mtu_bytes":                 "MTU",
	"netdev.kind":                      "kind",
	"netdev.master":                    "master",
	"netdev.lower":                     "netdev beneath",
	"netdev.vlan_id":                   "VLAN",
	"netdev.vlan_egress_qos":           "VLAN egress map",
	"netdev.bond_mode":                 "bond mode",
	"netdev.speed":                     "speed",
	"netdev.duplex":                    "duplex",
	"netdev.driver":                    "driver",
	"netdev.fw_ver":                    "firmware",
	"netdev.pci":                       "PCI place",
	"netdev.pause":                     "global pause",
	"netdev.dcb.pfc.enabled":           "PFC",
	"netdev.dcb.pfc.capability":        "PFC capability",
	"netdev.dcb.ets":                   "ETS",
	"netdev.dcb.apps":                  "priority map",
	"netdev.dcb.dcbx":                  "DCBX mode",
	"netdev.dcb.buffer":                "receive buffer",
	"netdev.dcb.trust":                 "trust",
	"netdev.dcb.max_rate":              "rate limits of traffic classes",
	"netdev.link_modes.autoneg":        "autonegotiation",
	"netdev.link_modes.advertised":     "advertised modes",
	"netdev.link_modes.max_advertised": "fastest advertised mode",
	"netdev.fec":                       "FEC",
	"netdev.sysctl":                    "sysctl",
	"netdev.ecn":                       "ECN",
	"netdev.qdiscs":                    "queueing discipline",
	"pci":                              "the PCI function",
	"pci.driver":                       "driver",
	"pci.current_link":                 "PCIe link",
	"pci.max_link":                     "PCIe capability",
	"pci.iommu":                        "IOMMU domain",
	"pci.numa_node":                    "NUMA node",
	"pci.device_id":                    "device id",
	"pci.parent":                       "bridge above",
	"chardev":                          "the device node",
	"chardev.mode":                     "mode",
	"chardev.uid":                      "owner",
	"chardev.gid":                      "group",
	"chardev.open_error":               "error on opening",
	"module":                           "the module",
	"module.version":                   "version",
	"module.taints":                    "taints",
	"module.parameters":                "parameter",
	"pci.config":                       "PCI configuration",
	"library setting":                  "the library setting",
	"library setting.value":            "value",
	"unit.limits":                      "limit",
	"limit":                            "the limit rule",
	"host.rdma":                        "RDMA setting",
	"host.rdma.netns_mode":             "RDMA namespace mode",
	"host.memory.max_map_count":        "vm.max_map_count",
	"host.memory.total":                "memory",
	"host.userland.providers":          "user-space providers",
	"host.userland.driver_files":       "provider configuration",
}

// incidental are fields beneath those of set that change by themselves.
var incidental = map[string]bool{
	"chardev.rdev": true, "chardev.sysfs_dev": true, "chardev.device": true, "netdev.operstate": true,
	"netdev.carrier": true, "netdev.admin_up": true, "netdev.link_ext_state": true, "netdev.addresses": true,
	"netdev.mac": true, "netdev.min_mtu_bytes": true, "netdev.max_mtu_bytes": true, "netdev.link_modes": true,
	"port.state": true, "port.phys_state": true, "port.lid": true, "port.sm_lid": true, "port.lmc": true,
	"port.sm_sl": true, "port.cap_mask": true, "port.gids": true, "device.node_desc": true, "device.node_guid": true,
	"device.sys_image_guid": true, "device.netdevs": true, "pci.sriov_numvfs": true, "pci.netdevs": true,
	"pci.rdma_devices": true, "pci.vf": true, "device.hw_rev": true, "device.link_type": true, "device.uverbs": true,
	"netdev.dcb.pfc.delay": true, "module.state": true,
}

// absenceTells are the fields whose absence is a value: not a member, no VLAN.
var absenceTells = map[string]bool{
	"netdev.master": true, "netdev.lower": true, "netdev.vlan_id": true, "netdev.kind": true, "pci.driver": true,
	"pci.vf": true, "pci.parent": true, "module.taints": true, "pci.netdevs": true, "pci.rdma_devices": true,
	"port.gid_choice.perftest": true, "port.gid_choice.nccl": true, "port.gid_choice.ucx": true, "port.gid_choice.rdma_cm": true,
	"chardev.open_error": true, "netdev.dcb.trust": true, "device.netdevs": true,
}

// judge finds the judgement of a field, "" for the thing itself.
func judge(kind settings.Kind, field string) judgement {
	if field == "" {
		title, ok := set[string(kind)]
		if !ok {
			return judgement{checks.Info, string(kind)}
		}
		return judgement{checks.Warn, title}
	}
	name, best := string(kind)+"."+settings.Bare(field), ""
	j := judgement{checks.Info, plain(field)}
	for prefix, title := range set {
		if strings.Contains(prefix, ".") && len(prefix) > len(best) && strings.HasPrefix(name, prefix) {
			best, j = prefix, judgement{checks.Warn, title}
		}
	}
	for prefix := range incidental {
		if len(prefix) > len(best) && strings.HasPrefix(name, prefix) {
			best, j = prefix, judgement{checks.Info, plain(field)}
		}
	}
	if key, ok := strings.CutPrefix(settings.Index(field), dscpSelector); ok && j.title == set["netdev.dcb.apps"] {
		j.title = "priority of DSCP " + key
	} else if key := settings.Index(field); key != "" {
		j.title += " " + key
	}
	return j
}

// dscpSelector begins the index of a DSCP entry of the APP table.
var dscpSelector = strconv.Itoa(facts.SelectorDSCP) + ":"

// plain is a field's name in words.
func plain(field string) string {
	return strings.NewReplacer("_", " ", ".", " ", "[]", "").Replace(settings.Bare(field))
}

// shown is a value as a reader knows it.
func shown(kind settings.Kind, field, value string) string {
	if kind == settings.Netdev && field == "dcb.pfc.enabled" && value != "" {
		n, err := strconv.Atoi(value)
		if err != nil {
			return value
		}
		return "on for priority " + bits(n)
	}
	return value
}

// bits lists the priorities of a bitmap.
func bits(n int) string {
	var on []string
	for p := range 8 {
		if n&(1<<p) != 0 {
			on = append(on, strconv.Itoa(p))
		}
	}
	if len(on) == 0 {
		return "none"
	}
	return strings.Join(on, ",")
}
