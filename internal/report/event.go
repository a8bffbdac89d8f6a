package report

import (
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// EventKind is where an event of a timeline comes from.
type EventKind string

// The kinds of event.
const (
	CounterEvent EventKind = "counter" // an error counter grew
	LinkEvent    EventKind = "link"    // a port or netdev changed state
	LogEvent     EventKind = "log"     // a line of the kernel log
	FactEvent    EventKind = "fact"    // a setting, an address or a version changed
	FindingEvent EventKind = "finding" // a finding began or ended
	HostEvent    EventKind = "host"    // a reboot, or a time without samples
)

// Event is one line of the timeline of a period.
type Event struct {
	Time     time.Time       `json:"time"`
	Until    time.Time       `json:"until,omitzero"` // it happened between Time and this
	Kind     EventKind       `json:"kind"`
	Subject  string          `json:"subject"` // a port, a netdev, a device or "host"
	Text     string          `json:"text"`
	Code     string          `json:"code,omitempty"`     // of a finding
	Severity checks.Severity `json:"severity,omitempty"` // of a finding
}

// Rates are what the counters of a watched host did in one interval. As with
// progress nothing is lost where they are dropped.
type Rates struct {
	Time            time.Time  `json:"time"` // the end of the interval
	IntervalSeconds float64    `json:"interval_seconds"`
	Ports           []PortRate `json:"ports"`
}

// PortRate is one port in one interval.
type PortRate struct {
	Port   string `json:"port"` // "mlx5_0/1"
	Netdev string `json:"netdev,omitempty"`
	State  string `json:"state,omitempty"`
	// The traffic as the port counts it, absent where it does not. On RoCE the
	// port's own counters see RDMA only where the driver says so.
	TXBitsPerSecond    *float64      `json:"tx_bits_per_second,omitempty"`
	RXBitsPerSecond    *float64      `json:"rx_bits_per_second,omitempty"`
	TXPacketsPerSecond *float64      `json:"tx_packets_per_second,omitempty"`
	RXPacketsPerSecond *float64      `json:"rx_packets_per_second,omitempty"`
	Counters           []CounterRate `json:"counters"` // all others that moved
}

// CounterRate is one counter that moved.
type CounterRate struct {
	Name      string  `json:"name"`
	Place     string  `json:"place"` // "counters", "hw_counters" or "ethtool"
	Class     string  `json:"class,omitempty"`
	Delta     uint64  `json:"delta"`
	PerSecond float64 `json:"per_second"`
}
