// Package probes makes active probes: pure Go over the calls of internal/verbs. It
// measures and never judges.
package probes

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Summarize sums all samples up, with quantiles by nearest rank: each is one of
// the samples, and none is left out or interpolated. It is nil without samples.
func Summarize(samples []float64) *facts.Quantiles {
	n := len(samples)
	if n == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(samples))
	q := &facts.Quantiles{Count: n, Min: s[0], P50: s[nearest(0.5, n)], P99: s[nearest(0.99, n)], P999: s[nearest(0.999, n)], Max: s[n-1]}
	// The mean is taken from the smallest up, so that it does not depend on the
	// order in which the samples came.
	for _, v := range s {
		q.Mean += v
	}
	q.Mean /= float64(n)
	return q
}

// nearest is the index of the nearest rank of q among n sorted samples: the
// smallest that a share q of the samples does not exceed.
func nearest(q float64, n int) int {
	return min(max(int(math.Ceil(q*float64(n)))-1, 0), n-1)
}

// MedianInterval is where the median of what the samples are drawn from lies
// with 95 percent confidence, by order statistics, which asks nothing of the
// shape of the distribution. It is false for fewer than six samples, which hold
// no such interval. Samples that follow each other closely are not independent,
// so on a disturbed host the interval is too narrow.
func MedianInterval(samples []float64) (low, high float64, ok bool) {
	n := len(samples)
	if n < 6 {
		return 0, 0, false
	}
	s := slices.Sorted(slices.Values(samples))
	// Ranks n/2 -+ 1.96 * sqrt(n)/2 of the binomial distribution's normal form.
	half := 1.96 * math.Sqrt(float64(n)) / 2
	from := max(int(math.Floor(float64(n)/2-half)), 1)
	to := min(int(math.Ceil(1+float64(n)/2+half)), n)
	return s[from-1], s[to-1], true
}

// A Recorder counts durations of a long run in buckets of three significant
// digits, from one nanosecond to a minute: a run of hours takes no more memory
// than one of a second. What is longer is counted in the last bucket.
type Recorder struct {
	h      *hdrhistogram.Histogram
	longer int64
}

// longest is the largest duration that has a bucket of its own.
const longest = int64(time.Minute)

// NewRecorder makes an empty recorder.
func NewRecorder() *Recorder { return &Recorder{h: hdrhistogram.New(1, longest, 3)} }

// Record counts one duration in nanoseconds. What is below one counts as one.
func (r *Recorder) Record(ns float64) {
	v := int64(max(ns, 1))
	if v > longest || math.IsInf(ns, 1) {
		v = longest
		r.longer++
	}
	_ = r.h.RecordValue(v) // It is in range.
}

// Longer is how many durations were over a minute.
func (r *Recorder) Longer() int64 { return r.longer }

// Quantiles sum up what was counted. Each is the upper bound of its bucket, at
// most a thousandth above the duration itself; the mean is of the buckets. It
// is nil where nothing was counted.
func (r *Recorder) Quantiles() *facts.Quantiles {
	n := r.h.TotalCount()
	if n == 0 {
		return nil
	}
	at := func(percent float64) float64 { return float64(r.h.ValueAtPercentile(percent)) }
	return &facts.Quantiles{Count: int(n), Min: float64(r.h.Min()), P50: at(50), P99: at(99), P999: at(99.9), Max: float64(r.h.Max()), Mean: r.h.Mean()}
}

// Histogram is what was counted, without empty buckets.
func (r *Recorder) Histogram() *facts.Histogram {
	h := &facts.Histogram{UpperBounds: []float64{}, Counts: []uint64{}}
	for _, bar := range r.h.Distribution() {
		if bar.Count > 0 {
			h.UpperBounds = append(h.UpperBounds, float64(bar.To))
			h.Counts = append(h.Counts, uint64(bar.Count))
		}
	}
	return h
}

// Windows cuts samples that followed each other into n parts and gives the
// median of each: how a figure went over time. The last part takes what is
// left. It is nil where there are fewer samples than parts.
func Windows(samples []float64, n int) []float64 {
	if n <= 0 || len(samples) < n {
		return nil
	}
	medians := make([]float64, n)
	for i := range n {
		part := samples[i*len(samples)/n : (i+1)*len(samples)/n]
		medians[i] = Summarize(part).P50
	}
	return medians
}
