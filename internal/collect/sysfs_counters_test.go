package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// What ionic cannot decode is no count.
func TestUndecodedCounters(t *testing.T) {
	h := fixture.Host(fixture.Parse(`
-- /sys/class/infiniband/ionic_0/ports/1/hw_counters/tx_rdma_ucast_pkts --
7
-- /sys/class/infiniband/ionic_0/ports/1/hw_counters/req_rx_rnr --
18446744073709551615
`))
	for provider, want := range map[string]facts.Counter{
		"ionic": {}, "mlx5": {First: facts.Some[uint64](1<<64 - 1)},
	} {
		s := &facts.Snapshot{Devices: []facts.Device{{Name: "ionic_0", Provider: facts.Some(provider), Ports: []facts.Port{{Number: 1}}}}}
		collectCounters(&Reader{ctx: t.Context(), host: h, src: facts.SysfsRDMA, Snap: s}, asFirst)
		got := s.Devices[0].Ports[0].HWCounters
		if got["req_rx_rnr"] != want || got["tx_rdma_ucast_pkts"].First != facts.Some[uint64](7) {
			t.Errorf("%s: %+v, want req_rx_rnr %+v", provider, got, want)
		}
	}
}
