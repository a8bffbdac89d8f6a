package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestSysfsRDMARoCE(t *testing.T) {
	h := constructed(t, "sysfs-rdma-mlx5-roce")
	s := collected(t, h, facts.SysfsRDMA)
	if len(s.Devices) != 1 || len(s.Devices[0].Ports) != 1 {
		t.Fatalf("devices: %+v", s.Devices)
	}
	d := s.Devices[0]
	p := d.Ports[0]
	d.Ports = nil
	want(t, "device", d, facts.Device{
		Name: "mlx5_0", NodeType: facts.Some("CA"), Driver: facts.Some("mlx5_core"),
		Provider: facts.Some("mlx5"), FirmwareVersion: facts.Some("22.39.2048"),
		BoardID: facts.Some("MT_0000000359"), HCAType: facts.Some("MT4125"), HWRev: facts.Some("0"),
		NodeGUID: facts.Some("0200:5eff:fe00:5301"), SysImageGUID: facts.Some("0200:5eff:fe00:5301"),
		NodeDesc: facts.Some("host1 mlx5_0"), PCI: facts.Some("0000:3b:00.0"), NUMANode: facts.Some(0),
		Uverbs: facts.Some("uverbs0"), NetnsNetdevs: []string{"eth2"},
	})
	moved := func(first, last uint64) facts.Counter {
		return facts.Counter{First: facts.Some(first), Last: facts.Some(last)}
	}
	want(t, "counters", p.Counters, map[string]facts.Counter{
		"port_xmit_data": moved(4000, 6000), "port_rcv_data": moved(8000, 8000),
		"port_xmit_packets": moved(30, 30), "port_rcv_packets": moved(40, 40),
		"symbol_error": moved(0, 0), "link_downed": moved(1, 2),
		"VL15_dropped": moved(0, 0), "port_xmit_wait": moved(7, 7),
	})
	want(t, "hw_counters", p.HWCounters, map[string]facts.Counter{
		"out_of_sequence": moved(5, 9), "packet_seq_err": moved(0, 0),
		"np_cnp_sent": moved(1<<64-1, 1<<64-1),
	})
	if len(p.GIDs) != 7 {
		t.Fatalf("%d GIDs, want 7: %v", len(p.GIDs), p.GIDs)
	}
	want(t, "GID 3", p.GIDs[3], facts.GID{Index: 3, Value: "0000:0000:0000:0000:0000:ffff:c633:6401",
		Type: facts.Some("RoCE v2"), Netdev: facts.Some("eth2")})
	want(t, "GID 5's netdev", p.GIDs[5].Netdev, facts.Some("eth2.100"))
	want(t, "GID 6's type", p.GIDs[6].Type, facts.Opt[string]{})
	want(t, "choices", p.Choice.Or(facts.GIDChoice{}), facts.GIDChoice{Perftest: facts.Some(3), NCCL: facts.Some(3),
		UCX: facts.Some(3), RDMACM: facts.Some(3)})
	p.GIDs, p.Counters, p.HWCounters, p.Choice = nil, nil, nil, facts.Opt[facts.GIDChoice]{}
	want(t, "port", p, facts.Port{
		Number: 1, State: facts.Some(facts.StateActive), StateLast: facts.Some(facts.StateDown),
		PhysState: facts.Some("LinkUp"), LinkLayer: facts.Some("Ethernet"),
		Rate: facts.Some(facts.BitsPerSecond(100e9)), Width: facts.Some(4), Speed: facts.Some("EDR"),
		LID: facts.Some[uint32](0), SMLID: facts.Some[uint32](0), LMC: facts.Some(0), SMSL: facts.Some(0),
		CapMask: facts.Some[uint32](0x04010000), PKeys: []facts.PKey{{Index: 0, Value: 0xffff}},
		GIDTableLen: facts.Some(17), GIDSlotsRead: facts.Some(17), Netdev: facts.Some("eth2"), TrafficClass: facts.Some(106),
	})
	dir := "/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/"
	want(t, "gap", gap(t, s, dir+"types"), facts.Gap{Source: facts.SysfsRDMA, What: dir + "types", Kind: facts.Unsupported, Detail: "EINVAL"})
	gap(t, s, dir+"ndevs")
	if len(s.Gaps) != 2 {
		t.Errorf("%d gaps, want 2: %v", len(s.Gaps), s.Gaps)
	}
	// One exchange a level: class, devices, ports, P_Key listings and slots,
	// counter listings, counters; GID listings, slots and attributes; then states,
	// listings, counters.
	if h.Asked != 13 {
		t.Errorf("%d exchanges, want 13", h.Asked)
	}
}

