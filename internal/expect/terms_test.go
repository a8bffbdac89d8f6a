package expect

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func TestTerms(t *testing.T) {
	ms := []*facts.Measurement{
		{Probe: "bandwidth", Op: "write", Unit: "bit/s", Bytes: 100e9, Time: 10 * time.Second, CPU: 5 * time.Second},
		{Probe: "bandwidth", Op: "write", Unit: "bit/s", Bytes: 150e9, Time: 10 * time.Second, Direction: "both"},
		{Probe: "bandwidth", Op: "write", Unit: "bit/s", Bytes: 190e9, Time: 10 * time.Second, Mode: "loaded"},
		{Probe: "message-rate", Op: "write", Unit: "messages/s", Messages: 9e6, Time: time.Second, SizeBytes: 8, QPs: 4},
	}
	want := []string{"10 GB of KV cache take 1 s at 80 Gb/s",
		"one all-reduce of 1 GB over a ring of 8 hosts takes 175 ms on the wire (each sends 1.75 GB)",
		"this end's process takes 0.01 of a core for each Gb/s",
		"messages of 8 bytes: 9 M messages/s with 4 QPs"}
	if d := cmp.Diff(want, Terms(ms)); d != "" {
		t.Error(d)
	}
	if got := Terms(nil); got != nil {
		t.Errorf("nothing measured says %q", got)
	}
}

func TestScale(t *testing.T) {
	if HostsFor(131072, 8) != 2049 || QPsFor(2049, 8) != 131072 || QPsFor(2050, 8) <= 131072 {
		t.Errorf("%d hosts, %d QPs", HostsFor(131072, 8), QPsFor(2049, 8))
	}
	if HostsFor(0, 8) != 0 || HostsFor(10, 0) != 0 || QPsFor(0, 8) != 0 || Scale(facts.DeviceLimits{}) != "" {
		t.Error("what is not known says nothing")
	}
}
