package checks

import (
	"math"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// The table of slots: raw rate after encoding, and what 256 bytes of payload
// leave of it.
func TestPCIeCeiling(t *testing.T) {
	tests := []struct {
		gtps    float64
		lanes   int
		raw     float64
		payload float64
	}{
		{8, 4, 31.5, 28.8}, {8, 8, 63.0, 57.6}, {8, 16, 126.0, 115.2}, {16, 4, 63.0, 57.6}, {16, 8, 126.0, 115.2},
		{16, 16, 252.1, 230.5}, {32, 4, 126.0, 115.2}, {32, 8, 252.1, 230.5}, {32, 16, 504.1, 460.9}, {5, 8, 32, 29.3},
	}
	for _, tt := range tests {
		if raw := expect.LaneRate(tt.gtps) * float64(tt.lanes); math.Abs(raw-tt.raw) > 0.1 {
			t.Errorf("%g GT/s x%d: raw %.2f, want %.1f", tt.gtps, tt.lanes, raw, tt.raw)
		}
		f := &facts.PCIFunction{Address: "0000:3b:00.0", CurrentSpeed: facts.Some(tt.gtps), CurrentWidth: facts.Some(tt.lanes)}
		if got, at := expect.PCIe(&facts.Snapshot{}, f); at != f || math.Abs(got-tt.payload) > 0.1 {
			t.Errorf("%g GT/s x%d: ceiling %.2f, want %.1f", tt.gtps, tt.lanes, got, tt.payload)
		}
	}
}

func TestPCIPathEndsInLoop(t *testing.T) {
	s := &facts.Snapshot{PCI: []facts.PCIFunction{{Address: "a", Parent: "b"}, {Address: "b", Parent: "a"}}}
	if got := len(pciPath(s, &s.PCI[0])); got != 16 {
		t.Errorf("path of %d hops, want 16", got)
	}
}
