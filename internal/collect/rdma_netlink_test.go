package collect

import (
	"testing"

	"github.com/mdlayher/netlink"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func nlDevice(t testing.TB, index uint32, name, protocol string, nodeType uint8) []byte {
	return body(t, nil, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(attrDevIndex, index)
		ae.String(attrDevName, name)
		ae.Uint32(attrPortIndex, 1)
		ae.Uint64(attrCapFlags, 1)
		ae.String(attrFWVersion, "")
		ae.Uint64(attrNodeGUID, 0x505400fffe123456)
		ae.Uint64(attrSysImageGUID, 0x9c9cb3fffe689770)
		ae.Uint8(attrDevNodeType, nodeType)
		if protocol != "" {
			ae.String(attrDevProtocol, protocol)
		}
	})
}

func nlPort(t testing.TB, number uint32, state, phys uint8, netdev string) []byte {
	return body(t, nil, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(attrDevIndex, 1)
		ae.Uint32(attrPortIndex, number)
		ae.Uint64(attrCapFlags, 0x12_00010000)
		ae.Uint32(attrLID, 7)
		ae.Uint32(attrSMLID, 1)
		ae.Uint8(attrLMC, 2)
		ae.Uint8(attrPortState, state)
		ae.Uint8(attrPortPhysState, phys)
		if netdev != "" {
			ae.Uint32(50, 9)
			ae.String(attrNdevName, netdev)
		}
	})
}

func nlResource(t testing.TB, device string) []byte {
	return body(t, nil, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(attrDevIndex, 1)
		ae.String(attrDevName, device)
		nest(ae, attrResSummary, func(table *netlink.AttributeEncoder) {
			entry := func(name string, curr, most uint64) {
				nest(table, attrResSummaryEntry, func(in *netlink.AttributeEncoder) {
					in.String(attrResSummaryEntryName, name)
					in.Uint64(attrResSummaryEntryCurr, curr)
					in.Uint64(attrResSummaryEntryMax, most)
				})
			}
			entry("qp", 12, 131072)
			entry("ctx", 3, 0)
		})
	})
}

func nlStats(t testing.TB, value uint64) []byte {
	return body(t, nil, func(ae *netlink.AttributeEncoder) {
		nest(ae, attrStatHWCounters, func(table *netlink.AttributeEncoder) {
			nest(table, attrStatHWCounterEntry, func(in *netlink.AttributeEncoder) {
				in.String(attrStatHWCounterName, "rcvd_seq_err")
				in.Uint64(attrStatHWCounterValue, value)
			})
		})
	})
}

func nlChardev(t testing.TB, node string, driver uint32) []byte {
	return body(t, nil, func(ae *netlink.AttributeEncoder) {
		ae.Uint32(attrUverbsDriverID, driver)
		ae.Uint64(72, 231<<8|192)
		ae.Uint64(71, 1)
		ae.String(attrChardevName, node)
	})
}

// rdmaReplies is a container without /sys/class/infiniband: netlink finds all.
func rdmaReplies(t testing.TB) map[string]string {
	return map[string]string{
		"/sys/module/ib_uverbs/":            "",
		"netlink:rdma/device-dump":          reply(t, nlDevice(t, 1, "rxe0", "roce", 1), nlDevice(t, 2, "siw0", "iw", 4)),
		"netlink:rdma/sys-get":              reply(t, body(t, nil, func(ae *netlink.AttributeEncoder) { ae.Uint8(attrSysNetnsMode, 1); ae.Uint8(attrSysPrivilegedQKey, 0) })),
		"netlink:rdma/resource-dump":        reply(t, nlResource(t, "rxe0"), nlResource(t, "gone0")),
		"netlink:rdma/port-dump.rxe0":       reply(t, nlPort(t, 1, 4, 5, "eth2")),
		"netlink:rdma/port-dump.siw0":       reply(t, nlPort(t, 1, 1, 3, "")),
		"netlink:rdma/uverbs-get.rxe0":      reply(t, nlChardev(t, "uverbs0", 14)),
		"netlink:rdma/uverbs-get.siw0":      reply(t, nlChardev(t, "uverbs1", 18)),
		"netlink:rdma/stat-get.rxe0/1":      reply(t, nlStats(t, 5)),
		"netlink:rdma/stat-get.siw0/1":      "errno: EINVAL",
		"then netlink:rdma/stat-get.rxe0/1": reply(t, nlStats(t, 8)),
		"then netlink:rdma/port-dump.rxe0":  reply(t, nlPort(t, 1, 1, 3, "eth2")),
	}
}

