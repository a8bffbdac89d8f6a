package collect

import (
	"encoding/binary"
	"fmt"

	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// Commands of the client RDMA_NL_NLDEV of NETLINK_RDMA (include/uapi/rdma/rdma_netlink.h,
// enum rdma_nldev_command).
const (
	nldevClient     = 5 << 10 // RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)
	nldevGet        = 1
	nldevPortGet    = 5
	nldevSysGet     = 6
	nldevResGet     = 9
	nldevGetChardev = 15
	nldevStatGet    = 17
)

// Attributes (rdma_netlink.h, enum rdma_nldev_attr).
const (
	attrDevIndex            = 1
	attrDevName             = 2
	attrPortIndex           = 3
	attrCapFlags            = 4
	attrFWVersion           = 5
	attrNodeGUID            = 6
	attrSysImageGUID        = 7
	attrLID                 = 9
	attrSMLID               = 10
	attrLMC                 = 11
	attrPortState           = 12
	attrPortPhysState       = 13
	attrDevNodeType         = 14
	attrResSummary          = 15
	attrResSummaryEntry     = 16
	attrResSummaryEntryName = 17
	attrResSummaryEntryCurr = 18
	attrNdevName            = 51
	attrLinkType            = 65
	attrSysNetnsMode        = 66
	attrDevProtocol         = 67
	attrChardevType         = 69
	attrChardevName         = 70
	attrUverbsDriverID      = 73
	attrStatHWCounters      = 80
	attrStatHWCounterEntry  = 81
	attrStatHWCounterName   = 82
	attrStatHWCounterValue  = 83
	attrSysPrivilegedQKey   = 96
	attrResSummaryEntryMax  = 118
)

func rdmaOp(name string, command uint16, flags netlink.HeaderFlags, put func(*netlink.AttributeEncoder)) hostio.Op {
	return netlinkOp("rdma/"+name, nldevClient|command, flags, nil, put)
}

func deviceDump() hostio.Op   { return rdmaOp("device-dump", nldevGet, nlDump, nil) }
func sysGet() hostio.Op       { return rdmaOp("sys-get", nldevSysGet, 0, nil) }
func resourceDump() hostio.Op { return rdmaOp("resource-dump", nldevResGet, nlDump, nil) }

// portDump asks for all ports of one device. The kernel takes the index; the
// name makes the op the same on every host.
func portDump(device string, index int) hostio.Op {
	return rdmaOp("port-dump."+device, nldevPortGet, nlDump, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(attrDevIndex, uint32(index))
	})
}

func statGet(device string, index, port int) hostio.Op {
	return rdmaOp(fmt.Sprintf("stat-get.%s/%d", device, port), nldevStatGet, 0, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(attrDevIndex, uint32(index))
		ae.Uint32(attrPortIndex, uint32(port))
	})
}

// uverbsGet asks for a device's uverbs node. The kernel loads ib_uverbs to
// answer, so it is asked only where that is loaded.
func uverbsGet(device string, index int) hostio.Op {
	return rdmaOp("uverbs-get."+device, nldevGetChardev, 0, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(attrDevIndex, uint32(index))
		ae.String(attrChardevType, "uverbs")
	})
}

// guid is a GUID in the form sysfs prints.
func guid(v uint64) string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", v>>48, v>>32&0xffff, v>>16&0xffff, v&0xffff)
}

// unsigned reads a number of any width: the driver id is 32 bits, though the
// header calls it 64.
func unsigned(ad *netlink.AttributeDecoder) (uint64, bool) {
	switch b := ad.Bytes(); len(b) {
	case 1:
		return uint64(b[0]), true
	case 4:
		return uint64(binary.NativeEndian.Uint32(b)), true
	case 8:
		return binary.NativeEndian.Uint64(b), true
	}
	return 0, false
}
