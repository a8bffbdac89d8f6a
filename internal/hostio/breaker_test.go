package hostio

import "testing"

func TestBreaker(t *testing.T) {
	file := func(n string) Op { return Op{Kind: ReadFile, Name: n} }
	nl := func(n string) Op { return Op{Kind: Netlink, Name: n} }
	tests := []struct {
		name   string
		trips  []Op
		closed []Op // held back
		open   []Op // still tried
	}{
		{
			"same directory",
			[]Op{file("/sys/class/net/eth2/speed")},
			[]Op{file("/sys/class/net/eth2/mtu"), {Kind: ReadDir, Name: "/sys/class/net/eth2"}},
			[]Op{file("/sys/class/net/eth3/speed"), file("/sys/class/net/eth2/queues/x")},
		},
		{
			"one directory of a device",
			[]Op{file("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/a")},
			[]Op{file("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/b")},
			[]Op{file("/sys/class/infiniband/mlx5_0/ports/1/counters/a"), nl("rdma/stat-get.mlx5_0/1")},
		},
		{
			"two directories of a device",
			[]Op{file("/sys/class/infiniband/mlx5_0/ports/1/hw_counters/a"), file("/sys/class/infiniband/mlx5_0/ports/1/counters/a")},
			[]Op{file("/sys/class/infiniband/mlx5_0/fw_ver"), nl("rdma/stat-get.mlx5_0/1"), {Kind: ReadDir, Name: "/sys/class/infiniband/mlx5_0"}},
			[]Op{file("/sys/class/infiniband/mlx5_10/fw_ver"), nl("rdma/stat-get.mlx5_1/1"), {Kind: ReadDir, Name: "/sys/class/infiniband"}},
		},
		{
			"a netdev, whatever asks",
			[]Op{{Kind: EthtoolStats, Name: "eth2.100"}},
			[]Op{nl("route/dcb-ieee-get.eth2.100"), nl("ethtool/linkmodes-get.eth2.100"), {Kind: EthtoolPause, Name: "eth2.100"}},
			[]Op{nl("route/dcb-ieee-get.eth2"), {Kind: EthtoolDriver, Name: "eth2"}, nl("route/link-dump")},
		},
		{
			"the rtnl lock",
			[]Op{nl("route/link-dump"), {Kind: EthtoolStats, Name: "eth1"}, nl("ethtool/fec-get.eth2")},
			[]Op{nl("route/address-dump"), {Kind: EthtoolDriver, Name: "eth5"}},
			[]Op{nl("rdma/device-dump"), file("/sys/class/net/eth5/mtu")},
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			var b breaker
			for _, op := range tc.trips {
				if !b.open(op) {
					t.Fatalf("%s is held back before its time", op.Key())
				}
				b.trip(op)
			}
			for _, op := range append(tc.closed, tc.trips...) {
				if b.open(op) {
					t.Errorf("%s is tried", op.Key())
				}
			}
			for _, op := range tc.open {
				if !b.open(op) {
					t.Errorf("%s is held back", op.Key())
				}
			}
		})
	}
}
