package collect

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

var native = binary.NativeEndian

// A linkSpec is a constructed RTM_NEWLINK.
type linkSpec struct {
	index int
	name  string
	flags uint32
	put   func(*netlink.AttributeEncoder)
}

func (l linkSpec) body(t testing.TB) []byte {
	header := make([]byte, unix.SizeofIfInfomsg)
	native.PutUint32(header[4:], uint32(l.index))
	native.PutUint32(header[8:], l.flags)
	return body(t, header, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.IFLA_IFNAME, l.name)
		if l.put != nil {
			l.put(ae)
		}
	})
}

// kind puts IFLA_LINKINFO.
func kind(ae *netlink.AttributeEncoder, kind string, data func(*netlink.AttributeEncoder)) {
	nest(ae, unix.IFLA_LINKINFO, func(in *netlink.AttributeEncoder) {
		in.String(1, kind) // IFLA_INFO_KIND
		if data != nil {
			nest(in, 2, data) // IFLA_INFO_DATA
		}
	})
}

func stats64(values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = native.AppendUint64(b, v)
	}
	return b
}

// linkReply is a constructed host: a bond of two ports with a VLAN on it, and one
// end of a veth whose other end is in another namespace.
func linkReply(t testing.TB, packets uint64) string {
	port := func(index int, name string, carrier uint8) linkSpec {
		return linkSpec{index, name, unix.IFF_UP, func(ae *netlink.AttributeEncoder) {
			ae.Uint32(unix.IFLA_MTU, 9000)
			ae.Uint32(unix.IFLA_MIN_MTU, 68)
			ae.Uint32(unix.IFLA_MAX_MTU, 9978)
			ae.Uint8(unix.IFLA_OPERSTATE, 6-4*(1-carrier))
			ae.Uint8(unix.IFLA_CARRIER, carrier)
			ae.Uint32(unix.IFLA_CARRIER_CHANGES, uint32(packets/100))
			ae.Bytes(unix.IFLA_ADDRESS, []byte{2, 0, 0, 0, 0, byte(index)})
			ae.Uint32(unix.IFLA_MASTER, 4)
			ae.String(unix.IFLA_PARENT_DEV_NAME, "0000:3b:00."+string(rune('0'+index-2)))
			ae.Bytes(unix.IFLA_STATS64, stats64(packets, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))
		}}
	}
	bond := linkSpec{4, "bond0", unix.IFF_UP, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(unix.IFLA_MAX_MTU, 0)
		kind(ae, "bond", func(in *netlink.AttributeEncoder) { in.Uint8(1, 4) })
	}}
	vlan := linkSpec{5, "bond0.100", 0, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(unix.IFLA_LINK, 4)
		kind(ae, "vlan", func(in *netlink.AttributeEncoder) {
			in.Uint16(1, 100)
			nest(in, 3, func(m *netlink.AttributeEncoder) {
				m.Bytes(1, []byte{0, 0, 0, 0, 3, 0, 0, 0})
				m.Bytes(1, []byte{4, 0, 0, 0, 5, 0, 0, 0})
				m.Bytes(1, []byte{4, 0}) // Too short, passed over.
			})
		})
	}}
	veth := linkSpec{6, "veth0", 0, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(unix.IFLA_LINK, 2)
		ae.Uint32(unix.IFLA_LINK_NETNSID, 0)
		ae.Uint8(unix.IFLA_OPERSTATE, 99)
		kind(ae, "veth", nil)
	}}
	return reply(t, port(2, "eth2", 1).body(t), port(3, "eth3", 0).body(t), bond.body(t), vlan.body(t), veth.body(t))
}

func netemQdisc(t testing.TB, index, drops uint32) []byte {
	header := make([]byte, sizeofTcMsg)
	native.PutUint32(header[4:], index)
	native.PutUint32(header[12:], 0xffffffff)
	return body(t, header, func(ae *netlink.AttributeEncoder) {
		ae.String(unix.TCA_KIND, "netem")
		options := make([]byte, 24)
		native.PutUint32(options[0:], 1000) // ticks, overruled below
		native.PutUint32(options[8:], 42949673)
		ae.Bytes(unix.TCA_OPTIONS, append(options, body(t, nil, func(in *netlink.AttributeEncoder) { in.Int64(tcaNetemLatency64, 2_000_000) })...))
		nest(ae, unix.TCA_STATS2, func(in *netlink.AttributeEncoder) {
			queue := make([]byte, 20)
			native.PutUint32(queue[8:], drops)
			in.Bytes(tcaStatsQueue, queue)
		})
	})
}

func addressBody(t testing.TB, index uint32, prefix, scope byte, flags uint32, ip, peer []byte) []byte {
	header := []byte{unix.AF_INET, prefix, byte(flags), scope, 0, 0, 0, 0}
	if len(peer) == 16 {
		header[0] = unix.AF_INET6
	}
	native.PutUint32(header[4:], index)
	return body(t, header, func(ae *netlink.AttributeEncoder) {
		if ip != nil {
			ae.Bytes(unix.IFA_LOCAL, ip)
		}
		ae.Bytes(unix.IFA_ADDRESS, peer)
		ae.Uint32(unix.IFA_FLAGS, flags)
	})
}

// answers makes a host of constructed replies, by op.
func answers(replies map[string]string) *fixture.Tree {
	a := &fixture.Archive{}
	for op, text := range replies {
		a.Set(op, text)
	}
	return fixture.Host(a)
}

