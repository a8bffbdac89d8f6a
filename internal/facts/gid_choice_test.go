package facts

import "testing"

// Tables as kernels make them: default GIDs first, then addresses in the order
// in which they came, v1 before v2.
func TestChooseGIDs(t *testing.T) {
	const fe80, v4, v4b = "fe80:0000:0000:0000:ba59:9fff:fe00:0001", "0000:0000:0000:0000:0000:ffff:0a00:0001", "0000:0000:0000:0000:0000:ffff:0a01:0001"
	const v6, v4link = "2001:0db8:0000:0000:0000:0000:0000:0001", "0000:0000:0000:0000:0000:ffff:a9fe:0101"
	entry := func(i int, value, typ, netdev string) GID {
		return GID{Index: i, Value: value, Type: Some(typ), Netdev: Some(netdev)}
	}
	v1, v2 := GIDTypeRoCEv1, GIDTypeRoCEv2
	both := []GID{entry(0, fe80, v1, "eth2"), entry(1, fe80, v2, "eth2"), entry(2, v4, v1, "eth2"), entry(3, v4, v2, "eth2")}
	for _, tc := range []struct {
		name string
		port Port
		want string // perftest NCCL UCX rdma_cm
	}{
		{"empty", Port{}, "not read not read not read not read"},
		{"v1 and v2", Port{GIDs: both}, "3 3 3 3"},
		{"v2 only", Port{GIDs: []GID{entry(0, fe80, v2, "eth2"), entry(1, v4, v2, "eth2")}}, "1 1 1 1"},
		{"rdma_cm in v1 mode", Port{GIDs: both, CMRoCEMode: Some(v1)}, "3 3 3 2"},
		{"VLAN first", Port{GIDs: []GID{entry(0, fe80, v2, "eth2"), entry(1, v4b, v2, "eth2.100"), entry(2, v4, v2, "eth2")}}, "1 1 1 2"},
		{"IPv6 only", Port{GIDs: []GID{entry(0, fe80, v1, "eth2"), entry(1, fe80, v2, "eth2"), entry(2, v6, v1, "eth2"), entry(3, v6, v2, "eth2")}}, "3 0 1 3"},
		{"IPv4 link-local before a routable one", Port{GIDs: []GID{entry(0, fe80, v2, "eth2"), entry(1, v4link, v2, "eth2"), entry(2, v4, v2, "eth2")}}, "2 2 1 2"},
		{"v1 only", Port{GIDs: []GID{entry(0, fe80, v1, "eth2"), entry(1, v4, v1, "eth2")}}, "1 1 1 not read"},
		{"hole at 0 and no IPv4", Port{GIDs: []GID{entry(1, fe80, v2, "eth2")}}, "1 not read 1 not read"},
		{"one type not read", Port{GIDs: []GID{{Index: 0, Value: fe80}, entry(1, v4, v2, "eth2")}}, "1 1 1 1"},
		{"no type read", Port{GIDs: []GID{{Index: 0, Value: fe80}}}, "not read not read not read not read"},
	} {
		tc.port.Netdev = Some("eth2")
		c := ChooseGIDs(&tc.port)
		if got := c.Perftest.String() + " " + c.NCCL.String() + " " + c.UCX.String() + " " + c.RDMACM.String(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if g, ok := (&Port{GIDs: both}).GIDAt(2); !ok || g.Value != v4 {
		t.Errorf("entry 2 is %+v, %v", g, ok)
	}
	if _, ok := (&Port{GIDs: both}).GIDAt(4); ok {
		t.Error("an empty slot is used")
	}
}