func TestRDMANetlinkAlone(t *testing.T) {
	s := collected(t, answers(rdmaReplies(t)), facts.RDMANetlink)
	want(t, "sources", s.Sources, []facts.Source{facts.RDMANetlink})
	want(t, "subsystem", s.RDMA, facts.RDMA{
		SubsystemPresent: facts.Some(true), NetnsMode: facts.Some("shared"), PrivilegedQKey: facts.Some(false),
	})
	want(t, "devices", s.Devices, []facts.Device{
		{
			Name: "rxe0", Index: facts.Some(1), NodeType: facts.Some("CA"), Protocol: facts.Some("roce"),
			Driver: facts.Some("rdma_rxe"), Provider: facts.Some("rxe"), ParentType: facts.Some("rxe"), Uverbs: facts.Some("uverbs0"),
			NodeGUID: facts.Some("5054:00ff:fe12:3456"), SysImageGUID: facts.Some("9c9c:b3ff:fe68:9770"),
			Resources: map[string]facts.Usage{"qp": {Current: 12, Max: facts.Some[uint64](131072)}, "ctx": {Current: 3}},
			Ports: []facts.Port{{
				Number: 1, State: facts.Some(facts.StateActive), StateLast: facts.Some(facts.StateDown), PhysState: facts.Some("LinkUp"),
				LID: facts.Some[uint32](7), SMLID: facts.Some[uint32](1), LMC: facts.Some(2), CapMask: facts.Some[uint32](0x10000),
				Netdev:     facts.Some("eth2"),
				HWCounters: map[string]facts.Counter{"rcvd_seq_err": {First: facts.Some[uint64](5), Last: facts.Some[uint64](8)}},
			}},
		},
		{
			Name: "siw0", Index: facts.Some(2), NodeType: facts.Some("RNIC"), Protocol: facts.Some("iw"),
			Driver: facts.Some("siw"), Provider: facts.Some("siw"), ParentType: facts.Some("siw"), Uverbs: facts.Some("uverbs1"),
			NodeGUID: facts.Some("5054:00ff:fe12:3456"), SysImageGUID: facts.Some("9c9c:b3ff:fe68:9770"),
			Ports: []facts.Port{{
				Number: 1, State: facts.Some(facts.StateDown), StateLast: facts.Some(facts.StateDown), PhysState: facts.Some("Disabled"),
				LID: facts.Some[uint32](7), SMLID: facts.Some[uint32](1), LMC: facts.Some(2), CapMask: facts.Some[uint32](0x10000),
			}},
		},
	})
	noGaps(t, s)
	for _, d := range s.Devices {
		if !d.Software() {
			t.Errorf("%s is not known as software", d.Name)
		}
	}
}

// What sysfs said stays, except for the netdev of the port, which it only
// guesses from GIDs.
func TestRDMANetlinkBesideSysfs(t *testing.T) {
	before := collected(t, constructed(t, "sysfs-rdma-mlx5-roce"), facts.SysfsRDMA)
	name := before.Devices[0].Name
	h := constructed(t, "sysfs-rdma-mlx5-roce")
	h.Put("netlink:rdma/device-dump", reply(t, nlDevice(t, 9, name, "roce", 4)))
	h.Put("netlink:rdma/port-dump."+name, reply(t, nlPort(t, 1, 1, 3, "eth99")))
	after := collected(t, h, facts.SysfsRDMA, facts.RDMANetlink)
	was, is := before.Devices[0], after.Devices[0]
	want(t, "index", is.Index, facts.Some(9))
	want(t, "protocol", is.Protocol, facts.Some("roce"))
	want(t, "node type", is.NodeType, was.NodeType)
	want(t, "GUID", is.NodeGUID, was.NodeGUID)
	want(t, "state", is.Ports[0].State, was.Ports[0].State)
	want(t, "netdev", is.Ports[0].Netdev, facts.Some("eth99"))
	want(t, "counters", is.Ports[0].HWCounters, was.Ports[0].HWCounters)
}

