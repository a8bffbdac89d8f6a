package collect

import (
	"testing"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// bitset puts a bit set with names; those in set have a value.
func bitset(ae *netlink.AttributeEncoder, typ uint16, names, set []string) {
	nest(ae, typ, func(bs *netlink.AttributeEncoder) {
		bs.Uint32(unix.ETHTOOL_A_BITSET_SIZE, 121)
		nest(bs, unix.ETHTOOL_A_BITSET_BITS, func(bits *netlink.AttributeEncoder) {
			for i, name := range names {
				nest(bits, unix.ETHTOOL_A_BITSET_BITS_BIT, func(bit *netlink.AttributeEncoder) {
					bit.Uint32(unix.ETHTOOL_A_BITSET_BIT_INDEX, uint32(i))
					bit.String(unix.ETHTOOL_A_BITSET_BIT_NAME, name)
					for _, s := range set {
						if s == name {
							bit.Flag(unix.ETHTOOL_A_BITSET_BIT_VALUE, true)
						}
					}
				})
			}
		})
	})
}

func linkModesBody(t testing.TB) []byte {
	return body(t, []byte{ethLinkModesGet, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.Uint8(unix.ETHTOOL_A_LINKMODES_AUTONEG, 1)
		bitset(ae, unix.ETHTOOL_A_LINKMODES_OURS,
			[]string{"Autoneg", "FIBRE", "25000baseCR/Full", "100000baseCR4/Full", "200000baseCR4/Full", "FEC_RS"},
			[]string{"Autoneg", "25000baseCR/Full", "100000baseCR4/Full"})
		bitset(ae, unix.ETHTOOL_A_LINKMODES_PEER, []string{"Pause", "100000baseCR4/Full"}, nil)
		ae.Uint32(unix.ETHTOOL_A_LINKMODES_SPEED, 100000)
		ae.Uint32(unix.ETHTOOL_A_LINKMODES_LANES, 4)
	})
}

func ethtoolReplies(t testing.TB) map[string]string {
	replies := roce(t, twoNICs(t), "eth2")
	replies["ethtool-driver:eth2"] = `{"driver":"mlx5_core","version":"6.12.48","fw_version":"28.43.2566 (MT_0000000838)","bus_info":"0000:3b:00.0"}`
	replies["ethtool-stats:eth2"] = `{"rx_discards_phy":3,"     rx_prio3_pause":18446744073709551615,"":9}`
	replies["then ethtool-stats:eth2"] = `{"rx_discards_phy":5}`
	replies["ethtool-pause:eth2"] = `{"autoneg":false,"rx":true,"tx":true}`
	replies["netlink:ethtool/linkmodes-get.eth2"] = reply(t, linkModesBody(t))
	replies["netlink:ethtool/linkstate-get.eth2"] = reply(t, body(t, []byte{ethLinkStateGet, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.Uint8(unix.ETHTOOL_A_LINKSTATE_LINK, 0)
		ae.Uint8(unix.ETHTOOL_A_LINKSTATE_EXT_STATE, 4)
	}))
	replies["netlink:ethtool/fec-get.eth2"] = reply(t, body(t, []byte{ethFECGet, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(ethFECActive, 50)
		ae.Uint8(ethFECAuto, 1)
		bitset(ae, ethFECModes, []string{"RS", "BASER"}, nil)
		nest(ae, ethFECStats, func(in *netlink.AttributeEncoder) {
			in.Bytes(2, []byte{7, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0})
			in.Bytes(3, []byte{1, 0, 0, 0, 0, 0, 0, 0})
			in.Bytes(4, []byte{9})
			in.Bytes(9, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		})
	}))
	replies["then netlink:ethtool/fec-get.eth2"] = reply(t, body(t, []byte{ethFECGet, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(ethFECActive, 50)
		nest(ae, ethFECStats, func(in *netlink.AttributeEncoder) { in.Bytes(2, []byte{12, 0, 0, 0, 0, 0, 0, 0}) })
	}))
	return replies
}

func TestEthtool(t *testing.T) {
	s := collected(t, answers(ethtoolReplies(t)), facts.Links, facts.RDMANetlink, facts.Ethtool)
	n := s.Netdev("eth2")
	want(t, "driver", []string{n.Driver.Or(""), n.DriverVersion.Or(""), n.Firmware.Or(""), n.PCI.Or("")},
		[]string{"mlx5_core", "6.12.48", "28.43.2566 (MT_0000000838)", "0000:3b:00.0"})
	want(t, "counters", n.Ethtool, map[string]facts.Counter{
		"rx_discards_phy": {First: facts.Some[uint64](3), Last: facts.Some[uint64](5)},
		"rx_prio3_pause":  {First: facts.Some[uint64](1<<64 - 1)},
	})
	want(t, "pause", n.Pause, facts.Some(facts.Pause{RX: true, TX: true}))
	want(t, "link modes", n.LinkModes, facts.Some(facts.LinkModes{
		Autoneg:      facts.Some(true),
		Lanes:        facts.Some(4),
		Supported:    []string{"25000baseCR/Full", "100000baseCR4/Full", "200000baseCR4/Full"},
		Advertised:   []string{"25000baseCR/Full", "100000baseCR4/Full"},
		Partner:      []string{"100000baseCR4/Full"},
		MaxSupported: 200e9, MaxAdvertised: 100e9, MaxPartner: 100e9,
	}))
	want(t, "reason", n.ExtState, facts.Some("No cable"))
	want(t, "FEC", n.FEC, facts.Some("RS"))
	want(t, "FEC counters", n.FECCounters, map[string]facts.Counter{
		"corrected_blocks":     {First: facts.Some[uint64](7), Last: facts.Some[uint64](12)},
		"uncorrectable_blocks": {First: facts.Some[uint64](1)},
	})
	if !s.Has(facts.Ethtool) || s.Netdev("eth3").Driver.Known() {
		t.Error("the wrong netdevs were asked")
	}
}

func TestEthtoolUnsupported(t *testing.T) {
	replies := ethtoolReplies(t)
	for _, op := range []string{"ethtool-stats:eth2", "ethtool-pause:eth2", "netlink:ethtool/fec-get.eth2"} {
		replies[op] = "errno: EOPNOTSUPP"
	}
	delete(replies, "then ethtool-stats:eth2")
	replies["netlink:ethtool/linkstate-get.eth2"] = "errno: ENOENT" // A kernel without the family.
	replies["ethtool-driver:eth2"] = `{"driver":"veth","version":"N/A","fw_version":"","bus_info":""}`
	s := collected(t, answers(replies), facts.Links, facts.RDMANetlink, facts.Ethtool)
	n := s.Netdev("eth2")
	if n.Ethtool != nil || n.Pause.Known() || n.FEC.Known() || n.ExtState.Known() || n.DriverVersion.Known() || n.Firmware.Known() || n.PCI.Known() {
		t.Errorf("what was not read is known: %+v", n)
	}
	for what, kind := range map[string]facts.GapKind{
		"ethtool-stats:eth2": facts.Unsupported, "ethtool-pause:eth2": facts.Unsupported,
		"ethtool/fec-get.eth2": facts.Unsupported, "ethtool/linkstate-get.eth2": facts.Absent,
	} {
		if g := gap(t, s, what); g.Kind != kind {
			t.Errorf("gap %+v, want kind %s", g, kind)
		}
	}
}

func TestEthtoolMalformed(t *testing.T) {
	replies := ethtoolReplies(t)
	replies["ethtool-driver:eth2"] = `{"driver":`
	replies["ethtool-stats:eth2"] = `{"a":-1}`
	replies["netlink:ethtool/linkmodes-get.eth2"] = reply(t, linkModesBody(t)[:60])
	s := collected(t, answers(replies), facts.Links, facts.RDMANetlink, facts.Ethtool)
	for _, what := range []string{"ethtool-driver:eth2", "ethtool-stats:eth2", "ethtool/linkmodes-get.eth2"} {
		if g := gap(t, s, what); g.Kind != facts.Malformed {
			t.Errorf("gap %+v", g)
		}
	}
	if s.Netdev("eth2").LinkModes.Known() {
		t.Error("half a bit set is taken for link modes")
	}
	want(t, "the rest", s.Netdev("eth2").FEC, facts.Some("RS"))
}

func TestModeSpeed(t *testing.T) {
	for name, speed := range map[string]facts.BitsPerSecond{
		"10baseT/Half": 1e7, "2500baseX/Full": 25e8, "1600000baseCR8/Full": 16e11,
		"Autoneg": 0, "": 0, "base": 0, "FEC_BASER": 0, "-5baseT/Full": 0, "99999999999baseT": 0,
	} {
		if got := modeSpeed(name); got != speed {
			t.Errorf("%q is %v, want %v", name, got, speed)
		}
	}
}

func TestLinkStateReasons(t *testing.T) {
	for _, c := range []struct {
		name  string
		attrs map[uint16]byte
		want  facts.Opt[string]
	}{
		{"up", nil, facts.Opt[string]{}},
		{"substate alone", map[uint16]byte{unix.ETHTOOL_A_LINKSTATE_EXT_SUBSTATE: 5}, facts.Opt[string]{}},
		{"no cable", map[uint16]byte{unix.ETHTOOL_A_LINKSTATE_EXT_STATE: 4}, facts.Some("No cable")},
		{"autoneg alone", map[uint16]byte{unix.ETHTOOL_A_LINKSTATE_EXT_STATE: 0}, facts.Some("Autoneg")},
		{"FEC", map[uint16]byte{unix.ETHTOOL_A_LINKSTATE_EXT_STATE: 0, unix.ETHTOOL_A_LINKSTATE_EXT_SUBSTATE: 5},
			facts.Some("Autoneg, FEC mismatch during override")},
		{"unknown substate", map[uint16]byte{unix.ETHTOOL_A_LINKSTATE_EXT_STATE: 0, unix.ETHTOOL_A_LINKSTATE_EXT_SUBSTATE: 200},
			facts.Some("Autoneg")},
		{"substate of another state", map[uint16]byte{unix.ETHTOOL_A_LINKSTATE_EXT_STATE: 2, unix.ETHTOOL_A_LINKSTATE_EXT_SUBSTATE: 5},
			facts.Some("Logical mismatch")},
		{"unknown state", map[uint16]byte{unix.ETHTOOL_A_LINKSTATE_EXT_STATE: 77}, facts.Some("state 77")},
	} {
		b := body(t, []byte{ethLinkStateGet, 1, 0, 0}, func(ae *netlink.AttributeEncoder) {
			for kind, v := range c.attrs {
				ae.Uint8(kind, v)
			}
		})
		var got facts.Opt[string]
		if err := parseLinkState(b, &got); err != nil || got != c.want {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
}
