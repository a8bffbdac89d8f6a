package expect

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// What people move, to say what a figure means for them.
const (
	cacheBytes    = 10e9 // KV cache of a long prompt
	gradientBytes = 1e9  // of one step of an all-reduce
	ringHosts     = 8
	ranksPerHost  = 8 // one for each GPU
)

// Terms say what the measurements between two ports mean for what is moved
// there, a line each: large transfers, an all-reduce step, small messages and
// the processors that a Gb/s takes. The arithmetic is in the line.
func Terms(ms []*facts.Measurement) []string {
	var lines []string
	var bandwidth, rate *facts.Measurement
	var bits, messages float64
	for _, m := range ms {
		v, ok := m.Figure()
		if !ok || v <= 0 || m.Mode != "" || m.Direction == "both" {
			continue
		}
		switch {
		case m.Probe == "bandwidth" && m.Op == "write" && v > bits:
			bandwidth, bits = m, v
		case m.Probe == "message-rate" && v > messages:
			rate, messages = m, v
		}
	}
	if bandwidth != nil {
		ring := 2 * (ringHosts - 1.0) / ringHosts
		lines = append(lines,
			fmt.Sprintf("10 GB of KV cache take %s at %s", Time(cacheBytes*8/bits*1e9), Rate(bits)),
			fmt.Sprintf("one all-reduce of 1 GB over a ring of %d hosts takes %s on the wire (each sends %g GB)",
				ringHosts, Time(gradientBytes*ring*8/bits*1e9), ring))
		if cores, ok := CoresPerGigabit(bandwidth); ok {
			lines = append(lines, fmt.Sprintf("this end's process takes %s of a core for each Gb/s", digits(cores)))
		}
	}
	if rate != nil {
		lines = append(lines, fmt.Sprintf("messages of %d bytes: %s with %d QPs", rate.SizeBytes, Messages(messages), rate.QPs))
	}
	return lines
}

// CoresPerGigabit is the processor time that this end's process takes for each
// Gb/s, in cores.
func CoresPerGigabit(m *facts.Measurement) (float64, bool) {
	v, ok := m.Figure()
	if !ok || m.Unit != "bit/s" || v <= 0 || m.Time <= 0 || m.CPU <= 0 {
		return 0, false
	}
	return m.CPU.Seconds() / m.Time.Seconds() / (v / 1e9), true
}

// QPsFor is how many queue pairs one device of a host needs where each of its
// ranks has one to every rank of the other hosts.
func QPsFor(hosts, ranks int) int { return max(hosts-1, 0) * ranks * ranks }

// HostsFor is the largest number of hosts for which a device's queue pairs are
// enough, for ranks a host that all use this device.
func HostsFor(maxQP, ranks int) int {
	if ranks <= 0 || maxQP <= 0 {
		return 0
	}
	return maxQP/(ranks*ranks) + 1
}

// Scale says for how many hosts the queue pairs of a device are enough; "" is
// where the maximum is not known.
func Scale(l facts.DeviceLimits) string {
	if l.MaxQP <= 0 {
		return ""
	}
	return fmt.Sprintf("max_qp %d is enough for %d hosts of %d ranks that have a QP each to every other rank (%d QPs for 100 hosts)",
		l.MaxQP, HostsFor(l.MaxQP, ranksPerHost), ranksPerHost, QPsFor(100, ranksPerHost))
}