// ib_uverbs is not loaded: asking for its node would load it.
func TestRDMANetlinkAsksNoUnloadedClient(t *testing.T) {
	replies := rdmaReplies(t)
	delete(replies, "/sys/module/ib_uverbs/")
	s := collected(t, answers(replies), facts.RDMANetlink)
	for _, d := range s.Devices {
		if d.Uverbs.Known() || d.Provider.Known() {
			t.Errorf("%s was asked for its node: %v, %v", d.Name, d.Uverbs, d.Provider)
		}
	}
	noGaps(t, s)
}

func TestRDMANetlinkRefused(t *testing.T) {
	for errno, kind := range map[string]facts.GapKind{"EPROTONOSUPPORT": facts.Unsupported, "EPERM": facts.Denied, "ENODEV": facts.Absent} {
		s := collected(t, answers(map[string]string{"netlink:rdma/device-dump": "errno: " + errno}), facts.RDMANetlink)
		want(t, errno, s.Gaps, []facts.Gap{{Source: facts.RDMANetlink, What: "rdma/device-dump", Kind: kind, Detail: errno}})
		if s.Has(facts.RDMANetlink) || s.RDMA.SubsystemPresent.Known() {
			t.Errorf("%s: taken for an answer", errno)
		}
	}
	replies := rdmaReplies(t)
	replies["netlink:rdma/port-dump.rxe0"] = "timed out"
	s := collected(t, answers(replies), facts.RDMANetlink)
	if g := gap(t, s, "rdma/port-dump.rxe0"); g.Kind != facts.Timeout {
		t.Errorf("gap %+v", g)
	}
	if len(s.Devices) != 2 || len(s.Device("siw0").Ports) != 1 {
		t.Error("a device without an answer costs another one")
	}
}

func TestRDMANetlinkMalformed(t *testing.T) {
	for name, bad := range map[string][]byte{
		"no index":      body(t, nil, func(ae *netlink.AttributeEncoder) { ae.String(attrDevName, "rxe1") }),
		"no name":       body(t, nil, func(ae *netlink.AttributeEncoder) { ae.Uint32(attrDevIndex, 1) }),
		"short GUID":    body(t, nil, func(ae *netlink.AttributeEncoder) { ae.Uint32(attrNodeGUID, 1) }),
		"cut attribute": {40, 0, 1, 0, 1, 0, 0, 0},
	} {
		replies := rdmaReplies(t)
		replies["netlink:rdma/device-dump"] = reply(t, bad, nlDevice(t, 1, "rxe0", "roce", 1))
		s := collected(t, answers(replies), facts.RDMANetlink)
		if g := gap(t, s, "rdma/device-dump"); g.Kind != facts.Malformed || len(s.Devices) != 1 {
			t.Errorf("%s: gap %+v, devices %d", name, g, len(s.Devices))
		}
	}
	if _, err := parseNLPort(nlPort(t, 256, 4, 5, "")); err == nil {
		t.Error("port 256 is accepted")
	}
	p, err := parseNLPort(nlPort(t, 1, 77, 88, ""))
	if err != nil || p.State.Known() || p.PhysState.Known() {
		t.Errorf("unknown states: %+v, %v", p, err)
	}
}

// Each provider that a driver number names has to be the one that its kernel
// driver is known by elsewhere.
func TestDriverIDs(t *testing.T) {
	for id, d := range driverIDs {
		if p, ok := provider(d.driver); ok && p != d.provider {
			t.Errorf("driver %d: %s has provider %s here and %s in providers", id, d.driver, d.provider, p)
		}
	}
}
