// Package status is what the numbers that verbs and rdma_cm answer with mean:
// completion statuses and their vendor syndromes, asynchronous events, rejects,
// and errno by the call that gave it. The tables are data and are read on
// first use.
package status

import (
	_ "embed" // The meanings are tables, not code.
	"sync"

	"go.yaml.in/yaml/v4"
)

// Completion is one value of enum ibv_wc_status.
type Completion struct {
	Number      int      `yaml:"number"`
	Name        string   `yaml:"name"`        // "IBV_WC_RETRY_EXC_ERR"
	Text        string   `yaml:"text"`        // as ibv_wc_status_str prints it
	Requester   string   `yaml:"requester"`   // what it means where the request was posted
	Responder   string   `yaml:"responder"`   // what the other end sees
	Obsolete    bool     `yaml:"obsolete"`    // of services that no device has
	Consequence bool     `yaml:"consequence"` // never the first error
	Causes      []Cause  `yaml:"causes"`      // the likeliest first
	Checks      []string `yaml:"checks"`
	Fixes       []string `yaml:"fixes"`
}

// Cause is one reason of a status or an errno, and how it shows.
type Cause struct {
	Cause string `yaml:"cause"`
	Tell  string `yaml:"tell"`  // what tells it from the others
	Check string `yaml:"check"` // where to look
	Fix   string `yaml:"fix"`
}

// Syndrome is one value of vendor_err of a provider.
type Syndrome struct {
	Value     uint32 `yaml:"value"`
	Status    int    `yaml:"status"` // that it comes with; 0: any
	Meaning   string `yaml:"meaning"`
	Authority string `yaml:"authority"` // who says so: a header, or public logs only
}

// Event is an asynchronous event (enum ibv_event_type).
type Event struct {
	Number int    `yaml:"number"`
	Name   string `yaml:"name"`
	Means  string `yaml:"means"`
	Cause  string `yaml:"cause"`
}

// reject is a reason of RDMA_CM_EVENT_REJECTED (enum ib_cm_rej_reason).
type reject struct {
	Reason int    `yaml:"reason"`
	Means  string `yaml:"means"`
}

type statusTable struct {
	ReadingRules []string              `yaml:"reading_rules"`
	StateEffect  map[string]string     `yaml:"state_effect"`
	Statuses     []Completion          `yaml:"statuses"`
	Vendors      map[string][]Syndrome `yaml:"vendors"`
	Events       []Event               `yaml:"events"`
	Rejects      []reject              `yaml:"rejects"`
}

//go:embed statuses.yaml
var statusesFile []byte

var statuses = sync.OnceValue(func() statusTable {
	var t statusTable
	if err := yaml.Unmarshal(statusesFile, &t); err != nil {
		panic("status: read statuses.yaml: " + err.Error()) // It is compiled in, and a test reads it.
	}
	return t
})

// Completions are all statuses, by number.
func Completions() []Completion { return statuses().Statuses }

// Of describes a status by its number.
func Of(number int) (Completion, bool) {
	for _, c := range statuses().Statuses {
		if c.Number == number {
			return c, true
		}
	}
	return Completion{}, false
}

// VendorErr describes vendor_err of a provider beside a status. It is private
// to the provider: the same value means another thing elsewhere.
func VendorErr(provider string, value uint32, number int) (Syndrome, bool) {
	for _, s := range statuses().Vendors[provider] {
		if s.Value == value && (s.Status == 0 || s.Status == number) {
			return s, true
		}
	}
	return Syndrome{}, false
}

// EventOf describes an asynchronous event by its name in verbs.h.
func EventOf(name string) (Event, bool) {
	for _, e := range statuses().Events {
		if e.Name == name {
			return e, true
		}
	}
	return Event{}, false
}

// Reject says what a reason of RDMA_CM_EVENT_REJECTED means on InfiniBand and
// RoCE. iWARP gives a negative errno instead.
func Reject(reason int) (string, bool) {
	for _, r := range statuses().Rejects {
		if r.Reason == reason {
			return r.Means, true
		}
	}
	return "", false
}
