package baseline

import (
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/goodhost"
)

// Every fact that hosts of a site must agree on is compared with the baseline,
// too, as a warning where somebody must have set it.
func TestAgreedFacts(t *testing.T) {
	port := func(s *facts.Snapshot) *facts.Port { return &s.Devices[0].Ports[0] }
	config := func(change func(*facts.PCIConfig)) func(*facts.Snapshot) {
		return func(s *facts.Snapshot) { goodhost.SetConfig(s, change) }
	}
	whole := func(s *facts.Snapshot) {
		goodhost.SetConfig(s, func(c *facts.PCIConfig) {
			*c = facts.PCIConfig{Bytes: 4096, MaxPayload: facts.Some(512), MaxReadRequest: facts.Some(4096), RelaxedOrdering: facts.Some(true),
				ASPM: facts.Some("off"), ACS: facts.Some[uint16](0)}
		})
		s.PCI[0].IOMMUType, s.PCI[0].NUMANode = facts.Some("identity"), facts.Some(0)
		s.Netdevs[0].VLANID, s.Netdevs[0].LinkModes = facts.Some(100), facts.Some(facts.LinkModes{Autoneg: facts.Some(true)})
		port(s).TrafficClass, port(s).CMRoCETOS = facts.Some(106), facts.Some(106)
	}
	for _, tc := range []struct {
		name     string
		change   func(*facts.Snapshot)
		severity checks.Severity
		message  string // part of it
	}{
		{"MTU", func(s *facts.Snapshot) { s.Netdevs[0].MTU = facts.Some(1500) }, checks.Warn, "MTU of eth2"},
		{"PFC", func(s *facts.Snapshot) { goodhost.SetPFC(s, 16) }, checks.Warn, "PFC of eth2"},
		{"ETS", func(s *facts.Snapshot) {
			goodhost.SetDCB(s, func(d *facts.DCB) {
				e := d.ETS.Or(facts.ETS{})
				e.Bandwidth[0] = 90
				d.ETS = facts.Some(e)
			})
		}, checks.Warn, "ETS of eth2"},
		{"trust", func(s *facts.Snapshot) { goodhost.SetDCB(s, func(d *facts.DCB) { d.Trust = []string{"pcp"} }) }, checks.Warn, "trust of eth2"},
		{"DSCP", func(s *facts.Snapshot) {
			goodhost.SetDCB(s, func(d *facts.DCB) { d.Apps = []facts.App{{Selector: 5, Protocol: 26, Priority: 5}} })
		}, checks.Warn, "priority of DSCP 26 of eth2"},
		{"buffer", func(s *facts.Snapshot) {
			goodhost.SetDCB(s, func(d *facts.DCB) { d.Buffer = facts.Some(facts.Buffer{Total: 9}) })
		}, "", ""}, // It was not read then.
		{"rate limit", func(s *facts.Snapshot) {
			goodhost.SetDCB(s, func(d *facts.DCB) { d.MaxRate = facts.Some([8]facts.BitsPerSecond{3: 10e9}) })
		}, checks.Warn, "rate limits of traffic classes of eth2"},
		{"ECN", func(s *facts.Snapshot) { s.Netdevs[0].ECN["roce_np/enable/3"] = 0 }, checks.Warn, "ECN roce_np/enable/3 of eth2"},
		{"traffic class", func(s *facts.Snapshot) { port(s).TrafficClass = facts.Some(0) }, checks.Warn, "traffic class of mlx5_0/1"},
		{"ToS", func(s *facts.Snapshot) { port(s).CMRoCETOS = facts.Some(0) }, checks.Warn, "default RoCE ToS of rdma_cm of mlx5_0/1"},
		{"global pause", func(s *facts.Snapshot) { s.Netdevs[0].Pause = facts.Some(facts.Pause{RX: true}) }, checks.Warn, "global pause of eth2"},
		{"GID type", func(s *facts.Snapshot) { port(s).GIDs[1].Type = facts.Some(facts.GIDTypeRoCEv1) }, checks.Info, "gids type"},
		{"GID index", func(s *facts.Snapshot) { port(s).GIDs[1].Index = 9 }, checks.Info, "gids"},
		{"VLAN", func(s *facts.Snapshot) { s.Netdevs[0].VLANID = facts.Some(200) }, checks.Warn, "VLAN of eth2"},
		{"pkey", func(s *facts.Snapshot) { port(s).PKeys[0].Value = 0x7fff }, checks.Warn, "partition key 0 of mlx5_0/1"},
		{"speed", func(s *facts.Snapshot) { s.Netdevs[0].Speed = facts.Some(facts.BitsPerSecond(100e9)) }, checks.Warn, "speed of eth2"},
		{"autonegotiation", func(s *facts.Snapshot) {
			s.Netdevs[0].LinkModes = facts.Some(facts.LinkModes{Autoneg: facts.Some(false)})
		}, checks.Warn, "autonegotiation of eth2"},
		{"FEC", func(s *facts.Snapshot) { s.Netdevs[0].FEC = facts.Some("BaseR") }, checks.Warn, "FEC of eth2"},
		{"firmware", func(s *facts.Snapshot) { s.Devices[0].FirmwareVersion = facts.Some("1.2.3") }, checks.Warn, "firmware of mlx5_0"},
		{"driver", func(s *facts.Snapshot) { s.Modules[1].Version = facts.Some("23.10") }, checks.Warn, "version of mlx5_core"},
		{"module parameter", func(s *facts.Snapshot) { s.Modules[1].Parameters["prof_sel"] = "3" }, checks.Warn, "parameter prof_sel of mlx5_core is 3, and was 2"},
		{"module parameter gone", func(s *facts.Snapshot) { delete(s.Modules[1].Parameters, "prof_sel") }, checks.Warn, "parameter prof_sel of mlx5_core is none"},
		{"sysctl", func(s *facts.Snapshot) { s.Netdevs[0].Sysctl["arp_ignore"] = 0 }, checks.Warn, "sysctl arp_ignore of eth2"},
		{"max_map_count", func(s *facts.Snapshot) { s.Memory.MaxMapCount = facts.Some(1) }, checks.Warn, "vm.max_map_count"},
		{"numa_balancing", func(s *facts.Snapshot) { s.CPU.Balancing = facts.Some(1) }, checks.Info, "numa balancing"},
		{"governor", func(s *facts.Snapshot) { s.CPU.Governors = map[string]int{"powersave": 64} }, checks.Info, "scaling governors"},
		{"SMT", func(s *facts.Snapshot) { s.CPU.SMT = facts.Some(false) }, checks.Info, "smt active"},
		{"MPS", config(func(c *facts.PCIConfig) { c.MaxPayload = facts.Some(256) }), checks.Warn, "PCI configuration"},
		{"MRRS", config(func(c *facts.PCIConfig) { c.MaxReadRequest = facts.Some(512) }), checks.Warn, "PCI configuration"},
		{"relaxed ordering", config(func(c *facts.PCIConfig) { c.RelaxedOrdering = facts.Some(false) }), checks.Warn, "PCI configuration"},
		{"ASPM", config(func(c *facts.PCIConfig) { c.ASPM = facts.Some("L1") }), checks.Warn, "PCI configuration"},
		{"ACS", config(func(c *facts.PCIConfig) { c.ACS = facts.Some[uint16](0x1d) }), checks.Warn, "PCI configuration"},
		{"PCIe width", func(s *facts.Snapshot) { s.PCI[0].CurrentWidth = facts.Some(8) }, checks.Warn, "PCIe link"},
		{"PCIe capability", func(s *facts.Snapshot) { s.PCI[0].MaxWidth = facts.Some(8) }, checks.Warn, "PCIe capability"},
		{"IOMMU", func(s *facts.Snapshot) { s.PCI[0].IOMMUType = facts.Some("DMA") }, checks.Warn, "IOMMU domain"},
		{"NUMA node", func(s *facts.Snapshot) { s.PCI[0].NUMANode = facts.Some(1) }, checks.Warn, "NUMA node"},
		{"cabled elsewhere", func(s *facts.Snapshot) { s.Netdevs[0].LLDP[0].Port = "swp13" }, checks.Info, "leaf3 port swp13, and was leaf3 port swp12"},
		{"another cable", func(s *facts.Snapshot) {
			o := s.Netdevs[0].Transceiver.Or(facts.Transceiver{})
			o.Serial = "MT2231VS00002"
			s.Netdevs[0].Transceiver = facts.Some(o)
		}, checks.Info, "transceiver serial number of eth2 is MT2231VS00002"},
		{"a warmer cable", func(s *facts.Snapshot) {
			o := s.Netdevs[0].Transceiver.Or(facts.Transceiver{})
			o.Temperature = facts.Some(70.0)
			s.Netdevs[0].Transceiver = facts.Some(o)
		}, "", ""},
	} {
		before, now := goodhost.RoCE(t), goodhost.RoCE(t)
		whole(before)
		whole(now)
		tc.change(now)
		fs := Changes(before, now).Findings
		if tc.message == "" {
			if len(fs) > 0 {
				t.Errorf("%s: %+v, want nothing", tc.name, fs)
			}
			continue
		}
		if len(fs) == 0 || fs[0].Severity != tc.severity || !strings.Contains(fs[0].Message, tc.message) {
			t.Errorf("%s: %+v, want %s %q", tc.name, fs, tc.severity, tc.message)
		}
	}
}
