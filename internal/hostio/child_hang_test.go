package hostio

import (
	"context"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

// hangDeadline is short where an op hangs for certain, so that tests are quick.
// Nothing asserts how long anything took.
const hangDeadline = 300 * time.Millisecond

func TestChildLeavesHungOpBehind(t *testing.T) {
	c, asked := testChild(t)
	c.Deadline = hangDeadline
	rs := c.Do(t.Context(), files("/a/ok", "/b/hang", "/b/same-directory", "/c/ok"))
	want := []error{nil, ErrTimedOut, ErrNotTried, nil}
	for i, w := range want {
		if rs[i].Err() != w {
			t.Errorf("op %d: %v, want %v", i, rs[i].Err(), w)
		}
	}
	if got := c.Started(); got != 2 {
		t.Errorf("%d children, want 2: the one that hung and one more", got)
	}
	// The second sample: the directory is not tried again.
	if rs := c.Do(t.Context(), files("/b/hang", "/a/ok")); !rs[0].TimedOut || rs[1].Err() != nil {
		t.Errorf("second sample: %+v", rs)
	}
	if got := c.Started(); got != 2 {
		t.Errorf("%d children after the second sample, want 2", got)
	}
	if got, want := asked(), []string{"start", "/a/ok", "/b/hang", "start", "/c/ok", "/a/ok"}; !slices.Equal(got, want) {
		t.Errorf("children were asked %v, want %v", got, want)
	}
}

func TestChildSecondHangBlocksDevice(t *testing.T) {
	c, asked := testChild(t)
	c.Deadline = hangDeadline
	const dev = "/sys/class/infiniband/mlx5_0/"
	rs := c.Do(t.Context(), append(files(
		dev+"ports/1/hw_counters/hang", dev+"ports/1/counters/hang", dev+"ports/2/counters/ok", dev+"fw_ver",
		"/sys/class/infiniband/mlx5_1/fw_ver"),
		Op{Kind: Netlink, Name: "rdma/stat-get.mlx5_0/1"},
		Op{Kind: Netlink, Name: "rdma/stat-get.mlx5_1/1"}))
	for i, timedOut := range []bool{true, true, true, true, false, true, false} {
		if rs[i].TimedOut != timedOut {
			t.Errorf("op %d timed out: %v, want %v", i, rs[i].TimedOut, timedOut)
		}
	}
	if got := len(asked()); got != 3+4 {
		t.Errorf("children were asked %v, want 3 starts and 4 ops", asked())
	}
}

func TestChildCrashCostsOneOp(t *testing.T) {
	for _, kind := range []string{"crash", "panic", "lie-id", "lie-size", "garbage"} {
		t.Run(kind, func(t *testing.T) {
			c, _ := testChild(t)
			c.Deadline = time.Minute
			rs := c.Do(t.Context(), files("/a/ok", "/a/"+kind, "/a/ok", "/a/"+kind, "/a/ok"))
			for i, r := range rs {
				if want := map[bool]syscall.Errno{true: syscall.EIO}[i%2 == 1]; r.Errno != want || r.TimedOut {
					t.Errorf("op %d: %+v, want errno %d", i, r, want)
				}
			}
			// One that dies with the batch, one for each op that breaks it, one for
			// the rest.
			if got := c.Started(); got != 4 {
				t.Errorf("%d children, want 4", got)
			}
			if c.Do(t.Context(), files("/a/ok", "/b/ok")); c.Started() != 4 {
				t.Errorf("%d children after a batch without trouble, want 4", c.Started())
			}
		})
	}
}

// A process that is kept from running, or has much to do, is not hung.
func TestChildBusyIsNotHung(t *testing.T) {
	c, _ := testChild(t)
	c.Deadline = hangDeadline
	rs := c.Do(t.Context(), files("/a/ok", "/a/busy", "/a/ok"))
	for i, r := range rs {
		if r.Err() != nil {
			t.Errorf("op %d: %+v", i, r)
		}
	}
	if got := c.Started(); got != 1 {
		t.Errorf("%d children, want 1", got)
	}
}

func TestChildBusyForeverIsHung(t *testing.T) {
	c, _ := testChild(t)
	c.Deadline = hangDeadline / 3
	if rs := c.Do(t.Context(), files("/a/spin", "/b/ok")); !rs[0].TimedOut || rs[1].Err() != nil {
		t.Errorf("results %+v", rs)
	}
}

func TestChildTimeoutOfItsOwnTrips(t *testing.T) {
	c, asked := testChild(t)
	rs := c.Do(t.Context(), files("/a/self-timeout", "/a/next", "/b/ok"))
	if !rs[0].TimedOut || !rs[1].TimedOut || rs[2].Err() != nil {
		t.Errorf("results %+v", rs)
	}
	if slices.Contains(asked()[2:], "/a/self-timeout") {
		t.Errorf("asked again: %v", asked())
	}
}

func TestChildGivesUpAfterTooMany(t *testing.T) {
	c, _ := testChild(t)
	var ops []Op
	for range maxChildren + 5 {
		ops = append(ops, Op{Kind: ReadFile, Name: "/a/crash"})
	}
	c.Deadline = time.Minute
	rs := c.Do(t.Context(), ops)
	if got := c.Started(); got != maxChildren {
		t.Errorf("%d children, want %d", got, maxChildren)
	}
	if rs[len(rs)-1].Errno != syscall.EIO {
		t.Errorf("last result %+v, want EIO", rs[len(rs)-1])
	}
}

func TestChildStopsWithContext(t *testing.T) {
	c, _ := testChild(t)
	c.Deadline = time.Hour
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.Do(ctx, files("/a/ok"))
	go cancel()
	rs := c.Do(ctx, files("/a/hang", "/b/ok"))
	if rs[0].Err() != ErrNotTried || rs[1].Err() != ErrNotTried {
		t.Errorf("results %+v, want none tried", rs)
	}
	// The end of the run is no fault of the directory.
	if rs := c.Do(t.Context(), files("/a/ok")); rs[0].Err() != nil {
		t.Errorf("after a cancelled run: %+v", rs[0])
	}
}

func TestChildThatCannotStart(t *testing.T) {
	for name, tc := range map[string]struct {
		c    *Child
		want syscall.Errno
	}{
		"no file":     {NewChild(t.TempDir() + "/absent"), syscall.ENOENT},
		"no greeting": {func() *Child { c, _ := testChild(t, "mute"); c.Start = hangDeadline; return c }(), syscall.ETIMEDOUT},
		"wrong one":   {func() *Child { c, _ := testChild(t, "rude"); return c }(), syscall.EPROTO},
	} {
		for range 2 {
			rs := tc.c.Do(t.Context(), files("/a/ok", "/b/ok"))
			if rs[0].Errno != tc.want || rs[1].Errno != tc.want {
				t.Errorf("%s: %+v, want %v", name, rs, tc.want)
			}
		}
		if got := tc.c.Started(); got != 1 {
			t.Errorf("%s: tried %d times, want once", name, got)
		}
	}
}

func TestChildKilledIsReaped(t *testing.T) {
	c, _ := testChild(t)
	c.Do(t.Context(), files("/a/ok"))
	p := c.current
	c.Close()
	<-p.gone
	if err := p.cmd.Process.Signal(syscall.Signal(0)); err != os.ErrProcessDone {
		t.Errorf("process is still there: %v", err)
	}
}
