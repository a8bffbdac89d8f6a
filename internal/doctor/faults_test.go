package doctor

import (
	"math"
	"slices"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/goodhost"
)

const (
	roceHost = "mlx5-roce-8x400g"
	ibHost   = "mlx5-ib-8xndr"
)

func grows(by uint64) facts.Counter {
	return facts.Counter{First: facts.Some[uint64](0), Last: facts.Some(by)}
}

// unambiguous are the faults that are faults on any host, so that they are told
// without a baseline, as a warning at least.
var unambiguous = []struct {
	name, host, code string
	do               func(s *facts.Snapshot)
}{
	{"no signal", ibHost, "port-polling", func(s *facts.Snapshot) {
		p := &s.Devices[2].Ports[0]
		p.State, p.StateLast, p.PhysState = facts.Some(facts.StateDown), facts.Some(facts.StateDown), facts.Some("Polling")
	}},
	{"no subnet manager", ibHost, "port-no-subnet-manager", func(s *facts.Snapshot) {
		for i := range s.Devices {
			p := &s.Devices[i].Ports[0]
			p.State, p.StateLast, p.SMLID = facts.Some(facts.StateInit), facts.Some(facts.StateInit), facts.Some[uint32](0)
		}
	}},
	{"one lane", ibHost, "link-width-degraded", func(s *facts.Snapshot) { s.Devices[0].Ports[0].Width = facts.Some(1) }},
	{"receive errors", ibHost, "link-symbol-errors", func(s *facts.Snapshot) { s.Devices[1].Ports[0].Counters["port_rcv_errors"] = grows(99) }},
	{"limited everywhere", ibHost, "pkey-limited", func(s *facts.Snapshot) {
		for i := range s.Devices {
			s.Devices[i].Ports[0].PKeys = []facts.PKey{{Index: 0, Value: 0x7fff}}
		}
	}},
	{"lost between the samples", ibHost, "link-flapping", func(s *facts.Snapshot) { s.Devices[0].Ports[0].StateLast = facts.Some(facts.StateDown) }},
	{"no carrier", roceHost, "port-no-carrier", func(s *facts.Snapshot) {
		s.Netdevs[0].Carrier, s.Netdevs[0].OperState = facts.Some(false), facts.Some("down")
	}},
	{"netdev down", roceHost, "port-admin-down", func(s *facts.Snapshot) { s.Netdevs[0].AdminUp = facts.Some(false) }},
	{"PCIe lanes", roceHost, "pcie-width-degraded", func(s *facts.Snapshot) { s.PCI[1].CurrentWidth = facts.Some(1) }},
	{"PCIe generation", roceHost, "pcie-speed-degraded", func(s *facts.Snapshot) { s.PCI[1].CurrentSpeed = facts.Some(2.5) }},
	{"node refused", roceHost, "device-node-denied", func(s *facts.Snapshot) { charDev(s).OpenError = facts.Some("EACCES") }},
	{"node gone", roceHost, "device-node-missing", func(s *facts.Snapshot) { charDev(s).Exists = facts.Some(false) }},
	{"no GUID", roceHost, "node-guid-zero", func(s *facts.Snapshot) { s.Devices[0].NodeGUID = facts.Some("0000:0000:0000:0000") }},
	{"no memory", roceHost, "host-memory-low", func(s *facts.Snapshot) { s.Memory.Available = facts.Some[uint64](0) }},
	{"no provider", roceHost, "provider-missing", func(s *facts.Snapshot) { s.Userland.Providers, s.Userland.DriverFiles = nil, nil }},
	{"no connection manager", roceHost, "rdma-ucm-missing", func(s *facts.Snapshot) {
		s.Modules = slices.DeleteFunc(s.Modules, func(m facts.Module) bool { return m.Name == "rdma_ucm" })
		s.CharDevs = slices.DeleteFunc(s.CharDevs, func(c facts.CharDev) bool { return c.Kind == "rdma_cm" })
	}},
	{"PFC beside RoCE's priority", roceHost, "dscp-map-mismatch", func(s *facts.Snapshot) { goodhost.SetPFC(s, 1<<5) }},
	{"no receive buffers", roceHost, "receive-not-ready", func(s *facts.Snapshot) { s.Devices[0].Ports[0].HWCounters["out_of_buffer"] = grows(9000) }},
	{"loss", roceHost, "loss-retransmit", func(s *facts.Snapshot) { s.Devices[0].Ports[0].HWCounters["packet_seq_err"] = grows(9000) }},
	{"storm", roceHost, "pfc-storm", func(s *facts.Snapshot) { s.Netdevs[0].Ethtool["tx_pause_storm_error_events"] = grows(3) }},
	{"access", roceHost, "access-errors", func(s *facts.Snapshot) {
		s.Devices[0].Ports[0].HWCounters["resp_remote_access_errors"] = grows(9000)
	}},
	{"nothing may be locked", "erdma-vm", "memlock-zero", func(s *facts.Snapshot) {
		s.Self.UID, s.Self.CapEff = facts.Some(1000), facts.Some[uint64](0)
		s.Self.Limits["memlock"] = facts.Limit{}
	}},
	{"firmware assert", roceHost, "firmware-health", func(s *facts.Snapshot) {
		s.Log = append(s.Log, facts.LogRecord{SinceBoot: s.Host.Uptime.Or(0), Level: 3, Device: "+pci:" + s.Devices[0].PCI.Or(""),
			Text: "mlx5_core " + s.Devices[0].PCI.Or("") + ": poll_health:844:(pid 0): device's health compromised - reached miss count"})
	}},
}

