// Package expect works out what a path between two ports should carry, from
// link, packet headers, PCIe and what is outstanding, and says how it came to
// the figure. It judges nothing: the limits that a figure is held against are
// constants here, the words are the checks'.
package expect

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Bytes around the payload of one packet (include/rdma/ib_pack.h; IEEE 802.3
// for preamble, FCS and inter-frame gap).
const (
	overheadRoCEv2IPv4 = 82  // preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, gap 12
	overheadRoCEv2IPv6 = 102 // 20 more of IPv6
	overheadRoCEv1     = 94  // GRH 40 in place of IPv4 and UDP
	overheadVLAN       = 4
	overheadInfiniBand = 26 // LRH 8, BTH 12, ICRC 4, VCRC 2
	overheadGRH        = 40
	overheadTCP        = 90 // of a segment with timestamps; FPDU headers come to little
)

// infiniBandShare is what published measurements on EDR reach of the formula:
// credit packets and delimiters are not in it.
const infiniBandShare = 0.972

// Overhead is how many bytes of a packet are not payload on this path.
func Overhead(path *facts.Path) int {
	n := overheadRoCEv2IPv4
	switch path.Transport {
	case "InfiniBand":
		n = overheadInfiniBand
		if path.SGIDIndex.Known() { // With a GRH only.
			n += overheadGRH
		}
		return n
	case "iWARP":
		return overheadTCP
	case "RoCE v1":
		n = overheadRoCEv1
	default:
		if path.DGID != "" && !mappedIPv4(path.DGID) {
			n = overheadRoCEv2IPv6
		}
	}
	if vlan, ok := path.VLAN.Get(); ok && vlan > 0 {
		n += overheadVLAN
	}
	return n
}

// mappedIPv4 reports whether a GID is an IPv4 address, as sysfs or as
// inet_ntop writes it.
func mappedIPv4(gid string) bool {
	const full, short = "0000:0000:0000:0000:0000:ffff:", "::ffff:"
	return len(gid) > len(full) && gid[:len(full)] == full || len(gid) > len(short) && gid[:len(short)] == short
}

// Efficiency is the share of the link's rate that is payload of long messages.
// It is 0 where the path MTU is not known.
func Efficiency(path *facts.Path) float64 {
	mtu := float64(path.PathMTU)
	if mtu <= 0 {
		return 0
	}
	share := mtu / (mtu + float64(Overhead(path)))
	if path.Transport == "InfiniBand" {
		share *= infiniBandShare
	}
	return share
}

// PortRate is the data rate of a port: on Ethernet that of the netdev, never
// the made-up rate of the RDMA port. It is 0 where it was not read.
func PortRate(s *facts.Snapshot, p *facts.Port) facts.BitsPerSecond {
	if p.LinkLayer.Or("") == facts.InfiniBand {
		if rate, ok := facts.DataRate(p.Speed.Or(""), p.Width.Or(0)); ok {
			return rate
		}
		return p.DataRate.Or(p.Rate.Or(0))
	}
	n := s.Netdev(p.Netdev.Or(""))
	if n == nil {
		return 0
	}
	if rate, ok := s.Beneath(n).Speed.Get(); ok {
		return rate
	}
	var sum facts.BitsPerSecond // A bond without a speed of its own.
	for _, member := range s.Hardware(n) {
		sum += member.Speed.Or(0)
	}
	return sum
}

// link is the ceiling that the slower of the two links sets.
func link(ends []End, path *facts.Path) (Ceiling, bool) {
	var c Ceiling
	share := Efficiency(path)
	for _, e := range ends {
		rate := PortRate(e.Snapshot, e.Port)
		if rate <= 0 || share <= 0 {
			continue
		}
		if got := facts.BitsPerSecond(float64(rate) * share); c.Rate == 0 || got < c.Rate {
			c = Ceiling{Name: "link", At: e.String(), Rate: got, Formula: fmt.Sprintf("%s x %d / (%d + %d)",
				rate, path.PathMTU, path.PathMTU, Overhead(path))}
			if path.Transport == "InfiniBand" {
				c.Formula += fmt.Sprintf(" x %g", infiniBandShare)
			}
		}
	}
	return c, c.Rate > 0
}
