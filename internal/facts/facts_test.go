package facts

import (
	"encoding/json"
	"testing"
)

// What was not read is left out, and zero is kept.
func TestOptTellsNotReadFromZero(t *testing.T) {
	type pair struct {
		A Opt[int] `json:"a,omitzero"`
		B Opt[int] `json:"b,omitzero"`
	}
	b, err := json.Marshal(pair{A: Some(0)})
	if err != nil || string(b) != `{"a":0}` {
		t.Fatalf("marshalled %s, %v", b, err)
	}
	var got pair
	if err := json.Unmarshal([]byte(`{"a":0,"b":null}`), &got); err != nil {
		t.Fatal(err)
	}
	if v, ok := got.A.Get(); !ok || v != 0 {
		t.Errorf("a is %d, %v, want 0 that was read", v, ok)
	}
	if got.B.Known() {
		t.Error("null counts as read")
	}
	if got.B.String() != "not read" || got.B.Or(7) != 7 {
		t.Errorf("not read shows as %q, or 7 is %d", got.B, got.B.Or(7))
	}
}

func TestCounterDelta(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    Counter
		want uint64
		ok   bool
	}{
		{"grew", Counter{Some[uint64](3), Some[uint64](10)}, 7, true},
		{"still", Counter{Some[uint64](3), Some[uint64](3)}, 0, true},
		{"went back", Counter{Some[uint64](10), Some[uint64](3)}, 0, false},
		{"one sample", Counter{First: Some[uint64](3)}, 0, false},
		{"second sample only", Counter{Last: Some[uint64](3)}, 0, false},
	} {
		if got, ok := tc.c.Delta(); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %d, %v, want %d, %v", tc.name, got, ok, tc.want, tc.ok)
		}
	}
}

func TestBitsPerSecondString(t *testing.T) {
	for r, want := range map[BitsPerSecond]string{0: "0 b/s", 999: "999 b/s", 2_500_000_000: "2.5 Gb/s",
		400_000_000_000: "400 Gb/s", 100_000_000: "100 Mb/s", 56_000: "56 kb/s"} {
		if got := r.String(); got != want {
			t.Errorf("%d is %q, want %q", uint64(r), got, want)
		}
	}
}

// A loop of netdevs, as hostile input may hold, ends.
func TestBeneathEnds(t *testing.T) {
	s := &Snapshot{Netdevs: []Netdev{
		{Name: "a", Kind: Some("vlan"), Lower: Some("b")},
		{Name: "b", Kind: Some("vlan"), Lower: Some("a")},
		{Name: "eth0.5", Kind: Some("vlan"), Lower: Some("eth0")},
		{Name: "eth0"},
		{Name: "veth0", Kind: Some("veth"), Lower: Some("eth0")},
	}}
	if s.Beneath(&s.Netdevs[0]) == nil {
		t.Error("nothing beneath a loop")
	}
	if got := s.Beneath(s.Netdev("eth0.5")).Name; got != "eth0" {
		t.Errorf("beneath eth0.5 is %s, want eth0", got)
	}
	if got := s.Beneath(s.Netdev("veth0")).Name; got != "veth0" {
		t.Errorf("beneath veth0 is %s, want itself: its link is a peer", got)
	}
}

// The protocol decides, not the link layer: iWARP and EFA are not RoCE.
func TestRoCE(t *testing.T) {
	eth, ib := Some(Ethernet), Some(InfiniBand)
	for _, tc := range []struct {
		name string
		d    Device
		ll   Opt[string]
		want bool
	}{
		{"roce by netlink", Device{Protocol: Some("roce")}, eth, true},
		{"infiniband port of a VPI device", Device{Protocol: Some("roce")}, ib, false},
		{"iwarp", Device{Protocol: Some("iw")}, eth, false},
		{"siw without netlink", Device{Provider: Some("siw")}, eth, false},
		{"efa", Device{Provider: Some("efa")}, eth, false},
		{"mlx5 from a copied tree", Device{Provider: Some("mlx5")}, eth, true},
		{"an RNIC", Device{NodeType: Some("RNIC")}, eth, false},
		{"infiniband", Device{Provider: Some("mlx5")}, ib, false},
	} {
		if got := RoCE(&tc.d, &Port{LinkLayer: tc.ll}); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestLinkLocal(t *testing.T) {
	for gid, want := range map[string]bool{
		"fe80:0000:0000:0000:0202:c9ff:fe00:0001": true,
		"0000:0000:0000:0000:0000:ffff:a9fe:0101": true,
		"0000:0000:0000:0000:0000:ffff:c000:0201": false,
		"2001:0db8:0000:0000:0000:0000:0000:0001": false,
	} {
		if got := (GID{Value: gid}).LinkLocal(); got != want {
			t.Errorf("%s: %v, want %v", gid, got, want)
		}
	}
}
