package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// Numbers as cm_show_counter (drivers/infiniband/core/cm.c) prints them.
const cmTree = `-- /sys/class/infiniband/mlx5_0/ports/1/state --
4: ACTIVE
-- /sys/class/infiniband/mlx5_0/ports/1/cm_tx_msgs/req --
7
-- /sys/class/infiniband/mlx5_0/ports/1/cm_tx_msgs/lap --
1
-- /sys/class/infiniband/mlx5_0/ports/1/cm_tx_retries/req --
3
-- then /sys/class/infiniband/mlx5_0/ports/1/cm_tx_retries/req --
5
-- /sys/class/infiniband/mlx5_0/ports/1/cm_rx_msgs/rep --
minus one
-- /sys/class/infiniband/mlx4_0/ports/1/state --
4: ACTIVE
-- /sys/class/infiniband/siw0/ports/1/state --
4: ACTIVE
-- /sys/class/infiniband_cm/mlx4_0/1/cm_rx_duplicates/req --
2
`

func TestCMCounters(t *testing.T) {
	s := collected(t, fixture.Host(fixture.Parse(cmTree)), facts.SysfsRDMA)
	one := func(v uint64) facts.Counter { return facts.Counter{First: facts.Some(v), Last: facts.Some(v)} }
	want(t, "mlx5_0", s.Device("mlx5_0").Ports[0].CM, map[string]facts.Counter{"cm_tx_msgs/req": one(7),
		"cm_tx_retries/req": {First: facts.Some[uint64](3), Last: facts.Some[uint64](5)}})
	want(t, "mlx4_0, an older kernel", s.Device("mlx4_0").Ports[0].CM, map[string]facts.Counter{"cm_rx_duplicates/req": one(2)})
	want(t, "siw0", len(s.Device("siw0").Ports[0].CM), 0)
	want(t, "gap", gap(t, s, "/sys/class/infiniband/mlx5_0/ports/1/cm_rx_msgs/rep").Kind, facts.Malformed)
}
