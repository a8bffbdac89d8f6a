package probes

import (
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// PeerTests are the measurements of a pair, in order, each for so long. A port
// that others use gets a hundred small messages.
func PeerTests(each time.Duration, busy bool) []PeerTest {
	test := func(probe, op string, size, depth, qps int, direction, mode string) PeerTest {
		return PeerTest{Probe: probe, Op: op, Size: size, Depth: depth, QPs: qps, Direction: direction, Mode: mode, Time: each, Count: maxPeerCount}
	}
	if busy {
		few := test("latency", "write", 64, 1, 1, "out", "")
		few.Count = smallMessages
		return []PeerTest{few}
	}
	var ts []PeerTest
	for _, op := range []string{"write", "read", "send"} {
		for _, size := range []int{2, 64} {
			t := test("latency", op, size, 1, 1, "out", "")
			t.Count = mostLatencySamples
			ts = append(ts, t)
		}
	}
	ordering := test("ordering", "write", 64, 1, 1, "out", "")
	ordering.Count = 100_000
	ts = append(ts, ordering)
	for _, size := range []int{8, 64} {
		ts = append(ts, test("message-rate", "write", size, 64, 4, "out", ""))
	}
	for _, size := range []int{64 << 10, 1 << 20} {
		for _, direction := range []string{"out", "in", "both"} {
			ts = append(ts, test("bandwidth", "write", size, 64, 1, direction, ""))
		}
	}
	ts = append(ts, test("bandwidth", "read", 64<<10, 64, 1, "in", ""),
		test("bandwidth", "send", 64<<10, 64, 1, "out", ""), test("bandwidth", "send", 64<<10, 64, 1, "out", "few-receives"))
	for _, size := range []int{1 << 10, 4 << 10, 16 << 10, 256 << 10, 4 << 20} {
		ts = append(ts, test("bandwidth", "write", size, 64, 1, "out", "sweep"))
	}
	for _, qps := range []int{2, 4, 8} {
		ts = append(ts, test("bandwidth", "write", 64<<10, 64, qps, "out", ""))
	}
	return ts
}

// mostLatencySamples keeps a report readable.
const mostLatencySamples = 5000

// Saturates reports whether a test takes all that the port can do.
func (t *PeerTest) Saturates() bool { return t.Probe == "bandwidth" || t.Probe == "message-rate" }

// Load is a test in words, with what it does to the port and the network.
func (t *PeerTest) Load() facts.PlannedPart {
	p := facts.PlannedPart{What: t.name(), Load: fmt.Sprintf("one message at a time, %v at most", t.Time)}
	if t.Mode != "" {
		p.What += ", " + t.Mode
	}
	if t.Saturates() {
		p.Load = fmt.Sprintf("saturates the port for about %v: needs --yes or an answer", t.Time)
	}
	return p
}

// PeerLadderParts are what the ladder of a pair does.
func PeerLadderParts() []facts.PlannedPart {
	return []facts.PlannedPart{
		{What: "compare both hosts' facts: transport, MTU, PFC, DSCP map, GIDs, partitions", Load: "reads only"},
		{What: "open the device at both ends, make a PD and CQs, register 16 MiB, connect one RC queue pair by exchanged QP data",
			Load: "one uverbs node, a few objects, 16 MiB pinned at each end"},
		{What: "write, read, send and atomics from 8 bytes to 64 KiB, data verified at both ends", Load: "half a dozen messages"},
	}
}

// Reproduce is the line of perftest that does the same as a measurement. The
// server's line has no address, and is started first.
func Reproduce(m *facts.Measurement, peer string) string {
	tool := map[string]string{"write": "ib_write", "read": "ib_read", "send": "ib_send"}[m.Op]
	kind := map[string]string{"latency": "_lat", "bandwidth": "_bw", "message-rate": "_bw"}[m.Probe]
	if tool == "" || kind == "" || m.Path == nil {
		return ""
	}
	device, port, ok := cutLink(m.Local)
	if !ok {
		return ""
	}
	s := fmt.Sprintf("%s%s -d %s -i %s -s %d -F", tool, kind, device, port, m.SizeBytes)
	if i, ok := m.Path.SGIDIndex.Get(); ok {
		s += fmt.Sprintf(" -x %d", i)
	}
	if m.Path.PathMTU > 0 {
		s += fmt.Sprintf(" -m %d", m.Path.PathMTU)
	}
	if c, ok := m.Path.TrafficClass.Get(); ok && c > 0 {
		s += fmt.Sprintf(" --tclass=%d", c)
	}
	if sl, ok := m.Path.ServiceLevel.Get(); ok && sl > 0 {
		s += fmt.Sprintf(" -S %d", sl)
	}
	if m.Iterations > 0 {
		s += fmt.Sprintf(" -n %d", m.Iterations)
	}
	if m.Probe != "latency" {
		s += fmt.Sprintf(" -t %d -q %d", m.Depth, m.QPs)
		if m.Direction == "both" {
			s += " -b"
		}
		if m.Mode == "few-receives" {
			s += " -r 1"
		}
	}
	// perftest's client writes and sends to its server, and reads from it.
	if m.Direction == "in" && m.Op != "read" {
		return s + " (server here, client there)"
	}
	return s + " " + peer
}
