package tui

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// never is a collection time that a test does not wait out.
const never = time.Hour

func TestFeedBatchesUntilTheEnd(t *testing.T) {
	f := NewFeed(t.Context())
	f.Run(&report.Run{Host: "a"})
	f.Progress(&report.Progress{Step: "collect"})
	f.Summary(&report.Summary{Status: "pass"})
	f.End(nil)
	first := f.take(never)
	if len(first.items) != 3 || first.items[2].msg.Summary == nil || first.closed {
		t.Errorf("first batch: %d items, closed %v; want the three up to the summary", len(first.items), first.closed)
	}
	second := f.take(never)
	if len(second.items) != 1 || !second.items[0].end {
		t.Errorf("second batch: %+v, want the end alone", second.items)
	}
}

func TestFeedLeavesNoRunWaiting(t *testing.T) {
	f := NewFeed(t.Context())
	for range feedDepth {
		if err := f.Gap(nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Progress(&report.Progress{}); err != nil {
		t.Errorf("progress into a full feed: %v, want it dropped", err)
	}
	blocked := make(chan error)
	go func() { blocked <- f.Gap(nil) }()
	f.Close()
	select {
	case err := <-blocked:
		if !errors.Is(err, ErrClosed) {
			t.Errorf("blocked sender: %v, want %v", err, ErrClosed)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a closed feed holds its sender")
	}
	if err := f.End(nil); !errors.Is(err, ErrClosed) {
		t.Errorf("send after close: %v, want %v", err, ErrClosed)
	}
	if b := f.take(never); !b.closed || len(b.items) != feedDepth {
		t.Errorf("after close: %d items, closed %v; want the %d that were queued", len(b.items), b.closed, feedDepth)
	}
}

func TestFeedEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := NewFeed(ctx)
	cancel()
	if err := f.Summary(&report.Summary{}); !errors.Is(err, context.Canceled) {
		t.Errorf("send: %v, want %v", err, context.Canceled)
	}
	if b := f.take(never); !b.closed || len(b.items) != 0 {
		t.Errorf("take: %+v, want closed and empty", b)
	}
}

func TestFeedBoundsABatch(t *testing.T) {
	f := NewFeed(t.Context())
	done := make(chan bool)
	go func() {
		defer close(done)
		for range batchMost + 10 {
			f.Gap(nil)
		}
	}()
	if b := f.take(never); len(b.items) != batchMost {
		t.Errorf("batch of %d, want %d", len(b.items), batchMost)
	}
	<-done
}
