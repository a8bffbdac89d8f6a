//go:build cgo && linux && !noverbs

package verbs

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lanes connects n further QPs of two ends, and gives both ends' lanes. All
// share the ends' CQs and memory.
func lanes(t testing.TB, l *Library, a, b *end, n, size int) (la, lb []Lane) {
	t.Helper()
	room := LaneBytes(size)
	for i := range n {
		qa, qb := *a, *b
		for _, e := range []*end{&qa, &qb} {
			qp, err := e.pd.CreateQP(QPInit{Type: RC, SendCQ: e.send, RecvCQ: e.recv, Caps: QPCaps{MaxSendWR: 128, MaxRecvWR: 512, MaxInlineData: 236}})
			if err != nil {
				t.Fatal(err)
			}
			e.qp = qp
		}
		connect(t, &qa, &qb)
		at := uint64(i) * 2 * room
		lane := func(e, peer *end) Lane {
			return Lane{QP: e.qp, MR: e.mr, SendOffset: at, RecvOffset: at + room, RemoteAddr: peer.mr.Addr() + at + room, RKey: peer.mr.RKey()}
		}
		la, lb = append(la, lane(&qa, &qb)), append(lb, lane(&qb, &qa))
	}
	return la, lb
}

// twoEnds prepares a loop at two ends and runs something at each. The second
// one's part ends when ctx does.
func twoEnds(t testing.TB, script string, l Loop, qps int, first, second func(context.Context, Loop) error) (error, error) {
	t.Helper()
	lib := load(t, script)
	a, b := newEnd(t, lib, RC, AccessAll), newEnd(t, lib, RC, AccessAll)
	la, lb := lanes(t, lib, a, b, qps, l.Size)
	if l.Limit == 0 {
		l.Limit = 20 * time.Second
	}
	l1, l2 := l, l
	l1.Lanes, l2.Lanes, l1.Initiator = la, lb, true
	for _, e := range []Loop{l1, l2} {
		if err := e.Prepare(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	var err1, err2 error
	wg.Go(func() { err2 = second(ctx, l2) })
	err1 = first(ctx, l1)
	if l.Iterations == 0 {
		cancel()
	}
	wg.Wait()
	return err1, err2
}

func none(context.Context, Loop) error { return nil }

func TestLatency(t *testing.T) {
	for _, c := range []struct {
		name string
		op   Opcode
		l    Loop
		both bool
		want int
	}{
		{"write", OpRDMAWrite, Loop{Size: 2, Iterations: 500, InlineMax: InlineWrite}, true, 499},
		{"write of 4 KiB", OpRDMAWrite, Loop{Size: 4096, Iterations: 300}, true, 299},
		{"send", OpSend, Loop{Size: 2, Iterations: 700, InlineMax: InlineSend}, true, 699},
		{"send with events", OpSend, Loop{Size: 64, Iterations: 300, Events: true}, true, 299},
		{"read", OpRDMARead, Loop{Size: 2, Iterations: 500}, false, 500},
		{"read with events", OpRDMARead, Loop{Size: 2, Iterations: 100, Events: true}, false, 100},
		{"fetch and add", OpFetchAdd, Loop{Iterations: 100}, false, 100},
		{"compare and swap", OpCompSwap, Loop{Iterations: 100}, false, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.l.Op = c.op
			var got [2]Latency
			run := func(i int) func(context.Context, Loop) error {
				return func(ctx context.Context, l Loop) (err error) {
					got[i], err = l.Latency(ctx)
					return err
				}
			}
			second := none
			if c.both {
				second = run(1)
			}
			err1, err2 := twoEnds(t, "", c.l, 1, run(0), second)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			for i, g := range got {
				if i == 1 && !c.both {
					continue
				}
				if len(g.Samples) != c.want {
					t.Errorf("end %d: %d samples, want %d", i, len(g.Samples), c.want)
				}
				var sum time.Duration
				for _, s := range g.Samples {
					if s < 0 {
						t.Fatalf("end %d: negative sample %v", i, s)
					}
					sum += s
				}
				if sum > g.Took {
					t.Errorf("end %d: samples sum to %v in %v", i, sum, g.Took)
				}
			}
		})
	}
}

// The latency that the device has is the latency that is measured: never
// less, since the fake completes nothing before.
func TestLatencyIsTheDevices(t *testing.T) {
	const device = 50 * time.Microsecond
	var got Latency
	err, _ := twoEnds(t, "latency 50000", Loop{Op: OpRDMARead, Size: 8, Iterations: 200}, 1, func(ctx context.Context, l Loop) (err error) {
		got, err = l.Latency(ctx)
		return err
	}, none)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range got.Samples {
		if s < device {
			t.Fatalf("sample %d is %v, the device takes %v", i, s, device)
		}
	}
}

func TestStreams(t *testing.T) {
	for _, c := range []struct {
		name string
		l    Loop
		qps  int
	}{
		{"write 64 KiB", Loop{Op: OpRDMAWrite, Size: 65536, Iterations: 300}, 1},
		{"write 8 B on 4 QPs", Loop{Op: OpRDMAWrite, Size: 8, Iterations: 1234, InlineMax: 64}, 4},
		{"read", Loop{Op: OpRDMARead, Size: 4096, Iterations: 300, Depth: 16}, 2},
		{"one message", Loop{Op: OpRDMAWrite, Size: 1, Iterations: 1}, 1},
		{"odd moderation", Loop{Op: OpRDMAWrite, Size: 64, Iterations: 1001, CQMod: 7, Depth: 11}, 2},
		{"send 4 KiB on 2 QPs", Loop{Op: OpSend, Size: 4096, Iterations: 1500}, 2},
		{"send with few receives", Loop{Op: OpSend, Size: 8, Iterations: 200, RxDepth: 2}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var sent, got Flow
			second := none
			if c.l.Op == OpSend {
				second = func(ctx context.Context, l Loop) (err error) {
					got, err = l.Sink(ctx)
					return err
				}
			}
			err1, err2 := twoEnds(t, "", c.l, c.qps, func(ctx context.Context, l Loop) (err error) {
				sent, err = l.Stream(ctx)
				return err
			}, second)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			want := uint64(c.l.Iterations * c.qps)
			if sent.Messages != want || sent.Bytes != want*uint64(c.l.Size) || sent.Took <= 0 {
				t.Errorf("sent %+v, want %d messages", sent, want)
			}
			if c.l.Op == OpSend && got.Messages != want {
				t.Errorf("received %d messages, want %d", got.Messages, want)
			}
			checkMarks(t, sent)
		})
	}
}

