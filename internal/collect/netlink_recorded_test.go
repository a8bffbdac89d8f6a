package collect

import (
	"slices"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// TestRecordedNetlink reads what two kernels answered. What is wanted is what
// ip(8), rdma(8), dcb(8) and ethtool(8) printed in the same guest.
func TestRecordedNetlink(t *testing.T) {
	for _, kernel := range []string{"6.1", "6.12"} {
		t.Run(kernel, func(t *testing.T) {
			s := collected(t, constructed(t, "netlink-debian-"+kernel),
				facts.Links, facts.RDMANetlink, facts.RoutesSource, facts.NeighSource, facts.DCBNetlink, facts.Ethtool)
			recordedLinks(t, s)
			recordedRDMA(t, s)
			recordedRoutes(t, s)
			recordedDCB(t, s)
			recordedEthtool(t, s)
			for _, g := range s.Gaps {
				if g.What != noNetlink {
					t.Errorf("unexpected gap %+v", g)
				}
			}
		})
	}
}

func recordedLinks(t *testing.T, s *facts.Snapshot) {
	t.Helper()
	n, vlan := s.Netdev("labnic0"), s.Netdev("labnic0.100")
	want(t, "labnic0", []any{n.MTU, n.AdminUp, n.OperState, n.Carrier, n.Kind}, []any{
		facts.Some(4200), facts.Some(true), facts.Some("up"), facts.Some(true), facts.Opt[string]{},
	})
	want(t, "labnic0 IPv4", n.Addresses[0], facts.Address{IP: "192.0.2.1", PrefixLen: 24, Scope: "global"})
	if !slices.Contains(n.Addresses, facts.Address{IP: "2001:db8::1", PrefixLen: 64, Scope: "global"}) {
		t.Errorf("addresses %+v", n.Addresses)
	}
	if d, ok := n.Stats["rx_bytes"].Delta(); !ok {
		t.Errorf("received bytes %+v, grown by %d", n.Stats["rx_bytes"], d)
	}
	want(t, "VLAN", []any{vlan.Kind, vlan.Lower, vlan.VLANID, vlan.VLANEgressQoS, vlan.MTU, vlan.MaxMTU}, []any{
		facts.Some("vlan"), facts.Some("labnic0"), facts.Some(100), map[int]int{0: 3, 4: 5}, facts.Some(4200), facts.Some(65535),
	})
	want(t, "bond", []any{s.Netdev("bond0").Kind, s.Netdev("bond0").BondMode}, []any{facts.Some("bond"), facts.Some("802.3ad")})
	want(t, "dummy", []any{s.Netdev("d0").Kind, s.Netdev("d0").Master}, []any{facts.Some("dummy"), facts.Some("bond0")})
	q := s.Netdev("labnic1").Qdiscs
	if len(q) != 1 || q[0].Kind != "netem" || q[0].Parent != "root" {
		t.Fatalf("qdiscs of labnic1: %+v", q)
	}
	want(t, "delay", q[0].Delay, facts.Some(2*time.Millisecond))
	if loss := q[0].Loss.Or(0); loss < 0.00999 || loss > 0.01001 {
		t.Errorf("loss %v, want 1 %%", loss)
	}
	if _, ok := q[0].Drops.Delta(); !ok {
		t.Errorf("drops %+v, want two samples", q[0].Drops)
	}
}

func recordedRDMA(t *testing.T, s *facts.Snapshot) {
	t.Helper()
	want(t, "netns mode", s.RDMA.NetnsMode, facts.Some("shared"))
	for name, w := range map[string][]string{ // protocol, node type, driver, provider, node, netdev
		"rxe0": {"roce", "CA", "rdma_rxe", "rxe", "uverbs0", "labnic0"},
		"siw0": {"iw", "RNIC", "siw", "siw", "uverbs1", "labnic1"},
	} {
		d := s.Device(name)
		if d == nil || len(d.Ports) != 1 {
			t.Fatalf("%s: %+v", name, d)
		}
		p := d.Ports[0]
		want(t, name, []string{d.Protocol.Or(""), d.NodeType.Or(""), d.Driver.Or(""), d.Provider.Or(""), d.Uverbs.Or(""), p.Netdev.Or("")}, w)
		want(t, name+" state", []any{p.State, p.PhysState}, []any{facts.Some(facts.StateActive), facts.Some("LinkUp")})
		if !groupsOfHex(d.NodeGUID.Or(""), 4) || !d.Index.Known() {
			t.Errorf("%s has GUID %v and index %v", name, d.NodeGUID, d.Index)
		}
		for _, res := range []string{"qp", "cq", "pd", "mr", "cm_id", "ctx"} {
			if _, ok := d.Resources[res]; !ok {
				t.Errorf("%s: no count of %s", name, res)
			}
		}
	}
}

func recordedRoutes(t *testing.T, s *facts.Snapshot) {
	t.Helper()
	for _, r := range []facts.Route{
		{Family: "ipv4", Table: 254, Dst: "192.0.2.0/24", Netdev: "labnic0", Source: "192.0.2.1", Type: "unicast"},
		{Family: "ipv4", Table: 254, Dst: "203.0.113.0/24", Gateway: "192.0.2.9", Netdev: "labnic0", Type: "unicast"},
		{Family: "ipv4", Table: 254, Dst: "203.0.113.0/24", Gateway: "198.51.100.9", Netdev: "labnic0.100", Type: "unicast"},
		{Family: "ipv4", Table: 254, Dst: "10.99.0.0/16", Type: "blackhole"},
		{Family: "ipv6", Table: 254, Dst: "2001:db8::/64", Netdev: "labnic0", Metric: 256, Type: "unicast"},
	} {
		if !slices.Contains(s.Routes, r) {
			t.Errorf("no route %+v in %+v", r, s.Routes)
		}
	}
	if !slices.Contains(s.Rules, facts.Rule{Family: "ipv4", Priority: 500, Src: "192.0.2.1/32", Table: 1000}) {
		t.Errorf("rules %+v", s.Rules)
	}
	if !slices.Contains(s.Neighbors, facts.Neighbor{Netdev: "labnic0", IP: "192.0.2.9", MAC: "02:00:00:00:00:99", State: "PERMANENT"}) {
		t.Errorf("neighbours %+v", s.Neighbors)
	}
}

func recordedDCB(t *testing.T, s *facts.Snapshot) {
	t.Helper()
	d, ok := s.Netdev("labnic0").DCB.Get()
	if !ok {
		t.Fatal("no DCB")
	}
	pfc, _ := d.PFC.Get()
	want(t, "PFC", []any{pfc.Enabled, pfc.Capability, pfc.Delay}, []any{uint8(1 << 3), 8, 7})
	if _, ok := pfc.Requests[3].Delta(); !ok {
		t.Errorf("PFC frames %+v, want two samples", pfc.Requests[3])
	}
	want(t, "apps", d.Apps, []facts.App{{Selector: facts.SelectorDSCP, Priority: 3, Protocol: 26}})
	want(t, "DCBX", d.DCBX, facts.Some(13))
	far, _ := s.Netdev("labnic1").DCB.Get()
	farPFC, _ := far.PFC.Get()
	want(t, "PFC of the far end", []any{farPFC.Enabled, len(far.Apps)}, []any{uint8(0), 0})
}

func recordedEthtool(t *testing.T, s *facts.Snapshot) {
	t.Helper()
	n := s.Netdev("labnic0")
	want(t, "driver", []any{n.Driver, n.Firmware, n.FEC, n.Pause}, []any{
		facts.Some("mlx5_core"), facts.Some("28.43.2566"), facts.Some("RS"), facts.Some(facts.Pause{}),
	})
	want(t, "far pause", s.Netdev("labnic1").Pause, facts.Some(facts.Pause{RX: true, TX: true}))
	m, _ := n.LinkModes.Get()
	modes := []string{"40000baseCR4/Full", "25000baseCR/Full", "50000baseCR2/Full", "100000baseCR4/Full", "10000baseCR/Full"}
	want(t, "link modes", m, facts.LinkModes{
		Autoneg: facts.Some(true), Supported: modes, Advertised: modes, Partner: modes,
		MaxSupported: 100e9, MaxAdvertised: 100e9, MaxPartner: 100e9,
	})
	c, ok := n.Ethtool["rx_bytes_phy"]
	if _, both := c.Delta(); !ok || !both {
		t.Errorf("rx_bytes_phy %+v, want two samples", c)
	}
	if n.ExtState.Known() {
		t.Errorf("a link that is up is down because of %v", n.ExtState)
	}
}
