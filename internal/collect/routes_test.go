package collect

import (
	"fmt"
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func routeBody(t testing.TB, family, bits, table, typ byte, put func(*netlink.AttributeEncoder)) []byte {
	return body(t, []byte{family, bits, 0, 0, table, 0, 0, typ, 0, 0, 0, 0}, put)
}

func nexthop(index uint32, attrs []byte) []byte {
	b := make([]byte, unix.SizeofRtNexthop)
	native.PutUint16(b, uint16(len(b)+len(attrs)))
	native.PutUint32(b[4:], index)
	return append(b, attrs...)
}

func TestRoutes(t *testing.T) {
	replies := map[string]string{
		"netlink:route/link-dump": twoNICs(t),
		"netlink:route/route-dump-ipv4": reply(t,
			routeBody(t, unix.AF_INET, 0, 254, 1, func(ae *netlink.AttributeEncoder) {
				ae.Bytes(unix.RTA_GATEWAY, []byte{192, 0, 2, 1})
				ae.Uint32(unix.RTA_OIF, 2)
				ae.Uint32(unix.RTA_PRIORITY, 100)
			}),
			routeBody(t, unix.AF_INET, 24, 252, 1, func(ae *netlink.AttributeEncoder) {
				ae.Bytes(unix.RTA_DST, []byte{198, 51, 100, 0})
				ae.Uint32(unix.RTA_TABLE, 1000)
				ae.Bytes(unix.RTA_PREFSRC, []byte{192, 0, 2, 7})
				ae.Bytes(unix.RTA_MULTIPATH, append(
					nexthop(2, body(t, nil, func(in *netlink.AttributeEncoder) { in.Bytes(unix.RTA_GATEWAY, []byte{192, 0, 2, 1}) })),
					nexthop(3, body(t, nil, func(in *netlink.AttributeEncoder) {
						in.Bytes(unix.RTA_VIA, append([]byte{unix.AF_INET6, 0}, []byte{0xfe, 0x80, 15: 9}...))
					}))...))
			}),
			routeBody(t, unix.AF_INET, 8, 254, 6, func(ae *netlink.AttributeEncoder) { ae.Bytes(unix.RTA_DST, []byte{10, 0, 0, 0}) }),
			routeBody(t, 28, 20, 254, 1, nil)), // MPLS
		"netlink:route/route-dump-ipv6": reply(t, routeBody(t, unix.AF_INET6, 64, 254, 1, func(ae *netlink.AttributeEncoder) {
			ae.Bytes(unix.RTA_DST, []byte{0xfd, 15: 0})
			ae.Uint32(unix.RTA_OIF, 99)
		})),
		"netlink:route/rule-dump": reply(t,
			body(t, []byte{unix.AF_INET, 0, 32, 0, 253, 0, 0, 1, 0, 0, 0, 0}, func(ae *netlink.AttributeEncoder) {
				ae.Bytes(unix.FRA_SRC, []byte{192, 0, 2, 7})
				ae.Uint32(unix.FRA_PRIORITY, 200)
				ae.Uint32(unix.FRA_TABLE, 1000)
				ae.String(unix.FRA_OIFNAME, "eth3")
			}),
			body(t, []byte{unix.AF_INET, 0, 0, 0, 255, 0, 0, 1, 0, 0, 0, 0}, nil),
			body(t, []byte{unix.AF_INET, 0, 0, 0, 9, 0, 0, 7, 0, 0, 0, 0}, func(ae *netlink.AttributeEncoder) { ae.Uint32(unix.FRA_PRIORITY, 50) }),
			body(t, []byte{unix.AF_INET, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, func(ae *netlink.AttributeEncoder) {
				ae.Uint32(unix.FRA_PRIORITY, 300)
				ae.Uint32(unix.FRA_TABLE, 77)
				ae.Uint32(unix.FRA_FWMARK, 1)
			}),
			body(t, []byte{unix.AF_INET, 0, 0, 0, 9, 0, 0, 1, 2, 0, 0, 0}, func(ae *netlink.AttributeEncoder) { ae.Uint32(unix.FRA_PRIORITY, 301) }),
			body(t, []byte{128, 0, 0, 0, 253, 0, 0, 1, 0, 0, 0, 0}, nil)),
	}
	s := collected(t, answers(replies), facts.Links, facts.RoutesSource)
	want(t, "routes", s.Routes, []facts.Route{
		{Family: "ipv4", Table: 254, Dst: "default", Gateway: "192.0.2.1", Netdev: "eth2", Metric: 100, Type: "unicast"},
		{Family: "ipv4", Table: 1000, Dst: "198.51.100.0/24", Gateway: "192.0.2.1", Netdev: "eth2", Source: "192.0.2.7", Type: "unicast"},
		{Family: "ipv4", Table: 1000, Dst: "198.51.100.0/24", Gateway: "fe80::9", Netdev: "eth3", Source: "192.0.2.7", Type: "unicast"},
		{Family: "ipv4", Table: 254, Dst: "10.0.0.0/8", Type: "blackhole"},
		{Family: "ipv6", Table: 254, Dst: "fd00::/64", Type: "unicast"},
	})
	want(t, "rules", s.Rules, []facts.Rule{
		{Family: "ipv4", Priority: 0, Table: 255},
		{Family: "ipv4", Priority: 50},
		{Family: "ipv4", Priority: 200, Src: "192.0.2.7/32", OIF: "eth3", Table: 1000},
		{Family: "ipv4", Priority: 300, Table: 77, Narrower: true},
		{Family: "ipv4", Priority: 301, Table: 9, Narrower: true},
	})
}

func TestRoutesBounded(t *testing.T) {
	one := rawReply(t, routeBody(t, unix.AF_INET, 32, 254, 1, func(ae *netlink.AttributeEncoder) { ae.Bytes(unix.RTA_DST, []byte{10, 0, 0, 1}) }))
	var text []byte
	for range mostRoutes + 5 {
		text = fmt.Appendf(text, "%x", one)
	}
	s := collected(t, answers(map[string]string{"netlink:route/route-dump-ipv4": "hex: " + string(text)}), facts.RoutesSource)
	if len(s.Routes) != mostRoutes {
		t.Errorf("%d routes, want %d", len(s.Routes), mostRoutes)
	}
	if g := gap(t, s, "route/route-dump-ipv4"); g.Kind != facts.Malformed {
		t.Errorf("gap %+v", g)
	}
}

func TestRoutesMalformed(t *testing.T) {
	name := func(int) string { return "" }
	for what, b := range map[string][]byte{
		"header cut":          make([]byte, 11),
		"prefix of no length": routeBody(t, unix.AF_INET, 24, 254, 1, nil),
		"prefix too long":     routeBody(t, unix.AF_INET, 33, 254, 1, func(ae *netlink.AttributeEncoder) { ae.Bytes(unix.RTA_DST, []byte{10, 0, 0, 0}) }),
		"short table":         routeBody(t, unix.AF_INET, 0, 254, 1, func(ae *netlink.AttributeEncoder) { ae.Uint16(unix.RTA_TABLE, 1) }),
	} {
		if got, err := parseRoute(b, name); err == nil {
			t.Errorf("%s: accepted as %+v", what, got)
		}
	}
	for what, b := range map[string][]byte{
		"shorter than itself": {4, 0, 0, 0, 2, 0, 0, 0},
		"past the end":        {9, 0, 0, 0, 2, 0, 0, 0},
		"zero":                make([]byte, 8),
	} {
		if got := parseHops(b, name); len(got) != 0 {
			t.Errorf("%s: accepted as %+v", what, got)
		}
	}
}

func neighbourBody(t testing.TB, family byte, index uint32, state uint16, ip, mac []byte) []byte {
	header := make([]byte, sizeofNdMsg)
	header[0] = family
	native.PutUint32(header[4:], index)
	native.PutUint16(header[8:], state)
	return body(t, header, func(ae *netlink.AttributeEncoder) {
		ae.Bytes(unix.NDA_DST, ip)
		if mac != nil {
			ae.Bytes(unix.NDA_LLADDR, mac)
		}
	})
}

func TestNeighbours(t *testing.T) {
	mac := []byte{2, 0, 0, 0, 0, 1}
	s := collected(t, answers(map[string]string{
		"netlink:route/link-dump": twoNICs(t),
		"netlink:route/neighbour-dump": reply(t,
			neighbourBody(t, unix.AF_INET, 3, 0x20, []byte{192, 0, 2, 10}, nil),
			neighbourBody(t, unix.AF_INET, 2, 0x02, []byte{192, 0, 2, 10}, mac),
			neighbourBody(t, unix.AF_INET, 2, 0x04, []byte{192, 0, 2, 9}, mac),
			neighbourBody(t, unix.AF_INET, 2, 0x40, []byte{224, 0, 0, 1}, mac),  // NOARP
			neighbourBody(t, unix.AF_INET, 77, 0x02, []byte{192, 0, 2, 1}, mac), // No such netdev.
			neighbourBody(t, 7, 2, 0x02, mac, mac)),                             // Bridge
	}), facts.Links, facts.NeighSource)
	want(t, "neighbours", s.Neighbors, []facts.Neighbor{
		{Netdev: "eth2", IP: "192.0.2.9", MAC: "02:00:00:00:00:01", State: "STALE"},
		{Netdev: "eth2", IP: "192.0.2.10", MAC: "02:00:00:00:00:01", State: "REACHABLE"},
		{Netdev: "eth3", IP: "192.0.2.10", State: "FAILED"},
	})
}
