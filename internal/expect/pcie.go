package expect

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

const (
	tlpOverhead    = 24   // header 16, sequence and LCRC 6, framing 2 bytes
	dllpShare      = 0.97 // acknowledgements and credits take 2 to 5 percent
	defaultPayload = 256  // of a TLP, where the function does not say
)

// LaneRate is what one PCIe lane carries after line coding, in Gb/s: 8b/10b
// below 8 GT/s, 128b/130b below 64 GT/s, FLIT mode (236 of 256 bytes) there.
func LaneRate(gtps float64) float64 {
	switch {
	case gtps < 8:
		return gtps * 0.8
	case gtps < 64:
		return gtps * 128 / 130
	}
	return gtps * 236 / 256
}

// maxPayload is the Max_Payload_Size of f. Both ends of a link are set to one.
func maxPayload(f *facts.PCIFunction) float64 {
	return float64(max(f.Config.Or(facts.PCIConfig{}).MaxPayload.Or(defaultPayload), 128))
}

// PCIe is the payload rate in Gb/s of the narrowest link from f to the root,
// before the packets of the link itself, and the function whose link that is:
// nil where none was read.
func PCIe(s *facts.Snapshot, f *facts.PCIFunction) (gbps float64, at *facts.PCIFunction) {
	payload := maxPayload(f)
	for _, hop := range append([]*facts.PCIFunction{f}, s.PCITree().Bridges(f)...) {
		speed, ok1 := hop.CurrentSpeed.Get()
		width, ok2 := hop.CurrentWidth.Get()
		if !ok1 || !ok2 || speed <= 0 || width <= 0 {
			continue
		}
		if rate := LaneRate(speed) * float64(width) * payload / (payload + tlpOverhead); at == nil || rate < gbps {
			gbps, at = rate, hop
		}
	}
	return gbps, at
}

// pcie is the ceiling that an end's PCIe path sets. It is false in a guest and
// for a virtual function, whose links are make-believe, and where none was
// read.
func pcie(e End) (Ceiling, bool) {
	f := e.function()
	if f == nil || f.VF || e.Snapshot.Host.Virtual.Or(false) {
		return Ceiling{}, false
	}
	gbps, at := PCIe(e.Snapshot, f)
	if at == nil {
		return Ceiling{}, false
	}
	mps := maxPayload(f)
	return Ceiling{
		Name: "PCIe", At: e.place(at.Address), Rate: facts.BitsPerSecond(gbps * dllpShare * 1e9),
		Formula: fmt.Sprintf("%g GT/s x %d lanes x coding x %g / (%g + %d) x %g", at.CurrentSpeed.Or(0), at.CurrentWidth.Or(0),
			mps, mps, tlpOverhead, dllpShare),
	}, true
}
