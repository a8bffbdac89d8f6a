package collect

import (
	"encoding/json"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// ethtool asks the drivers of the netdevs that carry RDMA: who they are, their
// own counters and global pause (SIOCETHTOOL), link modes, why the link is
// down and the FEC in use (genetlink family "ethtool",
// Documentation/networking/ethtool-netlink.rst).
var _ = register(Collector{
	Source: facts.Ethtool,
	After:  40,
	Read: func(r *Reader) {
		b := r.batch()
		for _, n := range r.carriers() {
			askDrvinfo(b, n)
			if ownsLink(n) { // A VLAN or bond has no counters or pause of its own.
				askStats(b, n, asFirst)
				askPause(b, n)
				askLink(b, n)
			}
		}
		b.run()
		collectOptics(r)
	},
	Again: func(r *Reader) {
		b := r.batch()
		for i := range r.Snap.Netdevs {
			if n := &r.Snap.Netdevs[i]; n.Ethtool != nil {
				askStats(b, n, asLast)
			}
			if n := &r.Snap.Netdevs[i]; n.FECCounters != nil {
				askFEC(b, n, asLast)
			}
		}
		b.run()
	},
})

// ioctl asks for an op whose answer is JSON of a T.
func ioctl[T any](b *batch, kind hostio.Kind, netdev string, then func(T)) {
	op := hostio.Op{Kind: kind, Name: netdev}
	b.add(op, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			b.r.Gap(op.Key(), err)
			return
		}
		var v T
		if err := json.Unmarshal(res.Data, &v); err != nil {
			b.r.Malformed(op.Key(), string(res.Data), "an answer of this program's own form")
			return
		}
		b.r.Have()
		then(v)
	})
}

func askDrvinfo(b *batch, n *facts.Netdev) {
	ioctl(b, hostio.EthtoolDriver, n.Name, func(d hostio.DriverInfo) {
		setText(&n.Driver, d.Driver)
		setInfo(&n.DriverVersion, d.Version)
		setInfo(&n.Firmware, d.Firmware)
		if isPCIAddress(d.BusInfo) {
			fill(&n.PCI, facts.Some(d.BusInfo))
		}
	})
}

// setInfo leaves out the "N/A" that drivers give for what they do not have.
func setInfo(dst *facts.Opt[string], s string) {
	if s != "N/A" {
		setText(dst, s)
	}
}

func askStats(b *batch, n *facts.Netdev, set func(*facts.Counter, uint64)) {
	ioctl(b, hostio.EthtoolStats, n.Name, func(stats map[string]uint64) {
		clean := make(map[string]uint64, len(stats))
		for name, v := range stats {
			// Some drivers indent names for people.
			if name = text(name); name != "" {
				clean[name] = v
			}
		}
		setCounters(&n.Ethtool, clean, set)
	})
}

func askPause(b *batch, n *facts.Netdev) {
	ioctl(b, hostio.EthtoolPause, n.Name, func(p hostio.PauseParam) {
		n.Pause = facts.Some(facts.Pause{Autoneg: p.Autoneg, RX: p.RX, TX: p.TX})
	})
}

// Commands of the family (ethtool_netlink.h). Every request begins with a
// header that names the netdev; without the flag for compact bit sets the bits
// come with their names, so that modes newer than this program are named too.
const (
	ethLinkModesGet = 4
	ethLinkStateGet = 6
	ethFECGet       = 29

	ethHeader    = 1 // ETHTOOL_A_*_HEADER
	ethHeaderDev = 2 // ETHTOOL_A_HEADER_DEV_NAME

	sizeofGenlMsg = 4
)

// ethtoolOp makes a request to the family. Its message type, the family's id,
// differs between boots and is filled in where it is sent.
func ethtoolOp(what string, command byte, netdev string, put ...func(*netlink.AttributeEncoder)) hostio.Op {
	return ethtoolFlags(what, command, netdev, 0, put...)
}

// ethtoolFlags is ethtoolOp with ETHTOOL_A_HEADER_FLAGS.
func ethtoolFlags(what string, command byte, netdev string, flags uint32, put ...func(*netlink.AttributeEncoder)) hostio.Op {
	header := []byte{command, 1, 0, 0} // struct genlmsghdr, version 1
	return netlinkOp("ethtool/"+what+"."+netdev, 0, 0, header, func(ae *netlink.AttributeEncoder) {
		ae.Nested(ethHeader, func(in *netlink.AttributeEncoder) error {
			in.String(ethHeaderDev, netdev)
			if flags != 0 {
				in.Uint32(unix.ETHTOOL_A_HEADER_FLAGS, flags)
			}
			return nil
		})
		for _, f := range put {
			f(ae)
		}
	})
}

func askLink(b *batch, n *facts.Netdev) {
	b.netlink(ethtoolOp("linkmodes-get", ethLinkModesGet, n.Name), func(body []byte) error {
		modes, err := parseLinkModes(body)
		if err == nil {
			n.LinkModes = facts.Some(modes)
		}
		return err
	}, b.r.Have)
	b.netlink(ethtoolOp("linkstate-get", ethLinkStateGet, n.Name), func(body []byte) error {
		return parseLinkState(body, &n.ExtState)
	}, b.r.Have)
	askFEC(b, n, asFirst)
}
