package collect

import (
	"cmp"
	"encoding/binary"
	"net"
	"net/netip"
	"slices"

	"github.com/mdlayher/netlink"
	rtnl "github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// neighbours reads the ARP and neighbour discovery tables (RTM_GETNEIGH,
// ip-neighbour(8)). Entries without resolution (NUD_NOARP), such as multicast
// ones, say nothing and are left out, as ip(8) does.
var _ = register(Collector{
	Source: facts.NeighSource,
	After:  30,
	Read: func(r *Reader) {
		b := r.batch()
		op := neighbourDump()
		left := mostNeighbours
		b.netlink(op, func(body []byte) error {
			n, index, err := parseNeighbour(body)
			if n.Netdev = netdevName(r.Snap, index); err != nil || n.Netdev == "" || n.State == "" {
				return err
			}
			if left--; left < 0 {
				r.gap(op.Name, facts.Malformed, "more than 20000 neighbours, the rest is left out")
				return nil
			}
			r.Snap.Neighbors = append(r.Snap.Neighbors, n)
			return nil
		}, r.Have)
		b.run()
		slices.SortStableFunc(r.Snap.Neighbors, func(a, b facts.Neighbor) int {
			x, _ := netip.ParseAddr(a.IP)
			y, _ := netip.ParseAddr(b.IP)
			return cmp.Or(cmp.Compare(a.Netdev, b.Netdev), x.Compare(y))
		})
	},
})

// mostNeighbours bounds the table: the kernel's own default is 1,024 a family,
// large flat networks raise it.
const mostNeighbours = 20000

const sizeofNdMsg = unix.SizeofNdMsg

func neighbourDump() hostio.Op {
	return netlinkOp("route/neighbour-dump", unix.RTM_GETNEIGH, nlDump, make([]byte, sizeofNdMsg), nil)
}

// neighbourStates are the names of ip-neighbour(8). NUD_NONE and NUD_NOARP have
// none here.
var neighbourStates = map[uint16]string{
	rtnl.NUD_INCOMPLETE: "INCOMPLETE", rtnl.NUD_REACHABLE: "REACHABLE", rtnl.NUD_STALE: "STALE", rtnl.NUD_DELAY: "DELAY",
	rtnl.NUD_PROBE: "PROBE", rtnl.NUD_FAILED: "FAILED", rtnl.NUD_PERMANENT: "PERMANENT",
}

// parseNeighbour reads one RTM_NEWNEIGH: struct ndmsg (family, padding, index,
// state, flags, type) and attributes. State is "" for entries that are not of
// IP or need no resolution.
func parseNeighbour(body []byte) (n facts.Neighbor, index int, err error) {
	if len(body) < sizeofNdMsg {
		return n, 0, errCut
	}
	index = int(int32(binary.NativeEndian.Uint32(body[4:])))
	err = attributes(body, sizeofNdMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case rtnl.NDA_DST:
			n.IP = ipText(ad.Bytes())
		case rtnl.NDA_LLADDR:
			if a := ad.Bytes(); len(a) >= 6 && len(a) <= 20 {
				n.MAC = net.HardwareAddr(a).String()
			}
		}
	})
	if familyName(body[0]) != "" && n.IP != "" {
		n.State = neighbourStates[binary.NativeEndian.Uint16(body[8:])]
	}
	return n, index, err
}
