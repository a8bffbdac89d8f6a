package settings

import (
	"slices"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/goodhost"
)

func TestThings(t *testing.T) {
	things := Things(goodhost.RoCE(t))
	find := func(kind Kind, name string) map[string]string {
		for _, t := range things {
			if t.Kind == kind && t.Name == name {
				return t.Fields
			}
		}
		return nil
	}
	for _, tc := range []struct {
		kind  Kind
		name  string
		field string
		want  string
	}{
		{Host, "", "hostname", "gpu-017"},
		{Host, "", "memory.max_map_count", "65530"},
		{Host, "", "userland.providers", "/usr/lib/libmlx5-rdmav34.so"},
		{Host, "", "self.limits[memlock].soft", "8388608"},
		{Device, "mlx5_0", "fw_ver", "28.41.1000"},
		{Device, "mlx5_0", "resources[qp].max", "131072"},
		{Port, "mlx5_0/1", "state", "ACTIVE"},
		{Port, "mlx5_0/1", "rate_bits_per_second", "400 Gb/s"},
		{Port, "mlx5_0/1", "pkeys[0]", "0xffff"},
		{Port, "mlx5_0/1", "gids[3].type", "RoCE v2"},
		{Netdev, "eth2", "mtu_bytes", "9000"},
		{Netdev, "eth2", "dcb.pfc.enabled", "8"},
		{Netdev, "eth2", "dcb.apps[5:26]", "3"},
		{Netdev, "eth2", "dcb.trust", "dscp"},
		{Netdev, "eth2", "dcb.ets.tc_bandwidth_percent", "50,0,0,50,0,0,0,0"},
		{Netdev, "eth2", "pause.rx", "false"},
		{Netdev, "eth2", "sysctl[arp_ignore]", "1"},
		{Netdev, "eth2", "addresses[10.1.0.17]", "24"},
		{Netdev, "eth2", "lldp[0]", "leaf3 port swp12"},
		{Netdev, "eth2", "transceiver.serial_number", "MT2231VS00001"},
		{PCI, "0000:3b:00.0", "current_link_width", "16"},
		{Module, "mlx5_core", "version", "24.10"},
		{Unit, "slurmd.service", "limits[LimitMEMLOCK]", "infinity"},
		{Route, "ipv4 254 10.1.0.0/24 eth2", "type", "unicast"},
	} {
		if got := find(tc.kind, tc.name)[tc.field]; got != tc.want {
			t.Errorf("%s %s %s is %q, want %q", tc.kind, tc.name, tc.field, got, tc.want)
		}
	}
	for _, left := range []struct {
		kind Kind
		name string
	}{{Netdev, "veth7"}, {Module, "ext4"}, {Route, "ipv4 254 10.9.0.0/24 veth7"}} {
		if find(left.kind, left.name) != nil {
			t.Errorf("%s %s has nothing to do with RDMA and is listed", left.kind, left.name)
		}
	}
	// What moves or only names the thing is left out.
	for _, left := range [][3]string{{"host", "", "self.pid"}, {"host", "", "memory.available_bytes"}, {"device", "mlx5_0", "index"},
		{"device", "mlx5_0", "resources[qp].current"}, {"port", "mlx5_0/1", "state_last"}, {"port", "mlx5_0/1", "counters[port_xmit_data].first"},
		{"netdev", "eth2", "dcb.pfc.requests"},
		{"netdev", "eth2", "transceiver.temperature_celsius"}, {"module", "mlx5_core", "size_bytes"}} {
		if v, ok := find(Kind(left[0]), left[1])[left[2]]; ok {
			t.Errorf("%v is %q, want it left out", left, v)
		}
	}
}

// Every field of a fact type is reached: a new one is compared without being
// listed anywhere.
func TestEveryThingHasASource(t *testing.T) {
	for _, thing := range Things(goodhost.RoCE(t)) {
		if Source(thing.Kind, "") == "" {
			t.Errorf("%s has no source", thing.Kind)
		}
		for field := range thing.Fields {
			if !slices.Contains(goodhost.RoCE(t).Sources, Source(thing.Kind, field)) {
				t.Errorf("%s %s comes from %q", thing.Kind, field, Source(thing.Kind, field))
			}
		}
	}
}

func TestBareAndIndex(t *testing.T) {
	for _, tc := range []struct{ field, bare, index string }{
		{"fw_ver", "fw_ver", ""},
		{"gids[3].gid", "gids[].gid", "3"},
		{"a[b].c[d]", "a[].c[]", "b"},
		{"a[b", "a[b", "b"},
		{"", "", ""},
	} {
		if got := Bare(tc.field); got != tc.bare {
			t.Errorf("Bare(%q) is %q, want %q", tc.field, got, tc.bare)
		}
		if got := Index(tc.field); got != tc.index {
			t.Errorf("Index(%q) is %q, want %q", tc.field, got, tc.index)
		}
	}
	fields := []string{"gids[12].gid", "gids[3].gid", "fw_ver"}
	slices.SortFunc(fields, Compare)
	if want := []string{"fw_ver", "gids[3].gid", "gids[12].gid"}; !slices.Equal(fields, want) {
		t.Errorf("sorted %q, want %q", fields, want)
	}
}
