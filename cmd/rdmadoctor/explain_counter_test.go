package main

import (
	"strings"
	"testing"
)

func TestExplainCounter(t *testing.T) {
	for _, tc := range []struct {
		name  string
		count int
		text  []string
	}{
		{"out_of_buffer", 1, []string{"no receive WQE", "hw_counters; packets; receive-not-ready; this host as receiver; 32 bits, wraps"}},
		{"symbol_error", 1, []string{"16 bits, stops at its maximum", "Threshold: 10 since cleared (rdma-core's"}},
		{"rx_prio3_pause", 1, []string{"ethtool -S; frames; congestion-tx"}},
		{"link_downed", 2, []string{"ports/N/counters", "hw_counters"}},
		{"corrected_blocks", 1, []string{"ethtool -I --show-fec"}},
		{"made_up", 0, nil},
		{"", 0, nil},
	} {
		cs := counterMeanings(tc.name)
		if len(cs) != tc.count {
			t.Errorf("%q has %d meanings, want %d", tc.name, len(cs), tc.count)
		}
		text := strings.Join(strings.Fields(counterText(cs, 80)), " ")
		for _, want := range tc.text {
			if !strings.Contains(text, want) {
				t.Errorf("%q: no %q in %q", tc.name, want, text)
			}
		}
	}
}
