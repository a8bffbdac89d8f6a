package baseline

import (
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// busy is a host whose counters were read twice.
func busy() *facts.Snapshot {
	counter := func(first, last uint64) facts.Counter {
		return facts.Counter{First: facts.Some(first), Last: facts.Some(last)}
	}
	return &facts.Snapshot{
		Interval: 1e9,
		Sources:  []facts.Source{facts.SysfsRDMA, facts.RDMANetlink, facts.Links, facts.Ethtool, facts.PCISysfs, facts.ProcessList},
		Devices: []facts.Device{{Name: "mlx5_0", PCI: facts.Some("0000:3b:00.0"),
			Resources: map[string]facts.Usage{"qp": {Current: 2}},
			Ports: []facts.Port{{Number: 1, Netdev: facts.Some("eth2"), State: facts.Some(facts.StateActive), StateLast: facts.Some(facts.StateActive),
				HWCounters: map[string]facts.Counter{"req_cqe_error": counter(4, 4), "rx_write_requests": counter(1, 900), "np_cnp_sent": counter(0, 0)},
				Counters:   map[string]facts.Counter{"port_xmit_wait": counter(5, 5)}}}}},
		Netdevs: []facts.Netdev{{Name: "eth2", Stats: map[string]facts.Counter{"rx_packets": counter(1, 2)}, CarrierChanges: counter(2, 2),
			Ethtool: map[string]facts.Counter{"module_high_temp": counter(0, 0), "rx_crc_errors_phy": counter(0, 0), "rx17_xdp_drop": counter(0, 0)}}},
		PCI: []facts.PCIFunction{{Address: "0000:3b:00.0", AER: map[string]facts.Counter{"fatal/DLP": counter(0, 0)}}},
		Processes: []facts.Process{
			{PID: 9, Comm: "slurmd", Services: []string{"slurm"}, Limits: map[string]facts.Limit{"memlock": {SoftUnlimited: true, HardUnlimited: true}}},
			{PID: 10, Comm: "a.out"}},
	}
}

func TestMoves(t *testing.T) {
	grow := func(m map[string]facts.Counter, name string) {
		m[name] = facts.Counter{First: facts.Some[uint64](7), Last: facts.Some[uint64](9)}
	}
	for _, tc := range []struct {
		name    string
		do      func(s *facts.Snapshot)
		unread  string          // part of what is unread, "" for nothing
		message string          // part of the only finding, "" for none
		as      checks.Severity // of it
	}{
		{"as it was", func(*facts.Snapshot) {}, "", "", ""},
		{"a port counter gone", func(s *facts.Snapshot) { delete(s.Devices[0].Ports[0].HWCounters, "req_cqe_error") }, "hw_counters req_cqe_error", "", ""},
		{"a netdev counter gone", func(s *facts.Snapshot) { delete(s.Netdevs[0].Ethtool, "rx_crc_errors_phy") }, "ethtool rx_crc_errors_phy", "", ""},
		{"a queue's counter gone", func(s *facts.Snapshot) { delete(s.Netdevs[0].Ethtool, "rx17_xdp_drop") }, "", "", ""},
		{"packets gone", func(s *facts.Snapshot) { s.Netdevs[0].Stats = nil }, "stats rx_packets", "", ""},
		{"carrier changes gone", func(s *facts.Snapshot) { s.Netdevs[0].CarrierChanges = facts.Counter{} }, "carrier_changes", "", ""},
		{"AER gone", func(s *facts.Snapshot) { s.PCI[0].AER = nil }, "aer fatal/DLP", "", ""},
		{"objects gone", func(s *facts.Snapshot) { s.Devices[0].Resources = nil }, "resources qp", "", ""},
		{"second state gone", func(s *facts.Snapshot) { s.Devices[0].Ports[0].StateLast = facts.Opt[facts.PortState]{} }, "state of the second sample", "", ""},
		{"an error counter grows", func(s *facts.Snapshot) { grow(s.Devices[0].Ports[0].HWCounters, "req_cqe_error") }, "",
			"counters of mlx5_0/1 grow that stood still when the baseline was recorded: req_cqe_error by 2", checks.Info},
		{"a module is hot", func(s *facts.Snapshot) { grow(s.Netdevs[0].Ethtool, "module_high_temp") }, "", "module_high_temp by 2", checks.Info},
		{"traffic grows", func(s *facts.Snapshot) { grow(s.Devices[0].Ports[0].HWCounters, "rx_write_requests") }, "", "", ""},
		{"congestion notified", func(s *facts.Snapshot) { grow(s.Devices[0].Ports[0].HWCounters, "np_cnp_sent") }, "", "", ""},
		{"credits waited for", func(s *facts.Snapshot) { grow(s.Devices[0].Ports[0].Counters, "port_xmit_wait") }, "", "", ""},
		{"a service's limit", func(s *facts.Snapshot) { s.Processes[0].Limits["memlock"] = facts.Limit{Soft: 65536, Hard: 65536} }, "",
			"limit memlock of slurmd is 65536 (hard 65536), and was unlimited (hard unlimited)", checks.Warn},
		{"a service's limit unread", func(s *facts.Snapshot) { s.Processes[0].Limits = nil }, "service slurmd limit memlock", "", ""},
		{"a service gone", func(s *facts.Snapshot) { s.Processes = s.Processes[1:] }, "", "the service of slurmd is not there", checks.Info},
		{"another process gone", func(s *facts.Snapshot) { s.Processes = s.Processes[:1] }, "", "", ""},
	} {
		now := busy()
		tc.do(now)
		r := Changes(busy(), now)
		if got := strings.Join(r.Unread, "\n"); (tc.unread == "") != (got == "") || !strings.Contains(got, tc.unread) {
			t.Errorf("%s: unread %q, want %q", tc.name, got, tc.unread)
		}
		switch {
		case tc.message == "" && len(r.Findings) > 0:
			t.Errorf("%s: %+v, want nothing", tc.name, r.Findings)
		case tc.message != "" && (len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Message, tc.message) || r.Findings[0].Severity != tc.as):
			t.Errorf("%s: %+v, want one finding %q (%s)", tc.name, r.Findings, tc.message, tc.as)
		}
	}
}
