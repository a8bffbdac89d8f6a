package counters

import (
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var families = map[string]struct {
	place Place
	list  []Counter
}{
	"pma": {Port, pma}, "mlx5": {Device, mlx5}, "mlx4": {Device, mlx4}, "bnxt": {Device, bnxt},
	"irdma": {Device, irdma}, "hns": {Device, hns}, "erdma": {Device, erdma}, "efa": {Device, efa},
	"mana": {Device, mana}, "cxgb4": {Device, cxgb4}, "rxe": {Device, rxe}, "hfi1": {Device, hfi1},
	"mlx5e": {Ethtool, mlx5e}, "bnxten": {Ethtool, bnxten}, "ice": {Ethtool, ice},
	"i40e": {Ethtool, i40e}, "cm": {CM, cm}, "mlx4en": {Ethtool, mlx4en}, "fec": {FEC, fec}, "netdev": {Netdev, netdev},
}

func TestNoNameMeansTwoThings(t *testing.T) {
	seen := map[key]Counter{}
	for name, f := range families {
		if len(f.list) == 0 {
			t.Errorf("%s is empty", name)
		}
		inFamily := map[string]bool{}
		for _, c := range f.list {
			if inFamily[c.Name] {
				t.Errorf("%s lists %s twice", name, c.Name)
			}
			inFamily[c.Name] = true
			if c.Class == "" || c.Unit == "" || c.Width < 4 || c.Width > 64 || strings.Count(c.Name, "#") > 1 {
				t.Errorf("%s: %+v is not whole", name, c)
			}
			k := key{f.place, c.Name}
			if had, ok := seen[k]; ok && (had.Class != c.Class || had.Direction != c.Direction || had.Saturates != c.Saturates) {
				t.Errorf("%s: %s means %s here and %s elsewhere", name, c.Name, c.Class, had.Class)
			}
			seen[k] = c
		}
	}
	if len(seen) != len(known()) {
		t.Errorf("%d names in the families, %d known", len(seen), len(known()))
	}
}

func TestLookup(t *testing.T) {
	tests := []struct {
		place Place
		name  string
		class Class
		index int
		ok    bool
	}{
		{Device, "packet_seq_err", Loss, -1, true},
		{Device, "out_of_sequence", Reordering, -1, true},
		{Device, "out_of_seq_request", Reordering, -1, true},
		{Device, "Nak Sequence Error", Loss, -1, true},
		{Port, "symbol_error", Physical, -1, true},
		{Device, "symbol_error", "", -1, false},
		{Ethtool, "rx_prio3_pause_duration", CongestionTX, 3, true},
		{Ethtool, "pfc_pri5_tx_duration_us", CongestionRX, 5, true},
		{Ethtool, "rx_prio3_discards", CongestionRX, 3, true},
		{Ethtool, "rx_64_bytes_phy", "", -1, false},
		{Ethtool, "tx12_cqe_err", Local, 12, true},
		{Ethtool, "rx_prio99999999999999999999_pause", CongestionTX, 0, false},
		{Device, "made_up", "", -1, false},
		{Device, "", "", -1, false},
	}
	for _, tt := range tests {
		c, index, ok := Lookup(tt.place, tt.name)
		if ok != tt.ok || ok && (c.Class != tt.class || index != tt.index) {
			t.Errorf("Lookup(%d, %q) = %+v, %d, %v", tt.place, tt.name, c, index, ok)
		}
		if ok && index >= 0 && c.Fill(index) != tt.name {
			t.Errorf("Fill(%d) of %q = %q", index, tt.name, c.Fill(index))
		}
	}
}

func TestDelta(t *testing.T) {
	sample := func(a, b uint64) facts.Counter {
		return facts.Counter{First: facts.Some(a), Last: facts.Some(b)}
	}
	narrow := Counter{Width: 32}
	tests := []struct {
		name string
		c    Counter
		v    facts.Counter
		want uint64
		ok   bool
	}{
		{"grows", narrow, sample(5, 9), 4, true},
		{"stands", narrow, sample(5, 5), 0, true},
		{"wraps", narrow, sample(0xffff_fffe, 1), 3, true},
		{"is reset", narrow, sample(100, 0), 0, false},
		{"wide one does not wrap", Counter{Width: 64}, sample(0xffff_fffe, 1), 0, false},
		{"sticking one does not wrap", Counter{Width: 32, Saturates: true}, sample(0xffff_fffe, 1), 0, false},
		{"one sample", narrow, facts.Counter{First: facts.Some(uint64(7))}, 0, false},
	}
	for _, tt := range tests {
		if got, ok := tt.c.Delta(tt.v); got != tt.want || ok != tt.ok {
			t.Errorf("%s: Delta = %d, %v, want %d, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestSaturated(t *testing.T) {
	c, _, _ := Lookup(Port, "link_downed")
	for v, want := range map[uint64]bool{254: false, 255: true} {
		if got := c.Saturated(facts.Counter{First: facts.Some(v)}); got != want {
			t.Errorf("link_downed at %d: Saturated = %v", v, got)
		}
	}
	if c, _, _ = Lookup(Device, "packet_seq_err"); c.Saturated(facts.Counter{First: facts.Some(uint64(1<<32 - 1))}) {
		t.Error("a counter that wraps is called saturated")
	}
}
