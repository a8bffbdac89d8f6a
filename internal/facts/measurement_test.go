package facts

import (
	"testing"
	"time"
)

func TestQuantileIsByNearestRank(t *testing.T) {
	m := &Measurement{Samples: []float64{5, 1, 3, 2, 4}}
	for q, want := range map[float64]float64{0: 1, 0.2: 1, 0.5: 3, 0.8: 4, 0.99: 5, 1: 5} {
		if got, ok := m.Quantile(q); !ok || got != want {
			t.Errorf("%g: %g, want %g", q, got, want)
		}
	}
	h := &Measurement{Histogram: &Histogram{UpperBounds: []float64{10, 20, 30}, Counts: []uint64{0, 98, 2}}}
	for q, want := range map[float64]float64{0: 20, 0.5: 20, 0.98: 20, 0.99: 30, 1: 30} {
		if got, ok := h.Quantile(q); !ok || got != want {
			t.Errorf("histogram %g: %g, want %g", q, got, want)
		}
	}
	if _, ok := (&Measurement{Histogram: &Histogram{UpperBounds: []float64{1}, Counts: []uint64{1, 2}}}).Quantile(0.5); ok {
		t.Error("more counts than bounds have no quantile")
	}
	s := &Measurement{Quantiles: &Quantiles{Count: 3, P50: 7}}
	if got, ok := s.Quantile(0.5); !ok || got != 7 {
		t.Errorf("told median is %g", got)
	}
	if _, ok := s.Quantile(0.75); ok {
		t.Error("what was not told is not known")
	}
	if _, ok := (&Measurement{}).Quantile(0.5); ok {
		t.Error("nothing has no median")
	}
}

func TestFigure(t *testing.T) {
	failed := "no"
	for _, c := range []struct {
		m    Measurement
		want float64
		ok   bool
	}{
		{Measurement{Unit: "bit/s", Bytes: 1e9, Time: 2 * time.Second, Samples: []float64{1}}, 4e9, true},
		{Measurement{Unit: "bit/s", Samples: []float64{1, 2, 3}}, 2, true},
		{Measurement{Unit: "messages/s", Messages: 100, Time: time.Second}, 100, true},
		{Measurement{Unit: "ns", Samples: []float64{9, 8, 7}, Bytes: 5, Time: 1}, 8, true},
		{Measurement{Unit: "ns", Samples: []float64{9}, Error: &failed}, 0, false},
		{Measurement{Unit: "bit/s"}, 0, false},
	} {
		if got, ok := c.m.Figure(); ok != c.ok || got != c.want {
			t.Errorf("%+v: %g %t", c.m, got, ok)
		}
	}
}
