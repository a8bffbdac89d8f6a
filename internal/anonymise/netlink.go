package anonymise

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// headers are the bytes of a family's own header before the attributes.
var headers = map[uint16]int{
	unix.RTM_NEWLINK: unix.SizeofIfInfomsg, unix.RTM_NEWADDR: unix.SizeofIfAddrmsg,
	unix.RTM_NEWROUTE: unix.SizeofRtMsg, unix.RTM_NEWNEIGH: 12, unix.RTM_NEWRULE: 12,
}

// addressed are the attributes that hold an IP address, by message type.
var addressed = map[uint16][]uint16{
	unix.RTM_NEWADDR:  {unix.IFA_ADDRESS, unix.IFA_LOCAL, unix.IFA_BROADCAST, unix.IFA_ANYCAST, unix.IFA_MULTICAST},
	unix.RTM_NEWROUTE: {unix.RTA_DST, unix.RTA_SRC, unix.RTA_GATEWAY, unix.RTA_PREFSRC, unix.RTA_NEWDST},
	unix.RTM_NEWNEIGH: {unix.NDA_DST},
	unix.RTM_NEWRULE:  {1, 2}, // FRA_DST, FRA_SRC
}

// replies are what each dump is answered with. The question tells it better than
// a message's own type, which nobody who reads the reply looks at.
var replies = map[string]uint16{
	"link-dump": unix.RTM_NEWLINK, "vf-info": unix.RTM_NEWLINK, "address-dump": unix.RTM_NEWADDR, "neighbour-dump": unix.RTM_NEWNEIGH,
	"rule-dump": unix.RTM_NEWRULE, "route-dump-ipv4": unix.RTM_NEWROUTE, "route-dump-ipv6": unix.RTM_NEWROUTE,
}

// each gives every message of the reply to a request with its type and what
// follows the netlink header.
func each(name string, data []byte, use func(typ uint16, body []byte)) {
	request, _, _ := strings.Cut(strings.TrimPrefix(name, "route/"), ".")
	for len(data) >= unix.SizeofNlMsghdr {
		size := int(binary.NativeEndian.Uint32(data))
		if size < unix.SizeofNlMsghdr || size > len(data) {
			return
		}
		typ := binary.NativeEndian.Uint16(data[4:])
		if known, ok := replies[request]; ok && typ >= unix.NLMSG_MIN_TYPE {
			typ = known
		}
		use(typ, data[unix.SizeofNlMsghdr:size])
		data = data[min((size+3)&^3, len(data)):]
	}
}

// attributes gives the payload of every attribute.
func attributes(b []byte, use func(typ uint16, payload []byte)) {
	for len(b) >= 4 {
		size := int(binary.NativeEndian.Uint16(b))
		if size < 4 || size > len(b) {
			return
		}
		use(binary.NativeEndian.Uint16(b[2:])&^(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER), b[4:size])
		b = b[min((size+3)&^3, len(b)):]
	}
}

// addresses gives each IP address in a reply of rtnetlink with the length of its
// prefix, as the bytes in the reply.
func addresses(name string, data []byte, use func(payload []byte, length int)) {
	each(name, data, func(typ uint16, body []byte) {
		n, ok := headers[typ]
		if !ok || len(body) < n {
			return
		}
		length := 0
		attributes(body[n:], func(attr uint16, p []byte) {
			switch {
			case typ == unix.RTM_NEWROUTE && attr == unix.RTA_DST, typ == unix.RTM_NEWRULE && attr == 1:
				length = int(body[1])
			case typ == unix.RTM_NEWROUTE && attr == unix.RTA_SRC, typ == unix.RTM_NEWRULE && attr == 2:
				length = int(body[2])
			case typ == unix.RTM_NEWADDR:
				length = int(body[1])
			default:
				length = 8 * len(p)
			}
			switch {
			case slices.Contains(addressed[typ], attr):
				use(p, length)
			case typ == unix.RTM_NEWROUTE && attr == unix.RTA_VIA && len(p) > 2:
				use(p[2:], 8*(len(p)-2))
			case typ == unix.RTM_NEWROUTE && attr == unix.RTA_MULTIPATH:
				hops(p, use)
			}
		})
	})
}

// hops gives the gateways of a route over several (struct rtnexthop).
func hops(b []byte, use func([]byte, int)) {
	for len(b) >= unix.SizeofRtNexthop {
		size := int(binary.NativeEndian.Uint16(b))
		if size < unix.SizeofRtNexthop || size > len(b) {
			return
		}
		attributes(b[unix.SizeofRtNexthop:size], func(attr uint16, p []byte) {
			if attr == unix.RTA_GATEWAY {
				use(p, 8*len(p))
			}
		})
		b = b[min((size+3)&^3, len(b)):]
	}
}

