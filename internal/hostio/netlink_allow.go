package hostio

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Requests that only read. Everything else is refused here, below every
// collector, so that no request built anywhere can change the host.
var (
	// rtnetlink gives each object four types: new, delete, get, set. Gets are
	// those with remainder 2 (rtnetlink.h; the kernel itself decides by this,
	// rtnl_msgtype_kind).
	routeGet = uint16(2)
	// NLDEV commands (rdma_netlink.h): GET, PORT_GET, SYS_GET, RES_GET,
	// GET_CHARDEV, STAT_GET, STAT_GET_STATUS. Object dumps are not among them: they
	// cost a firmware command each on some drivers.
	rdmaGet    = map[uint8]bool{1: true, 5: true, 6: true, 9: true, 15: true, 17: true, 24: true}
	ethtoolGet = map[uint8]bool{
		unix.ETHTOOL_MSG_STRSET_GET: true, unix.ETHTOOL_MSG_LINKINFO_GET: true, unix.ETHTOOL_MSG_LINKMODES_GET: true,
		unix.ETHTOOL_MSG_LINKSTATE_GET: true, unix.ETHTOOL_MSG_PAUSE_GET: true, unix.ETHTOOL_MSG_FEC_GET: true,
		unix.ETHTOOL_MSG_STATS_GET: true,
	}
	// Never health reporter commands: a dump that is shown is a dump that is made.
	devlinkGet = map[uint8]bool{
		unix.DEVLINK_CMD_GET: true, unix.DEVLINK_CMD_PORT_GET: true,
		unix.DEVLINK_CMD_PARAM_GET: true, unix.DEVLINK_CMD_INFO_GET: true,
	}
)

// mayRequest reports whether a request only reads.
func mayRequest(family string, request []byte) bool {
	typ := binary.NativeEndian.Uint16(request[4:])
	var cmd uint8
	if len(request) > nlHeaderLen {
		cmd = request[nlHeaderLen]
	}
	switch family {
	case "route":
		return typ >= unix.RTM_BASE && typ&3 == routeGet
	case "rdma":
		return typ>>10 == 5 && typ&0x300 == 0 && rdmaGet[uint8(typ)] // RDMA_NL_NLDEV is client 5
	case "ethtool":
		return ethtoolGet[cmd]
	case "devlink":
		return devlinkGet[cmd]
	}
	return false
}
