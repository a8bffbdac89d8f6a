package collect

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/mdlayher/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// virtualFunctionInfo asks for what physical functions have set for their
// virtual ones (RTM_GETLINK with IFLA_EXT_MASK, IFLA_VFINFO_LIST; rtnetlink(7)),
// without their statistics, which cost firmware commands.
var _ = register(Collector{
	Source: facts.SRIOV,
	After:  15, // PCI functions say whom to ask.
	Read: func(r *Reader) {
		b := r.batch()
		for i := range r.Snap.PCI {
			f := &r.Snap.PCI[i]
			vfs := f.VFs.Or(0)
			if vfs <= 0 || f.RDMACapable == "" {
				continue
			}
			// Representors of the functions are listed beside the netdev that knows.
			for _, name := range f.Netdevs[:min(len(f.Netdevs), mostAsked)] {
				b.netlink(vfInfo(name), func(body []byte) error {
					got, err := parseVFInfo(body)
					f.VirtualFunctions = append(f.VirtualFunctions, got...)
					return err
				}, r.Have)
			}
		}
		b.run()
		findVirtual(r)
	},
})

// Bounds of what is asked and kept for one physical function.
const (
	mostAsked = 8
	mostVFs   = 256
)

// findVirtual finds the PCI function of each virtual one.
func findVirtual(r *Reader) {
	b := r.batch()
	for i := range r.Snap.PCI {
		f := &r.Snap.PCI[i]
		for j := range f.VirtualFunctions {
			vf := &f.VirtualFunctions[j]
			b.linkIf(fmt.Sprintf("%svirtfn%d", pciDir(f), vf.Number), func(target string) {
				if address := base(target); isPCIAddress(address) {
					vf.Address = address
				}
			})
		}
	}
	b.run()
}

// Bits of IFLA_EXT_MASK (rtnetlink.h, RTEXT_FILTER_*).
const (
	extFilterVF  = 1 << 0
	extSkipStats = 1 << 3
)

func vfInfo(netdev string) hostio.Op {
	return netlinkOp("route/vf-info."+netdev, unix.RTM_GETLINK, 0, make([]byte, unix.SizeofIfInfomsg), func(ae *netlink.AttributeEncoder) {
		ae.String(unix.IFLA_IFNAME, netdev)
		ae.Uint32(unix.IFLA_EXT_MASK, extFilterVF|extSkipStats)
	})
}

// vfNumbered are the attributes of a function that begin with its number; others
// are lists.
var vfNumbered = []uint16{
	nl.IFLA_VF_MAC, nl.IFLA_VF_VLAN, nl.IFLA_VF_SPOOFCHK, nl.IFLA_VF_LINK_STATE, nl.IFLA_VF_RATE,
	nl.IFLA_VF_TRUST, nl.IFLA_VF_IB_NODE_GUID, nl.IFLA_VF_IB_PORT_GUID,
}

// parseVFInfo reads the list of virtual functions in one RTM_NEWLINK.
func parseVFInfo(body []byte) ([]facts.VirtualFunction, error) {
	var all []facts.VirtualFunction
	err := attributes(body, unix.SizeofIfInfomsg, func(ad *netlink.AttributeDecoder) {
		if ad.Type() != unix.IFLA_VFINFO_LIST {
			return
		}
		nested(ad, func(info *netlink.AttributeDecoder) {
			var vf facts.VirtualFunction
			known := false
			nested(info, func(a *netlink.AttributeDecoder) {
				b := a.Bytes()
				if len(b) >= 8 && slices.Contains(vfNumbered, a.Type()) {
					vf.Number, known = int(binary.NativeEndian.Uint32(b)), true
					setVF(&vf, a.Type(), b)
				}
			})
			seen := slices.ContainsFunc(all, func(o facts.VirtualFunction) bool { return o.Number == vf.Number })
			if known && !seen && vf.Number >= 0 && vf.Number < 1<<16 && len(all) < mostVFs {
				all = append(all, vf)
			}
		})
	})
	return all, err
}

// linkStates are IFLA_VF_LINK_STATE_*, as ip-link(8) spells them.
var linkStates = []string{"auto", "enable", "disable"}

// setVF takes over one attribute, of eight bytes or more: the structs
// ifla_vf_link_state, _rate (Mb/s), _guid, _trust and _spoofchk.
func setVF(vf *facts.VirtualFunction, typ uint16, b []byte) {
	second := binary.NativeEndian.Uint32(b[4:])
	switch {
	case typ == nl.IFLA_VF_LINK_STATE && int64(second) < int64(len(linkStates)):
		vf.LinkState = facts.Some(linkStates[second])
	case typ == nl.IFLA_VF_RATE && len(b) >= 12:
		vf.MinTxRate = facts.Some(facts.BitsPerSecond(second) * 1e6)
		vf.MaxTxRate = facts.Some(facts.BitsPerSecond(binary.NativeEndian.Uint32(b[8:])) * 1e6)
	case typ == nl.IFLA_VF_IB_NODE_GUID && len(b) >= 16:
		vf.NodeGUID = facts.Some(guid(binary.NativeEndian.Uint64(b[8:])))
	case typ == nl.IFLA_VF_IB_PORT_GUID && len(b) >= 16:
		vf.PortGUID = facts.Some(guid(binary.NativeEndian.Uint64(b[8:])))
	case typ == nl.IFLA_VF_TRUST && second <= 1: // 0xffffffff: the driver does not say.
		vf.Trust = facts.Some(second == 1)
	case typ == nl.IFLA_VF_SPOOFCHK && second <= 1:
		vf.Spoof = facts.Some(second == 1)
	}
}
