package collect

import (
	"encoding/binary"
	"net/netip"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// routes reads the routing tables and policy rules (RTM_GETROUTE, RTM_GETRULE;
// ip-route(8), ip-rule(8)).
var _ = register(Collector{
	Source: facts.RoutesSource,
	After:  30,
	Read: func(r *Reader) {
		b := r.batch()
		for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
			op := routeDump(family)
			left := mostRoutes
			b.netlink(op, func(body []byte) error {
				found, err := parseRoute(body, func(index int) string { return netdevName(r.Snap, index) })
				if left -= len(found); left < 0 {
					r.gap(op.Name, facts.Malformed, "more than 20000 routes, the rest is left out")
					return nil
				}
				r.Snap.Routes = append(r.Snap.Routes, found...)
				return err
			}, r.Have)
		}
		b.netlink(ruleDump(), keepParsed(parseRule, &r.Snap.Rules), nil)
		b.run()
		r.Snap.Rules = sortRules(r.Snap.Rules)
	},
})

// mostRoutes bounds each family: routers with full tables have a million, and
// nothing is judged by them.
const mostRoutes = 20000

const sizeofRtMsg = unix.SizeofRtMsg

func routeDump(family byte) hostio.Op {
	header := make([]byte, sizeofRtMsg)
	header[0] = family
	return netlinkOp("route/route-dump-"+familyName(family), unix.RTM_GETROUTE, nlDump, header, nil)
}

func familyName(family byte) string {
	switch family {
	case unix.AF_INET:
		return "ipv4"
	case unix.AF_INET6:
		return "ipv6"
	}
	return ""
}

// netdevName is the name of the netdev with that index, "" where none has it.
func netdevName(s *facts.Snapshot, index int) string {
	if n := s.NetdevByIndex(index); n != nil {
		return n.Name
	}
	return ""
}

// routeTypes are the names of ip-route(8), by RTN_*.
var routeTypes = []string{
	"unspec", "unicast", "local", "broadcast", "anycast", "multicast", "blackhole", "unreachable", "prohibit",
	"throw", "nat", "xresolve",
}

// parseRoute reads one RTM_NEWROUTE: struct rtmsg and attributes. A route with
// several next hops becomes one of each. Families other than IP give none.
func parseRoute(body []byte, name func(int) string) ([]facts.Route, error) {
	if len(body) < sizeofRtMsg {
		return nil, errCut
	}
	rt := facts.Route{Family: familyName(body[0]), Table: int(body[4])}
	if rt.Family == "" {
		return nil, nil
	}
	if t := int(body[7]); t < len(routeTypes) {
		rt.Type = routeTypes[t]
	}
	bits, dst := int(body[1]), netip.Addr{}
	var hops []facts.Route
	err := attributes(body, sizeofRtMsg, func(ad *netlink.AttributeDecoder) {
		switch ad.Type() {
		case unix.RTA_DST:
			dst, _ = netip.AddrFromSlice(ad.Bytes())
		case unix.RTA_OIF:
			rt.Netdev = name(int(ad.Uint32()))
		case unix.RTA_GATEWAY:
			rt.Gateway = ipText(ad.Bytes())
		case unix.RTA_VIA:
			rt.Gateway = viaText(ad.Bytes())
		case unix.RTA_PREFSRC:
			rt.Source = ipText(ad.Bytes())
		case unix.RTA_PRIORITY:
			rt.Metric = int(ad.Uint32())
		case unix.RTA_TABLE:
			rt.Table = int(ad.Uint32())
		case unix.RTA_MULTIPATH:
			hops = parseHops(ad.Bytes(), name)
		}
	})
	if err != nil {
		return nil, err
	}
	if rt.Dst = "default"; bits > 0 || dst.IsValid() {
		p := netip.PrefixFrom(dst, bits)
		if !p.IsValid() {
			return nil, form("a destination as long as its prefix")
		}
		rt.Dst = p.String()
	}
	if len(hops) == 0 {
		return []facts.Route{rt}, nil
	}
	for i, hop := range hops {
		hops[i] = rt
		hops[i].Netdev, hops[i].Gateway = hop.Netdev, hop.Gateway
	}
	return hops, nil
}

// parseHops reads RTA_MULTIPATH: struct rtnexthop (length, flags, weight, index),
// each followed by attributes.
func parseHops(b []byte, name func(int) string) []facts.Route {
	var hops []facts.Route
	for len(b) >= unix.SizeofRtNexthop {
		length := int(binary.NativeEndian.Uint16(b))
		if length < unix.SizeofRtNexthop || length > len(b) {
			break
		}
		hop := facts.Route{Netdev: name(int(binary.NativeEndian.Uint32(b[4:])))}
		err := attributes(b[:length], unix.SizeofRtNexthop, func(ad *netlink.AttributeDecoder) {
			switch ad.Type() {
			case unix.RTA_GATEWAY:
				hop.Gateway = ipText(ad.Bytes())
			case unix.RTA_VIA:
				hop.Gateway = viaText(ad.Bytes())
			}
		})
		if err == nil {
			hops = append(hops, hop)
		}
		b = b[min(len(b), (length+3)&^3):]
	}
	return hops
}

func ipText(b []byte) string {
	if a, ok := netip.AddrFromSlice(b); ok {
		return a.String()
	}
	return ""
}

// viaText reads struct rtvia: a gateway of another family than the route.
func viaText(b []byte) string {
	if len(b) < 2 {
		return ""
	}
	return ipText(b[2:])
}
