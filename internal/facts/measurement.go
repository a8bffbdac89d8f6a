package facts

import "time"

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
	Events     []AsyncEvent  `json:"events,omitempty"`
	Error      *string       `json:"error" jsonschema:"nullable"` // why there is no figure
	Failed     *StepError    `json:"failed,omitempty" jsonschema:"nullable"`
	End        *ProbeEnd     `json:"end,omitempty" jsonschema:"nullable"`
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
