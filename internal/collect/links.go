package collect

import (
	"encoding/binary"
	"net"

	"github.com/mdlayher/netlink"
	rtnl "github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// links reads the interfaces, their addresses and their queueing disciplines
// by rtnetlink (RTM_GETLINK, RTM_GETADDR, RTM_GETQDISC; rtnetlink(7)). It says
// more about each netdev than /sys/class/net, and where both speak, it decides:
// a copied or foreign /sys may be another namespace's.
var _ = register(Collector{
	Source: facts.Links,
	After:  10,
	Read: func(r *Reader) {
		b := r.batch()
		var links []link
		b.netlink(linkDump(), keepParsed(parseLink, &links), r.Have)
		var addresses []address
		b.netlink(addressDump(), keepParsed(parseAddress, &addresses), nil)
		var qdiscs []qdisc
		b.netlink(qdiscDump(), keepParsed(parseQdisc, &qdiscs), nil)
		b.run()
		setLinks(r, links)
		setAddresses(r.Snap, addresses)
		setQdiscs(r.Snap, qdiscs)
	},
	Again: func(r *Reader) {
		b := r.batch()
		var links []link
		b.netlink(linkDump(), keepParsed(parseLink, &links), nil)
		var qdiscs []qdisc
		b.netlink(qdiscDump(), keepParsed(parseQdisc, &qdiscs), nil)
		b.run()
		againLinks(r.Snap, links)
		againQdiscs(r.Snap, qdiscs)
	},
})

// keepParsed appends what parse makes of each message to list.
func keepParsed[T any](parse func([]byte) (T, error), list *[]T) func([]byte) error {
	return func(body []byte) error {
		v, err := parse(body)
		if err == nil {
			*list = append(*list, v)
		}
		return err
	}
}

func linkDump() hostio.Op {
	return netlinkOp("route/link-dump", unix.RTM_GETLINK, nlDump, make([]byte, unix.SizeofIfInfomsg), nil)
}

// A link is one RTM_NEWLINK message. It refers to others by index.
type link struct {
	facts.Netdev
	master, lower  int
	foreign        bool // lower is an index of another namespace
	carrierChanges facts.Opt[uint64]
	stats          map[string]uint64
}

// operStates are the names that /sys/class/net/X/operstate prints, by RFC 2863
// state (linux/if.h, IF_OPER_*).
var operStates = []string{"unknown", "notpresent", "down", "lowerlayerdown", "testing", "dormant", "up"}

// parseLink reads one RTM_NEWLINK: struct ifinfomsg and attributes.
func parseLink(body []byte) (link, error) {
	var l link
	if len(body) < unix.SizeofIfInfomsg {
		return l, errCut
	}
	l.Index = int(int32(binary.NativeEndian.Uint32(body[4:])))
	l.AdminUp = facts.Some(binary.NativeEndian.Uint32(body[8:])&unix.IFF_UP != 0)
	err := attributes(body, unix.SizeofIfInfomsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.IFLA_IFNAME:
			l.Name = text(ad.String())
		case unix.IFLA_MTU:
			l.MTU = facts.Some(int(ad.Uint32()))
		case unix.IFLA_MIN_MTU:
			l.MinMTU = positive(ad.Uint32())
		case unix.IFLA_MAX_MTU:
			l.MaxMTU = positive(ad.Uint32()) // 0: no limit
		case unix.IFLA_OPERSTATE:
			if s := int(ad.Uint8()); s < len(operStates) {
				l.OperState = facts.Some(operStates[s])
			}
		case unix.IFLA_CARRIER:
			l.Carrier = facts.Some(ad.Uint8() != 0)
		case unix.IFLA_CARRIER_CHANGES:
			l.carrierChanges = facts.Some(uint64(ad.Uint32()))
		case unix.IFLA_ADDRESS:
			if a := ad.Bytes(); len(a) >= 6 && len(a) <= 20 { // Tunnels have an IP address there.
				l.MAC = facts.Some(net.HardwareAddr(a).String())
			}
		case unix.IFLA_MASTER:
			l.master = int(ad.Uint32())
		case unix.IFLA_LINK:
			l.lower = int(ad.Uint32())
		case unix.IFLA_LINK_NETNSID:
			l.foreign = true
		case unix.IFLA_PARENT_DEV_NAME:
			if name := ad.String(); isPCIAddress(name) {
				l.PCI = facts.Some(name)
			}
		case unix.IFLA_STATS64:
			l.stats = parseLinkStats(ad.Bytes())
		case unix.IFLA_LINKINFO:
			parseLinkInfo(ad, &l)
		}
	})
	if err == nil && l.Name == "" {
		err = errCut
	}
	return l, err
}

// text makes a kernel string safe to keep.
func text(s string) string {
	v, _ := parseText(s)
	return v
}

func positive(v uint32) facts.Opt[int] {
	if v == 0 {
		return facts.Opt[int]{}
	}
	return facts.Some(int(v))
}

// parseLinkInfo reads IFLA_LINKINFO: the kind, then that kind's own data.
func parseLinkInfo(ad *netlink.AttributeDecoder, l *link) {
	nested(ad, func(in *netlink.AttributeDecoder) {
		switch in.Type() {
		case nl.IFLA_INFO_KIND:
			if kind := text(in.String()); kind != "" {
				l.Kind = facts.Some(kind)
			}
		case nl.IFLA_INFO_DATA:
			switch l.Kind.Or("") {
			case "vlan":
				nested(in, func(v *netlink.AttributeDecoder) { parseVLAN(v, l) })
			case "bond":
				nested(in, func(v *netlink.AttributeDecoder) {
					if v.Type() == nl.IFLA_BOND_MODE {
						l.BondMode = facts.Some(rtnl.BondMode(v.Uint8()).String())
					}
				})
			}
		}
	})
}

// parseVLAN reads one attribute of a VLAN. An egress mapping is struct
// ifla_vlan_qos_mapping: the priority of a packet, then the PCP it gets.
func parseVLAN(v *netlink.AttributeDecoder, l *link) {
	switch v.Type() {
	case nl.IFLA_VLAN_ID:
		l.VLANID = facts.Some(int(v.Uint16()))
	case nl.IFLA_VLAN_EGRESS_QOS:
		nested(v, func(m *netlink.AttributeDecoder) {
			b := m.Bytes()
			if m.Type() != unix.IFLA_VLAN_QOS_MAPPING || len(b) < 8 {
				return
			}
			if l.VLANEgressQoS == nil {
				l.VLANEgressQoS = map[int]int{}
			}
			l.VLANEgressQoS[int(binary.NativeEndian.Uint32(b))] = int(binary.NativeEndian.Uint32(b[4:]))
		})
	}
}

// linkStats are the fields of struct rtnl_link_stats64 in order (if_link.h).
// Older kernels end earlier.
var linkStats = []string{
	"rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped",
	"multicast", "collisions", "rx_length_errors", "rx_over_errors", "rx_crc_errors", "rx_frame_errors",
	"rx_fifo_errors", "rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",
	"tx_heartbeat_errors", "tx_window_errors", "rx_compressed", "tx_compressed", "rx_nohandler", "rx_otherhost_dropped",
}

func parseLinkStats(b []byte) map[string]uint64 {
	stats := map[string]uint64{}
	for _, name := range linkStats {
		if len(b) < 8 {
			break
		}
		stats[name] = binary.NativeEndian.Uint64(b)
		b = b[8:]
	}
	return stats
}
