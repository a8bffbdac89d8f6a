package anonymise

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// message is a constructed netlink message: linux/netlink.h, struct nlmsghdr and
// nlattr.
func message(typ uint16, header []byte, attrs ...[]byte) []byte {
	body := append(bytes.Clone(header), bytes.Join(attrs, nil)...)
	b := make([]byte, 16, 16+len(body))
	binary.NativeEndian.PutUint32(b, uint32(16+len(body)))
	binary.NativeEndian.PutUint16(b[4:], typ)
	return append(b, body...)
}

func attribute(typ uint16, payload []byte) []byte {
	b := make([]byte, 4)
	binary.NativeEndian.PutUint16(b, uint16(4+len(payload)))
	binary.NativeEndian.PutUint16(b[2:], typ)
	b = append(b, payload...)
	return append(b, make([]byte, -len(b)&3)...)
}

func ip(s string) []byte { return netip.MustParseAddr(s).AsSlice() }

// A reply of each kind loses its addresses wherever they stand, and nothing
// else changes.
func TestNetlink(t *testing.T) {
	mac, _ := hex.DecodeString("9c9cb3689770")
	guid, _ := hex.DecodeString("9c9cb30300689770")
	turned := []byte{0x70, 0x97, 0x68, 0, 3, 0xb3, 0x9c, 0x9c}
	ipoib := append([]byte{0, 0, 1, 2, 0xfe, 0x80, 0, 0, 0, 0, 0, 0}, guid...)
	hop := attribute(unix.RTA_GATEWAY, ip("10.1.9.1"))
	hop = append([]byte{byte(8 + len(hop)), 0, 0, 0, 7, 0, 0, 0}, hop...)
	vfmac, _ := hex.DecodeString("9c9cb3111213")
	partner, _ := hex.DecodeString("0c42a1212223")
	vf := attribute(unix.IFLA_VFINFO_LIST, attribute(1, attribute(unix.IFLA_VF_MAC, append(append([]byte{1, 0, 0, 0}, vfmac...), make([]byte, 26)...))))
	bond := attribute(unix.IFLA_LINKINFO, attribute(2, attribute(23, attribute(5, partner))))
	results := map[string]hostio.Result{
		"netlink:route/link-dump": {Data: message(unix.RTM_NEWLINK, make([]byte, 16), attribute(unix.IFLA_ADDRESS, mac),
			attribute(unix.IFLA_IFALIAS, []byte("to leaf12 of acme\x00")), attribute(unix.IFLA_MTU, []byte{10, 1, 2, 3}), attribute(unix.IFLA_ADDRESS, ipoib), vf, bond)},
		"netlink:route/address-dump": {Data: message(unix.RTM_NEWADDR, []byte{2, 16, 0, 0, 7, 0, 0, 0},
			attribute(unix.IFA_ADDRESS, ip("10.1.2.3")), attribute(unix.IFA_BROADCAST, ip("10.1.255.255")))},
		"netlink:route/route-dump-ipv4": {Data: message(unix.RTM_NEWROUTE, []byte{2, 16, 0, 0, 254, 2, 0, 1, 0, 0, 0, 0},
			attribute(unix.RTA_DST, ip("10.1.0.0")), attribute(unix.RTA_PREFSRC, ip("10.1.2.3")), attribute(unix.RTA_TABLE, []byte{10, 1, 2, 3}),
			attribute(unix.RTA_MULTIPATH, hop))},
		"netlink:route/route-dump-ipv6": {Data: message(unix.RTM_NEWROUTE, []byte{10, 48, 0, 0, 254, 2, 0, 1, 0, 0, 0, 0},
			attribute(unix.RTA_DST, ip("2001:db8:7::")), attribute(unix.RTA_VIA, append([]byte{10, 0}, ip("2001:db8:7::9e9c:b3ff:fe68:9770")...)))},
		"netlink:route/neighbour-dump": {Data: message(unix.RTM_NEWNEIGH, make([]byte, 12), attribute(unix.NDA_DST, ip("10.1.2.9")),
			attribute(unix.NDA_LLADDR, mac))},
		"netlink:netfilter/rules":          {Data: message(2570, make([]byte, 4), attribute(4|unix.NLA_F_NESTED, attribute(1, ip("10.1.2.3"))))},
		"netlink:rdma/device-dump":         {Data: message(5<<10|1, nil, attribute(5, turned), attribute(2, []byte("mlx5_0\x00")))},
		"netlink:route/dcb-ieee-get.eth2":  {Data: message(78, make([]byte, 4), attribute(1, []byte{10, 1, 2, 3}))},
		"netlink:ethtool/linkmodes.x":      {Data: []byte{1, 2, 3}},
		"read:/sys/class/net/eth2/address": {Data: []byte("9c:9c:b3:68:97:70\n")},
	}
	a, out := anonymised(t, "one", []flight.Sample{{Results: results}})
	var all bytes.Buffer
	for k, res := range out[0].Results {
		if len(res.Data) != len(results[k].Data) {
			t.Errorf("%s has %d bytes, want %d", k, len(res.Data), len(results[k].Data))
		}
		if !strings.Contains(k, "link-dump") && !strings.Contains(k, "route-dump-ipv4") && !strings.Contains(k, "dcb") {
			all.Write(append(bytes.Clone(res.Data), "--"...))
		}
	}
	for _, gone := range [][]byte{mac, mac[3:], guid, turned, ip("10.1.2.3"), ip("10.1.2.9"), ip("10.1.9.1"), ip("2001:db8:7::")[:6], []byte("leaf12"), []byte("acme")} {
		if bytes.Contains(all.Bytes(), gone) {
			t.Errorf("%x is left", gone)
		}
	}
	link := out[0].Results["netlink:route/link-dump"].Data
	for _, gone := range [][]byte{mac, guid, vfmac, partner, []byte("leaf12"), []byte("acme")} {
		if bytes.Contains(link, gone) {
			t.Errorf("%q is left in the links", gone)
		}
	}
	if !bytes.Contains(link, attribute(unix.IFLA_MTU, []byte{10, 1, 2, 3})) {
		t.Error("a number became an address")
	}
	routes := out[0].Results["netlink:route/route-dump-ipv4"].Data
	dst := a.key.ip(netip.MustParseAddr("10.1.0.0")).As4()
	if want := attribute(unix.RTA_DST, []byte{dst[0], dst[1], 0, 0}); !bytes.Contains(routes, want) {
		t.Errorf("the network is not %x: %x", want, routes)
	}
	if !bytes.Contains(routes, attribute(unix.RTA_TABLE, []byte{10, 1, 2, 3})) || bytes.Contains(routes, ip("10.1.9.1")) {
		t.Errorf("table or gateway: %x", routes)
	}
	addr := out[0].Results["netlink:route/address-dump"].Data
	if want := attribute(unix.IFA_BROADCAST, []byte{dst[0], dst[1], 255, 255}); !bytes.Contains(addr, want) {
		t.Errorf("the broadcast address is not %x: %x", want, addr)
	}
	if !bytes.Equal(out[0].Results["netlink:route/dcb-ieee-get.eth2"].Data[20:], results["netlink:route/dcb-ieee-get.eth2"].Data[20:]) {
		t.Error("a DCB value that looks like an address was replaced")
	}
	// The identifiers are still those of one card.
	is := a.key.mac([6]byte(mac))
	for k, want := range map[string][]byte{"netlink:rdma/device-dump": {is[5], is[4], is[3], 0, 3, is[2], is[1], is[0]},
		"netlink:route/neighbour-dump": is[:], "netlink:route/link-dump": append([]byte{0xfe, 0x80, 0, 0, 0, 0, 0, 0, is[0], is[1], is[2], 3, 0}, is[3:]...)} {
		if !bytes.Contains(out[0].Results[k].Data, want) {
			t.Errorf("%s lacks %x: %x", k, want, out[0].Results[k].Data)
		}
	}
}
