package probes

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// TestSummarize: nearest rank over all samples, whatever their order.
func TestSummarize(t *testing.T) {
	var up []float64
	for i := range 1000 {
		up = append(up, float64(i+1))
	}
	want := &facts.Quantiles{Count: 1000, Min: 1, P50: 500, P99: 990, P999: 999, Max: 1000, Mean: 500.5}
	down := slices.Clone(up)
	slices.Reverse(down)
	for _, s := range [][]float64{up, down} {
		if d := cmp.Diff(want, Summarize(s)); d != "" {
			t.Error(d)
		}
	}
	if up[0] != 1 || down[0] != 1000 {
		t.Error("the samples were sorted in place")
	}
	if d := cmp.Diff(&facts.Quantiles{Count: 1, Min: 7, P50: 7, P99: 7, P999: 7, Max: 7, Mean: 7}, Summarize([]float64{7})); d != "" {
		t.Error(d)
	}
	if q := Summarize([]float64{1, 2}); q.P50 != 1 || q.P99 != 2 {
		t.Errorf("two samples: %+v", q)
	}
	if Summarize(nil) != nil {
		t.Error("no samples have no quantiles")
	}
}

// TestMedianInterval: of many draws from a known distribution the interval
// holds the true median in about 95 of 100.
func TestMedianInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 100, 1001} {
		held := 0
		const draws = 2000
		for range draws {
			s := make([]float64, n)
			for i := range s {
				s[i] = r.ExpFloat64() // Skewed, as latencies are; its median is ln 2.
			}
			low, high, ok := MedianInterval(s)
			if !ok || low > high {
				t.Fatalf("n %d: %g to %g, %t", n, low, high, ok)
			}
			if low <= math.Ln2 && math.Ln2 <= high {
				held++
			}
		}
		if share := float64(held) / draws; share < 0.94 || share > 0.995 && n > 10 { // Ten ranks are coarse.
			t.Errorf("n %d: the interval holds the median in %.3f of the draws", n, share)
		}
	}
	if _, _, ok := MedianInterval([]float64{1, 2, 3, 4, 5}); ok {
		t.Error("five samples hold no 95 % interval")
	}
}

func TestRecorder(t *testing.T) {
	r := NewRecorder()
	if r.Quantiles() != nil || len(r.Histogram().Counts) != 0 {
		t.Error("an empty recorder has no figures")
	}
	var all []float64
	src := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		ns := 1000 + src.ExpFloat64()*500
		all = append(all, math.Floor(ns))
		r.Record(ns)
	}
	got, want := r.Quantiles(), Summarize(all)
	for name, pair := range map[string][2]float64{"p50": {got.P50, want.P50}, "p99": {got.P99, want.P99},
		"p99.9": {got.P999, want.P999}, "max": {got.Max, want.Max}, "min": {got.Min, want.Min}} {
		if math.Abs(pair[0]-pair[1]) > 0.001*pair[1]+1 {
			t.Errorf("%s is %g, and %g by the raw samples", name, pair[0], pair[1])
		}
	}
	m := &facts.Measurement{Histogram: r.Histogram()}
	if p99, ok := m.Quantile(0.99); !ok || math.Abs(p99-want.P99) > 0.001*want.P99+1 {
		t.Errorf("p99 recomputed from the histogram is %g, want %g", p99, want.P99)
	}
	var n uint64
	for _, c := range m.Histogram.Counts {
		n += c
	}
	if n != 100_000 || !slices.IsSorted(m.Histogram.UpperBounds) {
		t.Errorf("%d counted, bounds sorted %t", n, slices.IsSorted(m.Histogram.UpperBounds))
	}
	r.Record(float64(2 * time.Minute))
	r.Record(math.Inf(1))
	r.Record(-5)
	if r.Longer() != 2 || r.Quantiles().Count != 100_003 || r.Quantiles().Min != 1 {
		t.Errorf("out of range: %d longer, %+v", r.Longer(), r.Quantiles())
	}
}

func TestWindows(t *testing.T) {
	if d := cmp.Diff([]float64{1, 5, 9}, Windows([]float64{1, 1, 5, 5, 9, 9, 9}, 3)); d != "" {
		t.Error(d)
	}
	if Windows([]float64{1}, 2) != nil || Windows(nil, 0) != nil {
		t.Error("fewer samples than windows have none")
	}
}
