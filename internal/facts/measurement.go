package facts

import (
	"math"
	"slices"
	"time"
)

// Measurement is what a probe measured, never whether it is good.
type Measurement struct {
	Probe      string `json:"probe"`  // "latency", "bandwidth", "message-rate", "ordering", "registration", "connections"
	Local      string `json:"local"`  // "mlx5_0/1"
	Remote     string `json:"remote"` // "hostB mlx5_2/1"; the same as Local in a loopback
	Op         string `json:"op"`     // "write", "read", "send", "fetch-add"
	SizeBytes  int    `json:"size_bytes"`
	Depth      int    `json:"depth"` // work requests outstanding on a queue pair
	QPs        int    `json:"qps"`
	Iterations int    `json:"iterations"`
	// Direction is which way the payload went: "out" from Local to Remote, "in"
	// the other way, "both" at once.
	Direction string `json:"direction,omitempty"`
	// Mode is what else is set: "event" (completions are waited for, not polled),
	// "loaded" (beside a saturating transfer), "relaxed-ordering", "few-receives".
	Mode      string     `json:"mode,omitempty"`
	Path      *Path      `json:"path,omitempty" jsonschema:"nullable"`
	Unit      string     `json:"unit"` // of the samples: "ns", "bit/s", "messages/s"
	Samples   []float64  `json:"samples"`
	WarmUp    int        `json:"warm_up,omitempty"`               // samples left out at the beginning
	Histogram *Histogram `json:"histogram" jsonschema:"nullable"` // instead of samples, where there are too many
	// Quantiles are by nearest rank over all samples.
	Quantiles *Quantiles    `json:"quantiles,omitempty" jsonschema:"nullable"`
	Bytes     uint64        `json:"bytes,omitempty"` // payload that went in all
	Messages  uint64        `json:"messages,omitempty"`
	Time      time.Duration `json:"duration_nanos,omitempty"`
	CPU       time.Duration `json:"cpu_nanos,omitempty"` // of this end's process meanwhile
	// Violations counts what was seen in the wrong order by an ordering probe.
	Violations Opt[uint64]   `json:"violations,omitzero"`
	Moved      []CounterMove `json:"counters_moved"` // of both ends
	// Load is how busy the processors of each end were meanwhile.
	Load   []HostLoad   `json:"load,omitempty"`
	Events []AsyncEvent `json:"events,omitempty"`
	Error  *string      `json:"error" jsonschema:"nullable"` // why there is no figure
	Failed *StepError   `json:"failed,omitempty" jsonschema:"nullable"`
	// Reproduce is the line of the standard tools that does the same.
	Reproduce string    `json:"reproduce,omitempty"`
	End       *ProbeEnd `json:"end,omitempty" jsonschema:"nullable"`
}

// HostLoad is what the processors of one end did while a probe ran
// (/proc/stat, /proc/PID/stat).
type HostLoad struct {
	Host       string        `json:"host,omitempty"` // empty: the host that tells it
	Processors int           `json:"processors"`     // online
	Elapsed    time.Duration `json:"elapsed_nanos"`
	Busy       time.Duration `json:"busy_nanos"`             // of all processors together: neither idle nor waiting for a disk
	Own        time.Duration `json:"own_nanos"`              // of that, in the probe's own process
	Stolen     time.Duration `json:"stolen_nanos,omitempty"` // that a hypervisor took
	// Top is the process beside the probe that took most: "stress (pid 812)".
	Top     string        `json:"top,omitempty"`
	TopTime time.Duration `json:"top_nanos,omitempty"`
}

// Quantiles sum samples up, in the unit of the measurement.
type Quantiles struct {
	Count int     `json:"count"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p99_9"`
	Max   float64 `json:"max"`
	Mean  float64 `json:"mean"`
}

// Histogram counts samples by bucket, so that percentiles can be recomputed.
type Histogram struct {
	UpperBounds []float64 `json:"upper_bounds"` // inclusive, ascending, in the measurement's unit
	Counts      []uint64  `json:"counts"`
}

// CounterMove is a counter that grew while a probe ran.
type CounterMove struct {
	Host    string `json:"host,omitempty"` // empty: the host that tells it
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Delta   uint64 `json:"delta"`
}

// Quantile is the value that a share q of the samples does not exceed, by
// nearest rank: of the samples, else of the histogram (the upper bound of a
// bucket), else of the quantiles that were told.
func (m *Measurement) Quantile(q float64) (float64, bool) {
	if n := len(m.Samples); n > 0 {
		sorted := slices.Sorted(slices.Values(m.Samples))
		return sorted[rank(q, n)], true
	}
	if h := m.Histogram; h != nil && len(h.Counts) <= len(h.UpperBounds) {
		var all, seen uint64
		for _, c := range h.Counts {
			all += c
		}
		for i, c := range h.Counts {
			if seen += c; all > 0 && float64(seen) >= q*float64(all) && seen > 0 {
				return h.UpperBounds[i], true
			}
		}
	}
	if m.Quantiles == nil || m.Quantiles.Count == 0 {
		return 0, false
	}
	told := map[float64]float64{0: m.Quantiles.Min, 0.5: m.Quantiles.P50, 0.99: m.Quantiles.P99, 0.999: m.Quantiles.P999, 1: m.Quantiles.Max}
	v, ok := told[q]
	return v, ok
}

// rank is the index of the nearest rank of q among n sorted samples.
func rank(q float64, n int) int {
	return min(max(int(math.Ceil(q*float64(n)))-1, 0), n-1)
}

// Figure is the one number of a measurement: the rate of what went over in all
// of its time where that was counted, else the median of the samples.
func (m *Measurement) Figure() (float64, bool) {
	if m.Error != nil || m.Failed != nil {
		return 0, false
	}
	if seconds := m.Time.Seconds(); seconds > 0 {
		switch {
		case m.Unit == "bit/s" && m.Bytes > 0:
			return float64(m.Bytes) * 8 / seconds, true
		case m.Unit == "messages/s" && m.Messages > 0:
			return float64(m.Messages) / seconds, true
		}
	}
	return m.Quantile(0.5)
}
