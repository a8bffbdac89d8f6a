//go:build cgo && linux && !noverbs

package verbs

import (
	"testing"
	"time"
)

// What a loop costs by itself: the fake completes at once, so a message costs
// the fake's own work (a lock, a copy) and the loop around it.
func BenchmarkPerMessage(b *testing.B) {
	for _, c := range []struct {
		name string
		l    Loop
		run  func(*testing.B, Loop) time.Duration
	}{
		{"read-latency", Loop{Op: OpRDMARead, Size: 2}, func(b *testing.B, l Loop) time.Duration {
			got, err := l.Latency(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			return got.Took
		}},
		{"write-stream", Loop{Op: OpRDMAWrite, Size: 8, InlineMax: 64}, stream},
		{"write-stream-all-signaled", Loop{Op: OpRDMAWrite, Size: 8, InlineMax: 64, CQMod: 1}, stream},
	} {
		b.Run(c.name, func(b *testing.B) {
			lib := load(b, "")
			x, y := newEnd(b, lib, RC, AccessAll), newEnd(b, lib, RC, AccessAll)
			c.l.Lanes, _ = lanes(b, lib, x, y, 1, c.l.Size)
			c.l.Iterations = max(b.N, 2)
			b.ResetTimer()
			took := c.run(b, c.l)
			b.StopTimer()
			b.ReportMetric(float64(took.Nanoseconds())/float64(c.l.Iterations), "ns/message")
		})
	}
}

func stream(b *testing.B, l Loop) time.Duration {
	got, err := l.Stream(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return got.Took
}