// learnNetlink learns the addresses in a reply.
func (a *Anonymiser) learnNetlink(name string, data []byte) {
	if !strings.HasPrefix(name, "route/") {
		return
	}
	addresses(name, data, func(p []byte, _ int) { a.learnIP(p) })
	each(name, data, func(typ uint16, body []byte) {
		n, ok := headers[typ]
		if !ok || len(body) < n {
			return
		}
		attributes(body[n:], func(attr uint16, p []byte) {
			switch {
			case typ == unix.RTM_NEWLINK && (attr == unix.IFLA_ADDRESS || attr == unix.IFLA_PERM_ADDRESS || attr == unix.IFLA_BROADCAST ||
				attr == unix.IFLA_PHYS_PORT_ID || attr == unix.IFLA_PHYS_SWITCH_ID),
				typ == unix.RTM_NEWNEIGH && attr == unix.NDA_LLADDR:
				a.learnBytes(p)
			case typ == unix.RTM_NEWLINK && attr == unix.IFLA_LINKINFO:
				a.learnNested(p, 4)
			case typ == unix.RTM_NEWLINK && attr == unix.IFLA_VFINFO_LIST:
				attributes(p, func(_ uint16, vf []byte) { attributes(vf, a.learnVF) })
			}
		})
	})
}

// learnNested learns what is as long as a MAC address in what a bond or another
// kind of netdev says of itself and its peers.
func (a *Anonymiser) learnNested(b []byte, depth int) {
	attributes(b, func(_ uint16, p []byte) {
		if len(p) == 6 {
			a.learnBytes(p)
		}
		if depth > 0 {
			a.learnNested(p, depth-1)
		}
	})
}

// learnVF learns the addresses that a physical function gives a virtual one:
// struct ifla_vf_mac and ifla_vf_guid (linux/if_link.h), behind its number.
func (a *Anonymiser) learnVF(attr uint16, p []byte) {
	switch {
	case attr == unix.IFLA_VF_MAC && len(p) >= 10:
		a.learnBytes(p[4:10])
	case (attr == unix.IFLA_VF_IB_NODE_GUID || attr == unix.IFLA_VF_IB_PORT_GUID) && len(p) >= 16:
		guid := slices.Clone(p[8:16])
		if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
			slices.Reverse(guid)
		}
		a.learnBytes(guid)
	}
}

// netlink replaces what is known in a reply, in place. Addresses of four bytes
// are replaced where an attribute has nothing else in it, since four bytes may
// be any number; longer ones wherever they stand, GUIDs in both byte orders.
func (a *Anonymiser) netlink(name string, data []byte) []byte {
	data = bytes.Clone(data)
	if strings.HasPrefix(name, "route/") {
		addresses(name, data, func(p []byte, length int) {
			if ip, ok := netip.AddrFromSlice(p); ok {
				copy(p, network(ip, a.key.ip(ip), length).AsSlice())
			}
		})
		a.aliases(name, data)
	} else {
		for i := 0; i+8 <= len(data); i += 4 {
			if binary.NativeEndian.Uint16(data[i:]) == 8 && a.known[string(data[i+4:i+8])] {
				ip := a.key.ip(netip.AddrFrom4([4]byte(data[i+4:]))).As4()
				copy(data[i+4:], ip[:])
			}
		}
	}
	for i := 0; i < len(data); {
		i += max(1, a.known6to16(data[i:]))
	}
	return []byte(a.binaryMarks.ReplaceAllStringFunc(string(data), a.word))
}

// aliases replaces what people wrote beside a netdev's name, whatever it is.
func (a *Anonymiser) aliases(name string, data []byte) {
	each(name, data, func(typ uint16, body []byte) {
		if typ != unix.RTM_NEWLINK || len(body) < unix.SizeofIfInfomsg {
			return
		}
		attributes(body[unix.SizeofIfInfomsg:], func(attr uint16, p []byte) {
			if attr == unix.IFLA_IFALIAS {
				copy(p, a.key.word(string(p)))
			}
		})
	})
}

// known6to16 replaces the identifier at the begin of b and tells its length.
// The interface identifier or GUID in an address that is not known itself goes
// with it.
func (a *Anonymiser) known6to16(b []byte) int {
	for _, n := range []int{16, 8, 6} {
		if len(b) < n {
			continue
		}
		if a.known[string(b[:n])] {
			a.bytes(b[:n])
			return n
		}
		if n == 8 {
			turned := slices.Clone(b[:8])
			slices.Reverse(turned)
			if a.known[string(turned)] {
				a.bytes(turned)
				slices.Reverse(turned)
				copy(b, turned)
				return n
			}
		}
	}
	return 0
}
