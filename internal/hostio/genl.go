package hostio

import (
	"encoding/binary"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const genlHeaderLen = 4 // struct genlmsghdr

// familyID finds the id of a generic netlink family by listing all that are
// registered. Asking for one by name would make the kernel load its module
// (ctrl_getfamily).
func (l *Live) familyID(name string) (uint16, Result) {
	if l.families == nil {
		request, err := netlink.Message{
			Header: netlink.Header{Type: unix.GENL_ID_CTRL, Flags: netlink.Request | netlink.Dump, Length: nlHeaderLen + genlHeaderLen},
			Data:   []byte{unix.CTRL_CMD_GETFAMILY, 1, 0, 0},
		}.MarshalBinary()
		if err != nil {
			return 0, Result{Errno: unix.EIO}
		}
		res := l.exchange(unix.NETLINK_GENERIC, request)
		if err := res.Err(); err != nil && len(res.Data) == 0 {
			return 0, res
		}
		l.families = parseFamilies(res.Data)
	}
	id, ok := l.families[name]
	if !ok {
		return 0, Result{Errno: unix.ENOENT}
	}
	return id, Result{}
}

// parseFamilies reads CTRL_CMD_NEWFAMILY messages.
func parseFamilies(b []byte) map[string]uint16 {
	families := map[string]uint16{}
	for len(b) >= nlHeaderLen {
		length := int(binary.NativeEndian.Uint32(b))
		if length < nlHeaderLen+genlHeaderLen || length > len(b) {
			break
		}
		var name string
		var id uint16
		if ad, err := netlink.NewAttributeDecoder(b[nlHeaderLen+genlHeaderLen : length]); err == nil {
			for ad.Next() {
				switch ad.Type() {
				case unix.CTRL_ATTR_FAMILY_NAME:
					name = ad.String()
				case unix.CTRL_ATTR_FAMILY_ID:
					id = ad.Uint16()
				}
			}
			if ad.Err() == nil && name != "" && id >= unix.GENL_MIN_ID {
				families[name] = id
			}
		}
		b = b[min(len(b), (length+3)&^3):]
	}
	return families
}

// linkExists asks for one interface by name (RTM_GETLINK with IFLA_IFNAME),
// which loads no module.
func (l *Live) linkExists(name string) Result {
	attrs, err := netlink.MarshalAttributes([]netlink.Attribute{{Type: unix.IFLA_IFNAME, Data: append([]byte(name), 0)}})
	if err != nil {
		return Result{Errno: unix.EINVAL}
	}
	data := append(make([]byte, unix.SizeofIfInfomsg), attrs...)
	request, err := netlink.Message{
		Header: netlink.Header{Type: unix.RTM_GETLINK, Flags: netlink.Request, Length: uint32(nlHeaderLen + len(data))},
		Data:   data,
	}.MarshalBinary()
	if err != nil {
		return Result{Errno: unix.EINVAL}
	}
	return l.ask(unix.NETLINK_ROUTE, request)
}
