package expect

import "time"

// Shares of the expected figure below which a figure is not well, and is bad.
// NVIDIA's and Oracle's acceptance tests fail at 0.90 and 0.98 of the link,
// Azure's at 0.956 to 0.98; one-percent steps between runs are noise.
const (
	BandwidthPass = 0.95
	BandwidthFail = 0.90

	// A loopback shares the PCIe link and the card with itself.
	LoopbackPass = 0.90
	LoopbackFail = 0.85

	// One queue pair does not fill a port of 200 Gb/s and more.
	OneQPPass = 0.85
	OneQPFail = 0.70
	OneQPRate = 200e9

	// Both directions together, in ceilings of one.
	BothPass = 1.80
	BothFail = 1.60

	// Against an earlier figure of the same pair: 3 percent is the noise that
	// acceptance tests allow, SuperBench calls 5 percent a defect.
	BaselinePass = 0.97
	BaselineFail = 0.95
)

// Medians of small messages between hardware on one site. WRITE and SEND count
// half the round trip, READ and atomics the whole.
const (
	LatencyWarn     = 2500 * time.Nanosecond
	LatencyFail     = 5 * time.Microsecond
	ReadLatencyWarn = 4500 * time.Nanosecond
	ReadLatencyFail = 9 * time.Microsecond
)

// Suspicion is what the share of the full link's rate points to first.
func Suspicion(share float64) string {
	switch {
	case share >= 0.97:
		return "healthy"
	case share >= 0.88:
		return "path MTU 1024, one QP on a fast port, the far NUMA node or a small PCIe payload"
	case share >= 0.42 && share <= 0.58:
		return "a slot of half width or a generation low, half the lanes of the link, or one member of a bond"
	case share >= 0.20 && share <= 0.30:
		return "one lane of the link, a slot of four lanes or two generations low"
	case share < 0.05:
		return "timeouts: last packets or acknowledgements are lost"
	case share < 0.42:
		return "pause, ECN throttling or loss"
	}
	return "no signature"
}
