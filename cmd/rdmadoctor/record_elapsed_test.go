package main

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/recording"
)

// A recording says how far apart each source's readings were. Without that a
// replay would judge shares of time by another interval than the live run.
func TestRecordElapsed(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const interval = 20 * time.Millisecond
	file := filepath.Join(t.TempDir(), "host.tar.gz")
	if out, err := command(ctx, "record", "--interval", interval.String(), "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Elapsed()) == 0 {
		t.Error("no source says how far apart its readings were")
	}
	for src, d := range r.Elapsed() {
		if d < interval {
			t.Errorf("%s: %v between readings, want %v at least", src, d, interval)
		}
	}
}
