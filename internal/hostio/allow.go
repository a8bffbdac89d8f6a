package hostio

import (
	"encoding/binary"
	"path"
	"strings"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// Allowed reports whether op only reads, and reads nothing whose reading has an
// effect. A live host answers no other op, whatever a collector asks for.
func Allowed(op Op) bool {
	switch op.Kind {
	case ReadFile:
		return filePath(op.Name) && !neverRead(path.Base(op.Name)) &&
			!strings.HasPrefix(path.Clean(op.Name)+"/", "/sys/kernel/debug/")
	case ReadLink, ReadDir, Stat:
		return filePath(op.Name)
	case OpenNodes:
		return ofProcess(op.Name, "/fd")
	case CountLines:
		return ofProcess(op.Name, "/maps")
	case Environ:
		return ofProcess(op.Name, "/environ")
	case SymbolVersions:
		return verbsLibrary().MatchString(op.Name) && filePath(op.Name) && path.Clean(op.Name) == op.Name
	case TryOpen:
		return mayOpen(op.Name)
	case Netlink:
		family, _, _ := strings.Cut(op.Name, "/")
		return len(op.Request) >= nlHeaderLen && mayRequest(family, op.Request)
	case EthtoolStats, EthtoolDriver, EthtoolPause:
		return netdevName(op.Name)
	case System, KernelLog:
		return true
	}
	return false
}

// filePath reports whether name can be the name of a file op.
func filePath(name string) bool { return path.IsAbs(name) && !strings.ContainsRune(name, 0) }

// neverRead reports whether base is the name of a file that is never read.
// Doing so reaches
// device memory or firmware (sysfs-bus-pci: rom, resourceN, resourceN_wc, vpd),
// takes records
// away from other readers (/proc/kmsg, trace_pipe), reads memory, or brings
// secrets in (environ, of which Environ gives a part).
func neverRead(base string) bool {
	switch base {
	case "vpd", "rom", "resource", "kmsg", "trace_pipe", "mem", "kcore", "environ":
		return true
	}
	bar, ok := strings.CutPrefix(base, "resource")
	return ok && digits(strings.TrimSuffix(bar, "_wc"))
}

// digits reports whether s is a number in decimal digits.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ofProcess reports whether name is that file of a process, or of this one.
func ofProcess(name, file string) bool {
	rest, ok := strings.CutPrefix(name, "/proc/")
	pid, ok2 := strings.CutSuffix(rest, file)
	return ok && ok2 && (pid == "self" || digits(pid) && len(pid) <= 10)
}

// mayOpen reports whether name is of the only device nodes that are opened.
func mayOpen(name string) bool {
	node, ok := strings.CutPrefix(name, "/dev/infiniband/")
	if !ok || node == "rdma_cm" {
		return ok
	}
	n, ok := strings.CutPrefix(node, "uverbs")
	return ok && digits(n) && len(n) <= 5
}

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
		unix.ETHTOOL_MSG_STATS_GET: true, unix.ETHTOOL_MSG_MODULE_EEPROM_GET: true,
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
		// RDMA_NL_NLDEV is client 5.
		return typ>>10 == 5 && typ&0x300 == 0 && rdmaGet[uint8(typ)] &&
			(typ&0xff != rdmaGetChardev || asksForUverbs(request))
	case "netfilter":
		return typ>>8 == unix.NFNL_SUBSYS_NFTABLES && (uint8(typ) == unix.NFT_MSG_GETCHAIN || uint8(typ) == unix.NFT_MSG_GETRULE)
	case "ethtool":
		return ethtoolGet[cmd]
	case "devlink":
		return devlinkGet[cmd]
	}
	return false
}

const (
	rdmaGetChardev  = 15 // RDMA_NLDEV_CMD_GET_CHARDEV
	rdmaChardevType = 69 // RDMA_NLDEV_ATTR_CHARDEV_TYPE
)

// asksForUverbs reports whether a request for a character device is for
// uverbs. The kernel loads the module of the client asked for.
func asksForUverbs(request []byte) bool {
	ad, err := netlink.NewAttributeDecoder(request[nlHeaderLen:])
	if err != nil {
		return false
	}
	uverbs := false
	for ad.Next() {
		if ad.Type() == rdmaChardevType {
			uverbs = ad.String() == "uverbs"
		}
	}
	return uverbs && ad.Err() == nil
}
