package hostio

import (
	"strings"

	"golang.org/x/sys/unix"
)

// ReadsModule reports whether an op reads the EEPROM of a pluggable module,
// which is done once in a run and not again while a host is watched.
func ReadsModule(op Op) bool {
	return op.Kind == Netlink && strings.HasPrefix(op.Name, "ethtool/") &&
		len(op.Request) > nlHeaderLen && op.Request[nlHeaderLen] == unix.ETHTOOL_MSG_MODULE_EEPROM_GET
}