func charDev(s *facts.Snapshot) *facts.CharDev {
	return &s.CharDevs[slices.IndexFunc(s.CharDevs, func(c facts.CharDev) bool { return c.Kind == "uverbs" })]
}

// legitimate are settings that are right on other hosts, so that without a
// baseline they are information at most.
var legitimate = []struct {
	name, host string
	do         func(s *facts.Snapshot)
}{
	{"PFC off", roceHost, func(s *facts.Snapshot) { goodhost.SetPFC(s, 0) }},
	{"ECN off", roceHost, func(s *facts.Snapshot) {
		for name := range s.Netdevs[0].ECN {
			s.Netdevs[0].ECN[name] = 0
		}
	}},
	{"MTU 1500", roceHost, func(s *facts.Snapshot) { s.Netdevs[0].MTU = facts.Some(1500) }},
	{"IOMMU translation", roceHost, func(s *facts.Snapshot) {
		for i := range s.PCI {
			s.PCI[i].IOMMUType = facts.Some("DMA")
		}
	}},
	{"global pause", roceHost, func(s *facts.Snapshot) { s.Netdevs[0].Pause = facts.Some(facts.Pause{RX: true, TX: true}) }},
	{"firmware owns DCBX", roceHost, func(s *facts.Snapshot) {
		dcb, _ := s.Netdevs[0].DCB.Get()
		dcb.DCBX = facts.Some(10)
		s.Netdevs[0].DCB = facts.Some(dcb)
	}},
	{"traffic without a limit", roceHost, func(s *facts.Snapshot) {
		s.Devices[0].Ports[0].HWCounters["rx_write_requests"] = grows(math.MaxUint32)
	}},
	{"waiting for credits", ibHost, func(s *facts.Snapshot) { s.Devices[0].Ports[0].Counters["port_xmit_wait"] = grows(1 << 30) }},
	{"no swap", roceHost, func(s *facts.Snapshot) {
		s.Memory.SwapTotal, s.Memory.SwapFree = facts.Some[uint64](0), facts.Some[uint64](0)
	}},
	{"slower by choice", "slurm-node", func(s *facts.Snapshot) {
		s.Devices[0].Ports[0].Rate, s.Devices[0].Ports[0].Speed = facts.Some(facts.BitsPerSecond(100e9)), facts.Some("EDR")
	}},
}

func severities(s *facts.Snapshot) map[string]checks.Severity {
	worst := map[string]checks.Severity{}
	checks.Run(s, checks.All(), checks.Options{}, func(r checks.Result) {
		for _, f := range r.Findings {
			if rank(f.Severity) > rank(worst[f.Code]) {
				worst[f.Code] = f.Severity
			}
		}
	})
	return worst
}

func TestUnambiguousFaults(t *testing.T) {
	for _, tc := range unambiguous {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, tc.host)
			tc.do(s)
			if got := severities(s); rank(got[tc.code]) < rank(checks.Warn) {
				t.Errorf("%s is %q, want a warning or failure; found %v", tc.code, got[tc.code], got)
			}
		})
	}
}

func TestLegitimateSettings(t *testing.T) {
	for _, tc := range legitimate {
		t.Run(tc.name, func(t *testing.T) {
			s := snapshotOf(t, tc.host)
			tc.do(s)
			for code, severity := range severities(s) {
				if severity != checks.Info {
					t.Errorf("%s is %s, want information at most", code, severity)
				}
			}
		})
	}
}