func linkReplies(t testing.TB) map[string]string {
	return map[string]string{
		"/sys/class/net/":         "",
		"netlink:route/link-dump": linkReply(t, 100),
		"netlink:route/address-dump": reply(t,
			addressBody(t, 5, 64, 253, 0x48, nil, []byte{0xfe, 0x80, 15: 1}),
			addressBody(t, 5, 24, 0, 0, []byte{192, 0, 2, 7}, []byte{192, 0, 2, 99}),
			addressBody(t, 77, 24, 0, 0, []byte{192, 0, 2, 8}, []byte{192, 0, 2, 8})),
		"netlink:route/qdisc-dump": reply(t, netemQdisc(t, 2, 11)),
	}
}

func TestLinks(t *testing.T) {
	s := collected(t, answers(linkReplies(t)), facts.Links)
	want(t, "sources", s.Sources, []facts.Source{facts.Links})
	var names []string
	for _, n := range s.Netdevs {
		names = append(names, n.Name)
	}
	want(t, "names", names, []string{"bond0", "bond0.100", "eth2", "eth3", "veth0"})
	eth2, eth3 := s.Netdev("eth2"), s.Netdev("eth3")
	want(t, "eth2 stats", len(eth2.Stats), 13)
	want(t, "eth2 drops", eth2.Stats["tx_dropped"], facts.Counter{First: facts.Some[uint64](8)})
	eth2.Stats = nil
	want(t, "eth2", *eth2, facts.Netdev{
		Name: "eth2", Index: 2, AdminUp: facts.Some(true), OperState: facts.Some("up"), Carrier: facts.Some(true),
		CarrierChanges: facts.Counter{First: facts.Some[uint64](1)},
		MTU:            facts.Some(9000), MinMTU: facts.Some(68), MaxMTU: facts.Some(9978),
		MAC: facts.Some("02:00:00:00:00:02"), Master: facts.Some("bond0"), PCI: facts.Some("0000:3b:00.0"),
		Qdiscs: []facts.Qdisc{{
			Kind: "netem", Parent: "root", Loss: facts.Some(42949673.0 / 4294967295.0), Delay: facts.Some(2 * time.Millisecond),
			Drops: facts.Counter{First: facts.Some[uint64](11)},
		}},
	})
	want(t, "eth3 state", eth3.OperState, facts.Some("down"))
	want(t, "bond0", *s.Netdev("bond0"), facts.Netdev{
		Name: "bond0", Index: 4, AdminUp: facts.Some(true), Kind: facts.Some("bond"), BondMode: facts.Some("802.3ad"),
	})
	want(t, "bond0.100", *s.Netdev("bond0.100"), facts.Netdev{
		Name: "bond0.100", Index: 5, AdminUp: facts.Some(false), Kind: facts.Some("vlan"), Lower: facts.Some("bond0"),
		VLANID: facts.Some(100), VLANEgressQoS: map[int]int{0: 3, 4: 5},
		Addresses: []facts.Address{
			{IP: "192.0.2.7", PrefixLen: 24, Scope: "global"},
			{IP: "fe80::1", PrefixLen: 64, Scope: "link", Tentative: true, Duplicate: true},
		},
	})
	want(t, "veth0", *s.Netdev("veth0"), facts.Netdev{Name: "veth0", Index: 6, AdminUp: facts.Some(false), Kind: facts.Some("veth")})
	if s.Beneath(s.Netdev("bond0.100")).Name != "bond0" {
		t.Error("bond0 is not beneath its VLAN")
	}
	noGaps(t, s)
}

func TestLinksAgain(t *testing.T) {
	replies := linkReplies(t)
	replies["then netlink:route/link-dump"] = linkReply(t, 350)
	replies["then netlink:route/qdisc-dump"] = reply(t, netemQdisc(t, 2, 19))
	s := collected(t, answers(replies), facts.Links)
	eth2 := s.Netdev("eth2")
	for name, c := range map[string]facts.Counter{
		"packets": eth2.Stats["rx_packets"], "carrier changes": eth2.CarrierChanges, "drops": eth2.Qdiscs[0].Drops,
	} {
		d, ok := c.Delta()
		if wanted := map[string]uint64{"packets": 250, "carrier changes": 2, "drops": 8}[name]; !ok || d != wanted {
			t.Errorf("%s grew by %d (%v), want %d", name, d, ok, wanted)
		}
	}
}

func TestLinksMalformed(t *testing.T) {
	good := linkSpec{2, "eth2", 0, nil}.body(t)
	for name, bad := range map[string][]byte{
		"no name":          body(t, make([]byte, unix.SizeofIfInfomsg), nil),
		"header cut":       good[:8],
		"name cut":         good[:len(good)-6],
		"MTU of two bytes": linkSpec{3, "eth3", 0, func(ae *netlink.AttributeEncoder) { ae.Uint16(unix.IFLA_MTU, 1) }}.body(t),
		"kind cut": linkSpec{3, "eth3", 0, func(ae *netlink.AttributeEncoder) {
			ae.Bytes(unix.IFLA_LINKINFO, []byte{200, 0, 1, 0, 1})
		}}.body(t),
	} {
		s := collected(t, answers(map[string]string{"netlink:route/link-dump": reply(t, bad, good)}), facts.Links)
		if g := gap(t, s, "route/link-dump"); g.Kind != facts.Malformed {
			t.Errorf("%s: gap %+v", name, g)
		}
		// One bad message does not cost the others.
		if len(s.Netdevs) != 1 || s.Netdevs[0].Name != "eth2" {
			t.Errorf("%s: netdevs %+v", name, s.Netdevs)
		}
	}
}
