package collect

import (
	"encoding/binary"
	"testing"

	"github.com/mdlayher/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func words(vs ...uint32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	return b
}

// vfBody is an RTM_NEWLINK with that many virtual functions, the last of them
// with its link down and a limit in Mb/s (rtnl_fill_vfinfo).
func vfBody(t testing.TB, vfs, limit uint32) []byte {
	return linkSpec{2, "eth2", 1, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(unix.IFLA_NUM_VF, vfs)
		nest(ae, unix.IFLA_VFINFO_LIST, func(list *netlink.AttributeEncoder) {
			for i := range vfs {
				state, rate := uint32(0), uint32(0)
				if i == vfs-1 {
					state, rate = nl.IFLA_VF_LINK_STATE_DISABLE, limit
				}
				nest(list, nl.IFLA_VF_INFO, func(vf *netlink.AttributeEncoder) {
					vf.Bytes(nl.IFLA_VF_MAC, append(words(i), make([]byte, 32)...))
					vf.Bytes(nl.IFLA_VF_RATE, words(i, 0, rate))
					vf.Bytes(nl.IFLA_VF_SPOOFCHK, words(i, 1))
					vf.Bytes(nl.IFLA_VF_LINK_STATE, words(i, state))
					vf.Bytes(nl.IFLA_VF_TRUST, words(i, 0xffffffff))
					vf.Bytes(nl.IFLA_VF_IB_NODE_GUID, append(words(i, 0), binary.NativeEndian.AppendUint64(nil, 0x1122334455667788)...))
					nest(vf, nl.IFLA_VF_VLAN_LIST, func(v *netlink.AttributeEncoder) { v.Bytes(nl.IFLA_VF_VLAN_INFO, words(i, 0, 0, 0)) })
				})
			}
		})
	}}.body(t)
}

func TestSRIOV(t *testing.T) {
	h := constructed(t, "pci-mlx5")
	h.Put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/sriov_numvfs", "2")
	h.Put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/virtfn1", "-> ../0000:3b:00.2")
	h.Put("netlink:route/vf-info.eth2", reply(t, vfBody(t, 2, 1000)))
	s := collected(t, h, facts.PCISysfs, facts.SRIOV)
	noGaps(t, s)
	one := facts.VirtualFunction{
		LinkState: facts.Some("auto"), MinTxRate: facts.Some(facts.BitsPerSecond(0)), MaxTxRate: facts.Some(facts.BitsPerSecond(0)),
		NodeGUID: facts.Some("1122:3344:5566:7788"), Spoof: facts.Some(true),
	}
	two := one
	two.Number, two.Address, two.LinkState, two.MaxTxRate = 1, "0000:3b:00.2", facts.Some("disable"), facts.Some(facts.BitsPerSecond(1e9))
	want(t, "virtual functions", s.PCITree()["0000:3b:00.0"].VirtualFunctions, []facts.VirtualFunction{one, two})

	for text, kind := range map[string]facts.GapKind{
		"errno: EPERM": facts.Denied, "timed out": facts.Timeout, reply(t, vfBody(t, 1, 0)[:50]): facts.Malformed,
	} {
		h := constructed(t, "pci-mlx5")
		h.Put("netlink:route/vf-info.eth2", text)
		s := collected(t, h, facts.PCISysfs, facts.SRIOV)
		want(t, "gap", gap(t, s, "route/vf-info.eth2").Kind, kind)
		want(t, "virtual functions", len(s.PCITree()["0000:3b:00.0"].VirtualFunctions), 0)
	}
}

// The same number twice, and lists that begin like a number, are passed over.
func TestParseVFInfoHostile(t *testing.T) {
	b := linkSpec{2, "eth2", 1, func(ae *netlink.AttributeEncoder) {
		nest(ae, unix.IFLA_VFINFO_LIST, func(list *netlink.AttributeEncoder) {
			for _, n := range []uint32{7, 7, 0xffffffff} {
				nest(list, nl.IFLA_VF_INFO, func(vf *netlink.AttributeEncoder) {
					vf.Bytes(nl.IFLA_VF_LINK_STATE, words(n, 9))
					vf.Bytes(nl.IFLA_VF_RATE, words(n, 1))
					vf.Bytes(nl.IFLA_VF_IB_PORT_GUID, words(n, 1))
				})
			}
			nest(list, nl.IFLA_VF_INFO, func(vf *netlink.AttributeEncoder) { vf.Bytes(nl.IFLA_VF_STATS, words(3, 3, 3, 3)) })
		})
	}}.body(t)
	got, err := parseVFInfo(b)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "functions", got, []facts.VirtualFunction{{Number: 7}})
}
