package collect

import (
	"encoding/hex"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// bodyParsers are all parsers of one message.
var bodyParsers = []func([]byte){
	func(b []byte) { parseLink(b) },
	func(b []byte) { parseAddress(b) },
	func(b []byte) { parseQdisc(b) },
	func(b []byte) { parseRoute(b, func(int) string { return "eth2" }) },
	func(b []byte) { parseRule(b) },
	func(b []byte) { parseNeighbour(b) },
	func(b []byte) { parseFilterChain(b) },
	func(b []byte) { parseFilterRule(b) },
	func(b []byte) { parseNLDevice(b) },
	func(b []byte) { parseNLPort(b) },
	func(b []byte) { parseNLSys(b, &facts.RDMA{}) },
	func(b []byte) { parseNLResources(b) },
	func(b []byte) { parseNLStats(b) },
	func(b []byte) { parseNLUverbs(b) },
	func(b []byte) { parseDCB(b, &facts.DCB{}) },
	func(b []byte) { parseLinkModes(b) },
	func(b []byte) { parseLinkState(b, new(facts.Opt[string])) },
	func(b []byte) { parseVFInfo(b) },
	func(b []byte) { parseParam(b, "enable_roce") },
	func(b []byte) { parseFEC(b) },
	func(b []byte) { parseSerial(b) },
}

func FuzzNetlinkMessage(f *testing.F) {
	seeds := [][]byte{
		linkSpec{2, "eth2", 1, func(ae *netlink.AttributeEncoder) { ae.Bytes(unix.IFLA_STATS64, stats64(1, 2)) }}.body(f),
		addressBody(f, 2, 24, 0, 0, []byte{192, 0, 2, 1}, []byte{192, 0, 2, 1}),
		netemQdisc(f, 2, 1),
		routeBody(f, unix.AF_INET, 24, 254, 1, func(ae *netlink.AttributeEncoder) {
			ae.Bytes(unix.RTA_DST, []byte{10, 0, 0, 0})
			ae.Bytes(unix.RTA_MULTIPATH, nexthop(2, nil))
		}),
		body(f, make([]byte, sizeofRuleHdr), func(ae *netlink.AttributeEncoder) { ae.Uint32(unix.FRA_TABLE, 1000) }),
		neighbourBody(f, unix.AF_INET, 2, 2, []byte{192, 0, 2, 1}, []byte{2, 0, 0, 0, 0, 1}),
		nlDevice(f, 1, "rxe0", "roce", 1), nlPort(f, 1, 4, 5, "eth2"), nlResource(f, "rxe0"), nlStats(f, 1), nlChardev(f, "uverbs0", 14),
		dcbBody(f, 1), linkModesBody(f),
		vfBody(f, 2, 1000), paramBody(f, "enable_roce", false), infoBody(f, "9C-9C", "B1"),
		chainBody(f, "input", 1, 0), ruleBody(f, "input", append(toRoCE, verdict(0))...),
		{0xff, 0xff, 0xff, 0xff}, {4, 0, 1, 0}, {0, 0, 0, 0},
	}
	for _, s := range seeds {
		f.Add(s)
		f.Add(s[:len(s)/2])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range bodyParsers {
			parse(b)
		}
	})
}

// FuzzNetlinkReply answers every request of every collector with the same
// bytes. Whatever comes of it is a snapshot that survives its JSON form.
func FuzzNetlinkReply(f *testing.F) {
	f.Add(rawReply(f, linkSpec{2, "eth2", 1, nil}.body(f)))
	f.Add(rawReply(f, nlDevice(f, 1, "rxe0", "roce", 1), nlPort(f, 1, 4, 5, "eth2")))
	f.Add(rawReply(f, dcbBody(f, 1))[:40])
	f.Add([]byte{16, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		text := "hex: " + hex.EncodeToString(b)
		h := answers(map[string]string{"/sys/module/ib_uverbs/": ""})
		for _, op := range []string{
			"route/link-dump", "route/address-dump", "route/qdisc-dump", "route/route-dump-ipv4", "route/route-dump-ipv6",
			"route/rule-dump", "route/neighbour-dump", "rdma/device-dump", "rdma/sys-get", "rdma/resource-dump",
			"rdma/port-dump.rxe0", "rdma/uverbs-get.rxe0", "rdma/stat-get.rxe0/1", "route/dcb-ieee-get.eth2",
			"netfilter/chain-dump", "netfilter/rule-dump",
			"ethtool/linkmodes-get.eth2", "ethtool/linkstate-get.eth2", "ethtool/fec-get.eth2",
		} {
			h.Put("netlink:"+op, text)
		}
		collected(t, h, facts.Links, facts.RoutesSource, facts.NeighSource, facts.RDMANetlink, facts.DCBNetlink, facts.Ethtool, facts.FilterSource)
	})
}
