//go:build cgo && linux && !noverbs

package verbs

import (
	"context"
	"errors"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

var cmHost = netip.MustParseAddr("192.0.2.1")

func loadCM(t *testing.T, script string) *Library {
	t.Helper()
	lib := fakeverbs.Build(t, script)
	l, err := Load(Options{Verbs: lib, RDMACM: lib})
	if err != nil || l.CMErr() != nil {
		t.Fatal(err, l.CMErr())
	}
	return l
}

// cmEnd gives an ID what it needs for a QP.
func cmEnd(id *CMID) (*QP, *MR, error) {
	pd, err := id.Context().AllocPD()
	if err != nil {
		return nil, nil, err
	}
	cq, err := id.Context().CreateCQ(64, nil)
	if err != nil {
		return nil, nil, err
	}
	m, err := id.Context().Library().Alloc(4096)
	if err != nil {
		return nil, nil, err
	}
	mr, err := pd.RegMR(m, 0, 4096, AccessAll)
	if err != nil {
		return nil, nil, err
	}
	qp, err := id.CreateQP(pd, QPInit{Type: RC, SendCQ: cq, Caps: QPCaps{MaxSendWR: 16, MaxRecvWR: 16}})
	return qp, mr, err
}

// resolve makes an ID for the address.
func resolve(t *testing.T, l *Library, port uint16) (*CMID, error) {
	t.Helper()
	id, err := l.NewCMID()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := id.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := id.ResolveAddr(t.Context(), second, netip.Addr{}, netip.AddrPortFrom(cmHost, port)); err != nil {
		return id, err
	}
	return id, id.ResolveRoute(t.Context(), second)
}

func TestCMConnects(t *testing.T) {
	l := loadCM(t, "link iwarp")
	ear, err := l.CMListen(netip.AddrPortFrom(cmHost, 0))
	if err != nil || ear.Port() == 0 {
		t.Fatal(err, ear.Port())
	}
	defer ear.Close()
	type answered struct {
		id  *CMID
		qp  *QP
		mr  *MR
		err error
	}
	far := make(chan answered, 1)
	go func() {
		var a answered
		defer func() { far <- a }()
		if a.id, a.err = ear.Request(t.Context(), second); a.err != nil {
			return
		}
		if a.qp, a.mr, a.err = cmEnd(a.id); a.err == nil {
			a.err = a.id.Accept(t.Context(), second, CMParam{ResponderResources: 1, Data: []byte("pong")})
		}
	}()
	id, err := resolve(t, l, ear.Port())
	if err != nil {
		t.Fatal(err)
	}
	if id.Context().Name() != "fake0" || id.Port() != 1 {
		t.Errorf("device %s port %d", id.Context().Name(), id.Port())
	}
	qp, mr, err := cmEnd(id)
	if err != nil {
		t.Fatal(err)
	}
	defer mr.Memory().Close()
	err = id.Connect(t.Context(), second, CMParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 7, RNRRetryCount: 7, Data: []byte("ping")})
	a := <-far
	if err != nil || a.err != nil {
		t.Fatal(err, a.err)
	}
	defer a.mr.Memory().Close()
	defer a.id.Close()
	if string(a.id.Request().Data) != "ping" || a.id.Request().InitiatorDepth != 1 || string(id.Request().Data) != "pong" {
		t.Errorf("private data: request %+v, answer %+v", a.id.Request(), id.Request())
	}
	copy(mr.Bytes(), "by rdma_cm")
	if err := qp.PostSend(WR{Op: OpRDMAWrite, MR: mr, Length: 10, RemoteAddr: a.mr.Addr(), RKey: a.mr.RKey()}); err != nil {
		t.Fatal(err)
	}
	if wc, err := qp.SendCQ().Wait(t.Context(), second); err != nil || wc.Status != WCSuccess {
		t.Errorf("write: %+v %v", wc, err)
	}
	if got := string(a.mr.Bytes()[:10]); got != "by rdma_cm" {
		t.Errorf("written %q", got)
	}
	if _, err := id.Context().AsyncEvent(); !errors.Is(err, ErrNoEvent) {
		t.Errorf("event: %v", err)
	}
	if err := id.Disconnect(t.Context(), second); err != nil {
		t.Error(err)
	}
	if err := a.id.WaitDisconnected(t.Context(), second); err != nil {
		t.Error(err)
	}
	if got := qp.State(); got != QPStateErr {
		t.Errorf("QP is %v after disconnect", got)
	}
}

func TestCMFailures(t *testing.T) {
	event := func(e CMEventType, status int) func(error) bool {
		return func(err error) bool {
			var c *CMError
			return errors.As(err, &c) && c.Event == e && c.Status == status
		}
	}
	for script, want := range map[string]func(error) bool{
		"fail resolve_addr ENODEV": is(syscall.ENODEV),
		"no-devices":               is(syscall.ENODEV),
		"cm-event 0 1 -113":        event(CMAddrError, -113),
		"cm-event 2 3 -110":        event(CMRouteError, -110),
		"":                         event(CMRejected, 8),
		"link iwarp":               event(CMRejected, -111),
		"cm-event 8 7 -110":        event(CMUnreachable, -110),
		"fail connect EINVAL":      is(syscall.EINVAL),
	} {
		l := loadCM(t, script)
		id, err := resolve(t, l, 4791)
		if err == nil {
			err = id.Connect(t.Context(), second, CMParam{})
		}
		if !want(err) {
			t.Errorf("%q: %v", script, err)
		}
	}
	l := loadCM(t, "fail listen EACCES")
	if _, err := l.CMListen(netip.AddrPortFrom(cmHost, 1)); !errors.Is(err, syscall.EACCES) {
		t.Errorf("listen: %v", err)
	}
	for _, a := range []string{"0.0.0.0:1", "[::]:0"} {
		if _, err := l.CMListen(netip.MustParseAddrPort(a)); err == nil {
			t.Errorf("listens on %s", a)
		}
	}
}

func TestCMWaitEnds(t *testing.T) {
	l := loadCM(t, "")
	ear, err := l.CMListen(netip.AddrPortFrom(cmHost, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer ear.Close()
	if _, err := ear.Request(t.Context(), time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if _, err := ear.Request(ctx, second); !errors.Is(err, context.Canceled) {
		t.Errorf("stop: %v", err)
	}
	// A request that nobody answers, and one that is refused.
	id, err := resolve(t, l, ear.Port())
	if err != nil {
		t.Fatal(err)
	}
	if err := id.Connect(t.Context(), time.Millisecond, CMParam{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connect without an answer: %v", err)
	}
	far, err := ear.Request(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	if err := far.Reject(); err != nil {
		t.Fatal(err)
	}
	var c *CMError
	if err := id.WaitDisconnected(t.Context(), second); !errors.As(err, &c) || c.Event != CMRejected || c.Status != 28 {
		t.Errorf("rejected: %v", err)
	}
}
