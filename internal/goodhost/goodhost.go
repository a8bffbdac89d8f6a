// Package goodhost has constructed hosts with nothing wrong, as snapshots that
// tests change in one fact. Only tests import it.
package goodhost

import (
	_ "embed"
	"encoding/json"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var (
	//go:embed roce.json
	roce []byte
	//go:embed infiniband.json
	infiniband []byte
)

// RoCE is a host with two RoCE devices, mlx5_0 on eth2 and mlx5_1 on eth3. The
// caller may change it.
func RoCE(t testing.TB) *facts.Snapshot { return decoded(t, roce) }

// InfiniBand is a host with InfiniBand devices. The caller may change it.
func InfiniBand(t testing.TB) *facts.Snapshot { return decoded(t, infiniband) }

func decoded(t testing.TB, text []byte) *facts.Snapshot {
	t.Helper()
	s := new(facts.Snapshot)
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// SetDCB changes DCB of the first netdev.
func SetDCB(s *facts.Snapshot, change func(*facts.DCB)) {
	d := s.Netdevs[0].DCB.Or(facts.DCB{})
	change(&d)
	s.Netdevs[0].DCB = facts.Some(d)
}

// SetPFC sets the priorities of the first netdev that have PFC.
func SetPFC(s *facts.Snapshot, enabled uint8) {
	SetDCB(s, func(d *facts.DCB) {
		p := d.PFC.Or(facts.PFC{})
		p.Enabled = enabled
		d.PFC = facts.Some(p)
	})
}

// SetConfig changes the configuration space of the first PCI function.
func SetConfig(s *facts.Snapshot, change func(*facts.PCIConfig)) {
	c := s.PCI[0].Config.Or(facts.PCIConfig{})
	change(&c)
	s.PCI[0].Config = facts.Some(c)
}
