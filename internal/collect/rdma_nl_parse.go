package collect

import (
	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// nodeTypes are the names that sysfs node_type prints (ib_verbs.h, enum
// rdma_node_type).
var nodeTypes = map[uint8]string{1: "CA", 2: "switch", 3: "router", 4: "RNIC", 5: "usNIC", 6: "usNIC UDP", 7: "unspecified"}

// nlPortStates and nlPhysStates are the names that sysfs prints for the same numbers
// (core/sysfs.c).
var (
	nlPortStates = []facts.PortState{facts.StateNOP, facts.StateDown, facts.StateInit, facts.StateArmed, facts.StateActive, facts.StateActiveDefer}
	nlPhysStates = map[uint8]string{
		1: "Sleep", 2: "Polling", 3: "Disabled", 4: "PortConfigurationTraining", 5: "LinkUp", 6: "LinkErrorRecovery", 7: "Phy Test",
	}
)

// parseNLDevice reads one answer to RDMA_NLDEV_CMD_GET, and how many ports the
// device has.
func parseNLDevice(body []byte) (facts.Device, error) {
	var d facts.Device
	err := attributes(body, 0, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrDevIndex:
			d.Index = facts.Some(int(ad.Uint32()))
		case attrDevName:
			d.Name = text(ad.String())
		case attrFWVersion:
			setText(&d.FirmwareVersion, ad.String())
		case attrNodeGUID:
			d.NodeGUID = facts.Some(guid(ad.Uint64()))
		case attrSysImageGUID:
			d.SysImageGUID = facts.Some(guid(ad.Uint64()))
		case attrDevNodeType:
			setText(&d.NodeType, nodeTypes[ad.Uint8()])
		case attrDevProtocol:
			setText(&d.Protocol, ad.String())
		case attrLinkType:
			setText(&d.ParentType, ad.String())
		}
	})
	if err == nil && (d.Name == "" || !d.Index.Known()) {
		err = form("a device's name and index")
	}
	return d, err
}

// setText stores a kernel string that is not empty.
func setText(dst *facts.Opt[string], s string) {
	if s = text(s); s != "" {
		*dst = facts.Some(s)
	}
}

// parseNLPort reads one answer to RDMA_NLDEV_CMD_PORT_GET.
func parseNLPort(body []byte) (facts.Port, error) {
	var p facts.Port
	err := attributes(body, 0, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrPortIndex:
			p.Number = int(ad.Uint32())
		case attrCapFlags:
			// The low half is CapabilityMask, as sysfs prints it.
			p.CapMask = facts.Some(uint32(ad.Uint64()))
		case attrLID:
			p.LID = facts.Some(ad.Uint32())
		case attrSMLID:
			p.SMLID = facts.Some(ad.Uint32())
		case attrLMC:
			p.LMC = facts.Some(int(ad.Uint8()))
		case attrPortState:
			if s := int(ad.Uint8()); s < len(nlPortStates) {
				p.State = facts.Some(nlPortStates[s])
			}
		case attrPortPhysState:
			setText(&p.PhysState, nlPhysStates[ad.Uint8()])
		case attrNdevName:
			setText(&p.Netdev, ad.String())
		}
	})
	if err == nil && (p.Number < 1 || p.Number > 255) {
		err = form("a port number")
	}
	return p, err
}

// parseNLSys reads the answer to RDMA_NLDEV_CMD_SYS_GET.
func parseNLSys(body []byte, rdma *facts.RDMA) error {
	return attributes(body, 0, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrSysNetnsMode:
			mode := "exclusive"
			if ad.Uint8() != 0 {
				mode = "shared"
			}
			rdma.NetnsMode = facts.Some(mode)
		case attrSysPrivilegedQKey:
			rdma.PrivilegedQKey = facts.Some(ad.Uint8() != 0)
		}
	})
}

// Resources of one device.
type nlResources struct {
	device string
	usage  map[string]facts.Usage
}

// parseNLResources reads one answer to RDMA_NLDEV_CMD_RES_GET, the summary.
func parseNLResources(body []byte) (nlResources, error) {
	res := nlResources{usage: map[string]facts.Usage{}}
	err := attributes(body, 0, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrDevName:
			res.device = text(ad.String())
		case attrResSummary:
			nested(ad, func(entry *netlink.AttributeDecoder) {
				if entry.Type() == attrResSummaryEntry {
					parseResourceEntry(entry, res.usage)
				}
			})
		}
	})
	return res, err
}

func parseResourceEntry(entry *netlink.AttributeDecoder, usage map[string]facts.Usage) {
	var name string
	var u facts.Usage
	nested(entry, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrResSummaryEntryName:
			name = text(ad.String())
		case attrResSummaryEntryCurr:
			u.Current = ad.Uint64()
		case attrResSummaryEntryMax:
			if v := ad.Uint64(); v != 0 {
				u.Max = facts.Some(v)
			}
		}
	})
	if name != "" {
		usage[name] = u
	}
}

// parseNLStats reads the answer to RDMA_NLDEV_CMD_STAT_GET: counters by the
// names that hw_counters has.
func parseNLStats(body []byte) (map[string]uint64, error) {
	stats := map[string]uint64{}
	err := attributes(body, 0, func(ad *netlink.AttributeDecoder) {
		if ad.Type() != attrStatHWCounters {
			return
		}
		nested(ad, func(entry *netlink.AttributeDecoder) {
			if entry.Type() != attrStatHWCounterEntry {
				return
			}
			var name string
			var value uint64
			nested(entry, func(in *netlink.AttributeDecoder) {
				switch in.Type() {
				case attrStatHWCounterName:
					name = text(in.String())
				case attrStatHWCounterValue:
					value = in.Uint64()
				}
			})
			if name != "" {
				stats[name] = value
			}
		})
	})
	return stats, err
}

// parseNLUverbs reads the answer to RDMA_NLDEV_CMD_GET_CHARDEV for uverbs: the
// node's name and the number of the driver, 0 where the kernel is older than
// that attribute.
func parseNLUverbs(body []byte) (node string, driver uint64, err error) {
	err = attributes(body, 0, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case attrChardevName:
			node = text(ad.String())
		case attrUverbsDriverID:
			driver, _ = unsigned(ad)
		}
	})
	return node, driver, err
}

// driverIDs are kernel driver and user-space provider by enum rdma_driver_id
// (ib_user_ioctl_verbs.h). The driver is the one on the bus, as the link
// device/driver names it; it is empty where more than one bus driver carries
// the RDMA driver.
var driverIDs = map[uint64]struct{ driver, provider string }{
	1: {"mlx5_core", "mlx5"}, 2: {"mlx4_core", "mlx4"}, 3: {"iw_cxgb3", "cxgb3"}, 4: {"cxgb4", "cxgb4"},
	5: {"ib_mthca", "mthca"}, 6: {"bnxt_en", "bnxt_re"}, 7: {"be2net", "ocrdma"}, 8: {"iw_nes", "nes"}, 9: {"", "irdma"},
	10: {"vmw_pvrdma", "vmw_pvrdma"}, 11: {"qede", "qedr"}, 12: {"", "hns"}, 13: {"usnic_verbs", "usnic"},
	14: {"rdma_rxe", "rxe"}, 15: {"hfi1", "hfi1verbs"}, 16: {"ib_qib", "ipathverbs"}, 17: {"efa", "efa"},
	18: {"siw", "siw"}, 19: {"erdma", "erdma"}, 20: {"mana", "mana"}, 21: {"ionic", "ionic"}, 22: {"", "bng_re"},
}
