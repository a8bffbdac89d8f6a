//go:build cgo && linux && !noverbs

package verbs

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

func TestFailuresKeepTheirErrno(t *testing.T) {
	for script, want := range map[string]struct {
		call string
		err  syscall.Errno
	}{
		"fail alloc_pd ENOMEM":            {"ibv_alloc_pd", syscall.ENOMEM},
		"fail create_comp_channel EMFILE": {"ibv_create_comp_channel", syscall.EMFILE},
		"fail create_cq ENOMEM 2":         {"ibv_create_cq", syscall.ENOMEM},
		"fail create_cq none":             {"ibv_create_cq", 0},
		"limit-mr 4096":                   {"ibv_reg_mr", syscall.ENOMEM},
		"max-inline 0":                    {"ibv_create_qp", syscall.EINVAL},
		"limit-qp 0\nmax-qp 0":            {"ibv_create_qp", syscall.ENOMEM},
		"fail open_device EACCES":         {"ibv_open_device", syscall.EACCES},
		"fail open_device ENODEV":         {"ibv_open_device", syscall.ENXIO},
	} {
		l := load(t, script)
		err := build(l)
		var e *Errno
		if !errors.As(err, &e) || e.Call != want.call || e.Errno != want.err {
			t.Errorf("%q: %v, want %s %v", script, err, want.call, want.err)
		}
		if want.err != 0 && !errors.Is(err, want.err) {
			t.Errorf("%q: errors.Is does not find %v in %v", script, want.err, err)
		}
	}
	if live := Live(); len(live) > 0 {
		t.Errorf("left open after failures: %v", live)
	}
}

// build makes one of each and closes the device.
func build(l *Library) error {
	c, err := l.Open("fake0")
	if err != nil {
		return err
	}
	defer c.Close()
	pd, err := c.AllocPD()
	if err != nil {
		return err
	}
	ch, err := c.CreateCompChannel()
	if err != nil {
		return err
	}
	cq, err := c.CreateCQ(16, ch)
	if err != nil {
		return err
	}
	if _, err := c.CreateCQ(16, nil); err != nil {
		return err
	}
	m, err := l.Alloc(8192)
	if err != nil {
		return err
	}
	defer m.Close()
	if _, err := pd.RegMR(m, 1, 8191, AccessAll); err != nil {
		return err
	}
	_, err = pd.CreateQP(QPInit{Type: RC, SendCQ: cq, Caps: QPCaps{MaxSendWR: 1, MaxInlineData: 16}})
	return err
}

func TestCloseIsIdempotentAndChildrenFirst(t *testing.T) {
	l := load(t, "")
	for range 1000 {
		if err := build(l); err != nil {
			t.Fatal(err)
		}
	}
	c, err := l.Open("fake0")
	if err != nil {
		t.Fatal(err)
	}
	pd, _ := c.AllocPD()
	cq, _ := c.CreateCQ(16, nil)
	qp, err := pd.CreateQP(QPInit{Type: RC, SendCQ: cq, Caps: QPCaps{MaxSendWR: 1, MaxRecvWR: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if got := Live(); got[KindQP] != 1 || got[KindContext] != 1 {
		t.Errorf("live: %v", got)
	}
	// The fake says EBUSY to a CQ that a QP uses.
	if err := cq.Close(); err != nil {
		t.Errorf("close CQ: %v", err)
	}
	if _, _, err := cq.Poll(); !errors.Is(err, ErrClosed) {
		t.Errorf("poll of a closed CQ: %v", err)
	}
	if err := qp.ToErr(); !errors.Is(err, ErrClosed) {
		t.Errorf("modify of a closed QP: %v", err)
	}
	for range 2 {
		if err := errors.Join(qp.Close(), cq.Close(), pd.Close(), c.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if live := Live(); len(live) > 0 {
		t.Errorf("live: %v", live)
	}
}

// A handle that cannot be closed is not forgotten.
func TestFailedCloseIsSeen(t *testing.T) {
	lib := fakeverbs.Build(t, "fail destroy_qp EBUSY")
	l, err := Load(Options{Verbs: lib})
	if err != nil {
		t.Fatal(err)
	}
	a := newEnd(t, l, RC, AccessAll)
	err = a.ctx.Close()
	if !errors.Is(err, syscall.EBUSY) {
		t.Errorf("close: %v, want EBUSY", err)
	}
	if got := Live(); got[KindQP] != 1 || got[KindContext] != 1 {
		t.Errorf("live after a failed close: %v", got)
	}
	fakeverbs.Script(t, lib, "")
	if _, err := l.Devices(); err != nil {
		t.Fatal(err)
	}
}

func TestWaitEnds(t *testing.T) {
	a, b := pair(t, "lie drop")
	if err := a.qp.PostSend(WR{Op: OpRDMAWrite, MR: a.mr, Length: 8, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()}); err != nil {
		t.Fatal(err)
	}
	for name, wait := range map[string]func(context.Context, time.Duration) (WC, error){"polling": a.send.Wait, "asleep": a.send.WaitEvent} {
		if _, err := wait(t.Context(), time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: deadline: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := wait(ctx, second); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: stop: %v", name, err)
		}
	}
}