func TestSysfsRDMAInfiniBand(t *testing.T) {
	s := collected(t, constructed(t, "sysfs-rdma-mlx5-ib"), facts.SysfsRDMA)
	if len(s.Devices) != 2 {
		t.Fatalf("devices: %+v", s.Devices)
	}
	d, sf := &s.Devices[0], &s.Devices[1]
	want(t, "names", []string{d.Name, sf.Name}, []string{"mlx5_10", "mlx5_2"})
	want(t, "subfunction's PCI address", sf.PCI, facts.Some("0000:5e:00.0"))
	want(t, "subfunction's driver", sf.Driver, facts.Some("mlx5_core.sf"))
	want(t, "subfunction's provider", sf.Provider, facts.Some("mlx5"))
	want(t, "zero GUID is read", sf.NodeGUID, facts.Some("0000:0000:0000:0000"))
	p := &d.Ports[0]
	want(t, "state", p.State, facts.Some(facts.StateInit))
	want(t, "pkeys", p.PKeys, []facts.PKey{{Index: 0, Value: 0x7fff}, {Index: 1, Value: 0xffff}})
	want(t, "GIDs", p.GIDs, []facts.GID{{Index: 0, Value: "fe80:0000:0000:0000:0200:5eff:fe00:5310", Type: facts.Some("IB/RoCE v1")}})
	want(t, "netdev", p.Netdev, facts.Opt[string]{})
	want(t, "counters", p.Counters, map[string]facts.Counter{"symbol_error": {First: facts.Some[uint64](4711)}})
	want(t, "one gap for the directory", gap(t, s, "/sys/class/infiniband/mlx5_10/ports/1/counters").Kind, facts.Unsupported)
	if len(s.Gaps) != 1 {
		t.Errorf("%d gaps, want 1: %v", len(s.Gaps), s.Gaps)
	}
}

func TestSysfsRDMASoftware(t *testing.T) {
	s := collected(t, constructed(t, "sysfs-rdma-rxe-siw"), facts.SysfsRDMA)
	rxe, siw := s.Device("rxe0"), s.Device("siw_eth0")
	for _, d := range []*facts.Device{rxe, siw} {
		if !d.Software() || d.PCI.Known() || d.NUMANode.Known() || d.NetnsNetdevs != nil {
			t.Errorf("%s is not taken for software: %+v", d.Name, d)
		}
	}
	want(t, "rxe driver", rxe.Driver, facts.Some("rdma_rxe"))
	want(t, "siw driver", siw.Driver, facts.Some("siw"))
	want(t, "rxe counters without PMA", rxe.Ports[0].Counters, map[string]facts.Counter(nil))
	want(t, "gap", gap(t, s, "/sys/class/infiniband/rxe0/ports/1/counters").Detail, "N/A (no PMA)")
	want(t, "device-level counters", siw.Ports[0].HWCounters, map[string]facts.Counter{"tx_bytes": {First: facts.Some[uint64](77)}})
	want(t, "rate", rxe.Ports[0].Rate, facts.Some(facts.BitsPerSecond(25e8)))
	if len(s.Gaps) != 1 {
		t.Errorf("%d gaps, want 1: %v", len(s.Gaps), s.Gaps)
	}
}

func TestSysfsRDMAAbsent(t *testing.T) {
	tests := []struct {
		name, tree string
		origin     facts.Origin
		present    facts.Opt[bool]
		gap        facts.GapKind
	}{
		{"no RDMA in this kernel", "-- /sys/class/net/ --\n", facts.Live, facts.Some(false), ""},
		{"no sysfs", "", facts.Live, facts.Opt[bool]{}, facts.Absent},
		{"denied", "-- /sys/class/infiniband/ --\nerrno: EACCES\n", facts.Live, facts.Opt[bool]{}, facts.Denied},
		{"a tree without it proves nothing", "-- /sys/class/net/ --\n", facts.Tree, facts.Opt[bool]{}, facts.Absent},
		{"no device", "-- /sys/class/infiniband/ --\n", facts.Live, facts.Some(true), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Run(t.Context(), fixture.Host(fixture.Parse(tt.tree)), Options{Origin: tt.origin, Only: []facts.Source{facts.SysfsRDMA}})
			want(t, "present", s.RDMA.SubsystemPresent, tt.present)
			want(t, "read", s.Has(facts.SysfsRDMA), tt.present.Known())
			if tt.gap != "" {
				want(t, "gap", gap(t, s, "/sys/class/infiniband").Kind, tt.gap)
			} else {
				noGaps(t, s)
			}
		})
	}
}

// Whatever single file of a host is denied or nonsense, the rest is still
// read, and the file (or its directory) shows as a gap.
func TestSysfsRDMAOneBadFile(t *testing.T) {
	const port = "/sys/class/infiniband/mlx5_0/ports/1/"
	for _, file := range []string{"state", "phys_state", "link_layer", "rate", "lid", "sm_lid", "lid_mask_count",
		"sm_sl", "cap_mask", "pkeys/0", "gids/3", "counters/symbol_error", "hw_counters/out_of_sequence", "../../node_guid", "../../node_type"} {
		for _, bad := range []string{"errno: EACCES", "timed out", "{nonsense}"} {
			h := constructed(t, "sysfs-rdma-mlx5-roce")
			h.Put("/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/infiniband/mlx5_0/ports/1/"+file, bad)
			s := collected(t, h, facts.SysfsRDMA)
			if len(s.Devices) != 1 || len(s.Devices[0].Ports) != 1 || len(s.Devices[0].Ports[0].GIDs) < 6 {
				t.Errorf("%s %q: the rest is lost: %+v", file, bad, s.Devices)
			}
			unseen := bad == "{nonsense}" && file == "link_layer"
			if n := len(s.Gaps); n < 3 && !unseen {
				t.Errorf("%s%s %q leaves no gap: %v", port, file, bad, s.Gaps)
			}
		}
	}
}
