package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func TestTextPorts(t *testing.T) {
	s := &facts.Snapshot{
		Devices: []facts.Device{
			{Name: "mlx5_0", PCI: facts.Some("0000:3b:00.0"), NUMANode: facts.Some(1), Ports: []facts.Port{{
				Number: 1, State: facts.Some(facts.StateActive), LinkLayer: facts.Some(facts.Ethernet), Netdev: facts.Some("eth2"),
				HWCounters: map[string]facts.Counter{
					"new_counter":   {First: facts.Some[uint64](1), Last: facts.Some[uint64](4)},
					"still_counter": {First: facts.Some[uint64](1), Last: facts.Some[uint64](1)},
					"out_of_buffer": {First: facts.Some[uint64](1), Last: facts.Some[uint64](9)},
				},
				Choice: facts.Some(facts.GIDChoice{Perftest: facts.Some(3), NCCL: facts.Some(3), UCX: facts.Some(1)})}}},
			{Name: "mlx5_1", NUMANode: facts.Some(-1), Ports: []facts.Port{{Number: 1, LinkLayer: facts.Some(facts.InfiniBand),
				DataRate: facts.Some(facts.BitsPerSecond(32e9)), Width: facts.Some(4), Speed: facts.Some("QDR")}}},
		},
		Netdevs: []facts.Netdev{{Name: "eth2", Speed: facts.Some(facts.BitsPerSecond(100e9)),
			Addresses: []facts.Address{{IP: "192.0.2.1", PrefixLen: 24, Scope: "global"}, {IP: "fe80::1", PrefixLen: 64, Scope: "link"}}}},
	}
	var b bytes.Buffer
	if err := Text(&b, &Document{Snapshot: s}, TextOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nPorts\n  mlx5_0/1  ACTIVE · 100 Gb/s · eth2 · 192.0.2.1/24 · 0000:3b:00.0 · NUMA node 1\n",
		"\n            GID index taken by default: perftest 3, NCCL 3, UCX 1, rdma_cm none\n",
		"\n            moved, and not judged since not known: new_counter +3\n",
		"\n  mlx5_1/1  state not read · 32 Gb/s (4X QDR)\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := Text(&b, &Document{}, TextOptions{}); err != nil || strings.Contains(b.String(), "Ports") {
		t.Errorf("%v, ports without a snapshot:\n%s", err, b.String())
	}
}