func checkMarks(t *testing.T, f Flow) {
	t.Helper()
	var last Mark
	for _, m := range f.Marks {
		if m.Messages <= last.Messages || m.After < last.After || m.After > f.Took {
			t.Errorf("mark %+v after %+v in %v", m, last, f.Took)
		}
		last = m
	}
	if len(f.Marks) == 0 || last.Messages != f.Messages {
		t.Errorf("the last of %d marks is %+v, want %d messages", len(f.Marks), last, f.Messages)
	}
}

// A stream for a time ends, with nothing in flight that is not counted.
func TestStreamForATime(t *testing.T) {
	var got Flow
	err, _ := twoEnds(t, "", Loop{Op: OpRDMAWrite, Size: 64, Duration: 20 * time.Millisecond, CQMod: 10}, 2, func(ctx context.Context, l Loop) (err error) {
		got, err = l.Stream(ctx)
		if err != nil {
			return err
		}
		// Again on the same QPs: the first left no room taken.
		_, err = l.Stream(ctx)
		return err
	}, none)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages == 0 || got.Took < 20*time.Millisecond || got.BitsPerSecond() <= 0 || got.MessagesPerSecond() <= 0 {
		t.Errorf("%+v", got)
	}
}

func TestSinkEndsWithItsContext(t *testing.T) {
	lib := load(t, "")
	a, b := newEnd(t, lib, RC, AccessAll), newEnd(t, lib, RC, AccessAll)
	la, lb := lanes(t, lib, a, b, 1, 64)
	l := Loop{Lanes: lb, Op: OpSend, Size: 64}
	if err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	if f, err := (Loop{Lanes: la, Op: OpSend, Size: 64, Iterations: 100}).Stream(t.Context()); err != nil || f.Messages != 100 {
		t.Fatalf("stream: %+v %v", f, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if f, err := l.Sink(ctx); err != nil || f.Messages != 100 || f.Bytes != 6400 {
		t.Errorf("sink: %+v %v", f, err)
	}
}

func TestOrdering(t *testing.T) {
	for _, split := range []bool{false, true} {
		var got Ordering
		err1, err2 := twoEnds(t, "", Loop{Size: 1024, Iterations: 300, Split: split}, 1,
			func(ctx context.Context, l Loop) error { return l.OrderWriter(ctx) },
			func(ctx context.Context, l Loop) (err error) { got, err = l.OrderReader(ctx); return err })
		if err1 != nil || err2 != nil || got.Checked != 300 || got.Violations != 0 {
			t.Errorf("split %v: %+v %v %v", split, got, err1, err2)
		}
	}
	// A device that has every ninth small write arrive after the next one.
	var got Ordering
	err1, err2 := twoEnds(t, "disorder 9", Loop{Size: 32, Iterations: 90, Split: true}, 1,
		func(ctx context.Context, l Loop) error { return l.OrderWriter(ctx) },
		func(ctx context.Context, l Loop) (err error) { got, err = l.OrderReader(ctx); return err })
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if got.Checked != 90 || got.Violations == 0 || got.Words == 0 || got.First == 0 {
		t.Errorf("disorder was not seen: %+v", got)
	}
}

// Each way a loop can end badly has its error, and each ends.
func TestLoopsFail(t *testing.T) {
	latency := func(ctx context.Context, l Loop) error { _, err := l.Latency(ctx); return err }
	stream := func(ctx context.Context, l Loop) error { _, err := l.Stream(ctx); return err }
	read := Loop{Op: OpRDMARead, Size: 8, Iterations: 100}
	for _, c := range []struct {
		name, script string
		l            Loop
		run          func(context.Context, Loop) error
		want         func(error) bool
	}{
		{"status", "lie status 12", read, latency, isStatus(WCRetryExcErr)},
		{"status in a stream", "lie status 12", read, stream, isStatus(WCRetryExcErr)},
		{"wr_id", "lie wr-id", read, latency, is(ErrLied)},
		{"wr_id in a stream", "lie wr-id", read, stream, is(ErrLied)},
		{"opcode", "lie opcode 1", read, latency, is(ErrLied)},
		{"post", "fail post_send ENOMEM 5", read, latency, is(syscall.ENOMEM)},
		{"post in a stream", "fail post_send ENOMEM 5", read, stream, is(syscall.ENOMEM)},
		{"silence", "lie drop", Loop{Op: OpRDMARead, Size: 8, Iterations: 10, Limit: 5 * time.Millisecond}, latency, is(context.DeadlineExceeded)},
		{"silence in a stream", "lie drop", Loop{Op: OpRDMARead, Size: 8, Iterations: 10, Limit: 5 * time.Millisecond}, stream, is(context.DeadlineExceeded)},
		{"silent peer of a write", "", Loop{Op: OpRDMAWrite, Size: 8, Iterations: 10, Limit: 5 * time.Millisecond}, latency, is(context.DeadlineExceeded)},
		{"silent peer of a send", "", Loop{Op: OpSend, Size: 8, Iterations: 10, Limit: 5 * time.Millisecond}, latency, is(context.DeadlineExceeded)},
		{"silent peer, asleep", "", Loop{Op: OpSend, Size: 8, Iterations: 10, Limit: 5 * time.Millisecond, Events: true}, latency, is(context.DeadlineExceeded)},
		{"no iterations", "", Loop{Op: OpRDMARead, Size: 8}, latency, is(syscall.EINVAL)},
		{"no duration", "", Loop{Op: OpRDMARead, Size: 8}, stream, is(syscall.EINVAL)},
		{"too long for the memory", "", Loop{Op: OpRDMARead, Size: 1 << 21, Iterations: 1}, stream, is(syscall.ERANGE)},
	} {
		t.Run(c.name, func(t *testing.T) {
			size := c.l.Size
			lib := load(t, c.script)
			a, b := newEnd(t, lib, RC, AccessAll), newEnd(t, lib, RC, AccessAll)
			la, lb := lanes(t, lib, a, b, 1, min(size, 4096))
			c.l.Lanes, c.l.Initiator = la, true
			peer := c.l
			peer.Lanes = lb
			if size <= 4096 {
				if err := errors.Join(c.l.Prepare(), peer.Prepare()); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.run(t.Context(), c.l); err == nil || !c.want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func isStatus(s WCStatus) func(error) bool {
	return func(err error) bool {
		var w *WCError
		var l *LoopError
		return errors.As(err, &w) && w.Status == s && errors.As(err, &l) && l.QPN == w.QPN && l.Done == 0
	}
}

func TestLoopStops(t *testing.T) {
	for _, events := range []bool{false, true} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the user said so")
		l := Loop{Op: OpSend, Size: 8, Iterations: 10, Events: events}
		err, _ := twoEnds(t, "", l, 1, func(_ context.Context, l Loop) error {
			time.AfterFunc(5*time.Millisecond, func() { cancel(cause) })
			_, err := l.Latency(ctx)
			return err
		}, none)
		if !errors.Is(err, cause) {
			t.Errorf("events %v: %v, want %v", events, err, cause)
		}
		if _, err := l.Latency(ctx); err == nil {
			t.Error("a loop without QPs ran")
		}
	}
}

func TestPinnedLoopGoesBack(t *testing.T) {
	var got Latency
	l := Loop{Op: OpRDMARead, Size: 8, Iterations: 50, CPU: 1}
	err, _ := twoEnds(t, "", l, 1, func(ctx context.Context, l Loop) (err error) {
		got, err = l.Latency(ctx)
		return err
	}, none)
	if err != nil || len(got.Samples) != 50 {
		t.Errorf("%d samples, %v", len(got.Samples), err)
	}
	l.CPU = 100000
	err, _ = twoEnds(t, "", l, 1, func(ctx context.Context, l Loop) error { _, err := l.Latency(ctx); return err }, none)
	if !errors.Is(err, syscall.EINVAL) {
		t.Errorf("pinned to a CPU that is not there: %v", err)
	}
}
