package collect

import (
	"net"
	"slices"
	"testing"

	rtnl "github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// liveSnapshot collects sources of this very host.
func liveSnapshot(t *testing.T, only ...facts.Source) *facts.Snapshot {
	t.Helper()
	s := Run(t.Context(), &hostio.Live{}, Options{Origin: facts.Live, Only: only})
	roundTrips(t, s)
	return s
}

// The same kernel is asked through another library, and both have to agree.
func TestLinksOfThisHost(t *testing.T) {
	s := liveSnapshot(t, facts.Links)
	links, err := rtnl.LinkList()
	if err != nil {
		t.Skipf("this host does not list its links: %v", err)
	}
	for _, l := range links {
		a := l.Attrs()
		n := s.Netdev(a.Name)
		if n == nil {
			t.Errorf("%s is not in the snapshot", a.Name)
			continue
		}
		if n.Index != a.Index || n.MTU.Or(0) != a.MTU || n.AdminUp.Or(false) != (a.Flags&net.FlagUp != 0) {
			t.Errorf("%s has index %d, MTU %v, up %v, want %d, %d, %v", a.Name, n.Index, n.MTU, n.AdminUp, a.Index, a.MTU, a.Flags)
		}
		if len(a.HardwareAddr) == 6 && n.MAC.Or("") != a.HardwareAddr.String() {
			t.Errorf("%s has MAC %v, want %s", a.Name, n.MAC, a.HardwareAddr)
		}
		kind := l.Type()
		if kind == "device" {
			kind = ""
		}
		if n.Kind.Or("") != kind {
			t.Errorf("%s is of kind %v, want %q", a.Name, n.Kind, kind)
		}
		if v, ok := n.Stats["rx_packets"].First.Get(); !ok || v > a.Statistics.RxPackets {
			t.Errorf("%s had %d packets, later %d", a.Name, v, a.Statistics.RxPackets)
		}
	}
	addrs, err := rtnl.AddrList(nil, unix.AF_UNSPEC)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		n := s.NetdevByIndex(a.LinkIndex)
		bits, _ := a.Mask.Size()
		if n == nil || !slices.ContainsFunc(n.Addresses, func(have facts.Address) bool {
			return have.IP == a.IP.String() && have.PrefixLen == bits
		}) {
			t.Errorf("address %s is not in the snapshot", a.IPNet)
		}
	}
	qdiscs, err := rtnl.QdiscList(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range qdiscs {
		n := s.NetdevByIndex(q.Attrs().LinkIndex)
		if n == nil || !slices.ContainsFunc(n.Qdiscs, func(have facts.Qdisc) bool { return have.Kind == q.Type() }) {
			t.Errorf("qdisc %s is not in the snapshot", q)
		}
	}
}

func TestRoutesOfThisHost(t *testing.T) {
	s := liveSnapshot(t, facts.Links, facts.RoutesSource, facts.NeighSource)
	routes, err := rtnl.RouteListFiltered(unix.AF_UNSPEC, &rtnl.Route{Table: unix.RT_TABLE_UNSPEC}, rtnl.RT_FILTER_TABLE)
	if err != nil {
		t.Skipf("this host does not list its routes: %v", err)
	}
	for _, rt := range routes {
		dst := "default"
		if rt.Dst != nil && rt.Dst.String() != "0.0.0.0/0" && rt.Dst.String() != "::/0" {
			dst = rt.Dst.String()
		}
		name := netdevName(s, rt.LinkIndex)
		if !slices.ContainsFunc(s.Routes, func(have facts.Route) bool {
			return have.Dst == dst && have.Table == rt.Table && (len(rt.MultiPath) > 0 || have.Netdev == name)
		}) {
			t.Errorf("route %s is not in the snapshot", rt)
		}
	}
	rules, err := rtnl.RuleList(unix.AF_UNSPEC)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		if rule.Family > unix.AF_INET6 { // Multicast routing has rules of its own.
			continue
		}
		if !slices.ContainsFunc(s.Rules, func(have facts.Rule) bool {
			return have.Priority == max(rule.Priority, 0) && have.Table == rule.Table
		}) {
			t.Errorf("rule %s is not in the snapshot", rule)
		}
	}
	if !s.Has(facts.RoutesSource) || !s.Has(facts.NeighSource) {
		t.Errorf("sources %v", s.Sources)
	}
}

// Without RDMA every request has to end in a gap that says so, or not be made.
func TestNetlinkWithoutRDMA(t *testing.T) {
	s := liveSnapshot(t, facts.SysfsRDMA, facts.Links, facts.RDMANetlink, facts.DCBNetlink, facts.Ethtool)
	if s.RDMA.SubsystemPresent.Or(true) {
		t.Skip("this host has RDMA")
	}
	want(t, "gap", gap(t, s, "NETLINK_RDMA"), facts.Gap{Source: facts.RDMANetlink, What: "NETLINK_RDMA", Kind: facts.Absent, Detail: "ib_core is not loaded"})
	// No netdev carries RDMA, so nothing of these two was left unread.
	if s.Has(facts.RDMANetlink) || !s.Has(facts.DCBNetlink) || !s.Has(facts.Ethtool) {
		t.Errorf("sources %v", s.Sources)
	}
}
