//go:build cgo && linux && !noverbs

package verbs

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs/fakeverbs"
)

// second is far more than a fake device needs, and ends a test that hangs.
const second = 10 * time.Second

func load(t testing.TB, script string) *Library {
	t.Helper()
	l, err := Load(Options{Verbs: fakeverbs.Build(t, script)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// end is one end of a connection with all that it needs.
type end struct {
	ctx  *Context
	pd   *PD
	ch   *CompChannel
	send *CQ
	recv *CQ
	mem  *Memory
	mr   *MR
	qp   *QP
}

func newEnd(t testing.TB, l *Library, typ QPType, access Access) *end {
	t.Helper()
	e := &end{}
	var err error
	must := func(step string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
	e.ctx, err = l.Open("fake0")
	must("open")
	t.Cleanup(func() {
		if err := e.ctx.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := e.mem.Close(); err != nil {
			t.Errorf("close memory: %v", err)
		}
	})
	e.pd, err = e.ctx.AllocPD()
	must("PD")
	e.ch, err = e.ctx.CreateCompChannel()
	must("channel")
	e.send, err = e.ctx.CreateCQ(1024, e.ch)
	must("send CQ")
	e.recv, err = e.ctx.CreateCQ(1024, e.ch)
	must("receive CQ")
	e.mem, err = l.Alloc(1 << 20)
	must("memory")
	e.mr, err = e.pd.RegMR(e.mem, 0, e.mem.Len(), access)
	must("MR")
	e.qp, err = e.pd.CreateQP(QPInit{Type: typ, SendCQ: e.send, RecvCQ: e.recv,
		Caps: QPCaps{MaxSendWR: 512, MaxRecvWR: 512, MaxInlineData: 64}})
	must("QP")
	return e
}

// connect brings both ends to RTS.
func connect(t testing.TB, a, b *end) {
	t.Helper()
	connectAs(t, a, b, DefaultRTS())
}

func connectAs(t testing.TB, a, b *end, rts RTSAttr) {
	t.Helper()
	for _, p := range []struct{ from, to *end }{{a, b}, {b, a}} {
		g, err := p.to.ctx.QueryGID(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.from.qp.ToInit(InitAttr{Port: 1, Access: AccessAll, QKey: 0x11111111}); err != nil {
			t.Fatal(err)
		}
		if err := p.from.qp.ToRTR(RTRAttr{PathMTU: 1024, DestQPN: p.to.qp.Num(), MaxDestRdAtomic: 1, MinRNRTimer: 12,
			AH: AHAttr{Port: 1, Global: true, DGID: g, SGIDIndex: 1, HopLimit: 64}}); err != nil {
			t.Fatal(err)
		}
		if err := p.from.qp.ToRTS(rts); err != nil {
			t.Fatal(err)
		}
	}
}

func pair(t testing.TB, script string) (*end, *end) {
	t.Helper()
	l := load(t, script)
	a, b := newEnd(t, l, RC, AccessAll), newEnd(t, l, RC, AccessAll)
	connect(t, a, b)
	return a, b
}

// do posts and waits.
func (e *end) do(t testing.TB, w WR) WC {
	t.Helper()
	if err := e.qp.PostSend(w); err != nil {
		t.Fatal(err)
	}
	wc, err := e.send.Wait(t.Context(), second)
	if err != nil {
		t.Fatal(err)
	}
	return wc
}

func TestOperationsMoveData(t *testing.T) {
	a, b := pair(t, "")
	text := []byte("payload of the write")
	copy(a.mem.Bytes(), text)
	n := uint32(len(text))
	if wc := a.do(t, WR{ID: 7, Op: OpRDMAWrite, MR: a.mr, Length: n, RemoteAddr: b.mr.Addr() + 100, RKey: b.mr.RKey()}); wc.ID != 7 || wc.Status != WCSuccess || wc.Opcode != WCRDMAWrite {
		t.Errorf("write: %+v", wc)
	}
	if got := b.mem.Bytes()[100 : 100+n]; !bytes.Equal(got, text) {
		t.Errorf("written: %q, want %q", got, text)
	}
	if wc := a.do(t, WR{ID: 8, Op: OpRDMARead, MR: a.mr, Offset: 4096, Length: n, RemoteAddr: b.mr.Addr() + 100, RKey: b.mr.RKey()}); wc.Status != WCSuccess || wc.Opcode != WCRDMARead {
		t.Errorf("read: %+v", wc)
	}
	if got := a.mem.Bytes()[4096 : 4096+n]; !bytes.Equal(got, text) {
		t.Errorf("read: %q, want %q", got, text)
	}
	if err := b.qp.PostRecv(9, b.mr, 8192, 64); err != nil {
		t.Fatal(err)
	}
	if wc := a.do(t, WR{ID: 10, Op: OpSendImm, Imm: 0xfeed, MR: a.mr, Length: n, Inline: true}); wc.Status != WCSuccess || wc.Opcode != WCSend {
		t.Errorf("send: %+v", wc)
	}
	wc, err := b.recv.WaitEvent(t.Context(), second)
	if err != nil || wc.ID != 9 || wc.ByteLen != n || wc.Opcode != WCRecv || !wc.HasImm || wc.Imm != 0xfeed {
		t.Errorf("receive: %+v %v", wc, err)
	}
	if got := b.mem.Bytes()[8192 : 8192+n]; !bytes.Equal(got, text) {
		t.Errorf("received: %q, want %q", got, text)
	}
	b.mem.Bytes()[16384] = 5
	for i, w := range []WR{{Op: OpFetchAdd, CompareAdd: 3}, {Op: OpCompSwap, CompareAdd: 8, Swap: 21}, {Op: OpCompSwap, CompareAdd: 8, Swap: 99}} {
		w.MR, w.Length, w.RemoteAddr, w.RKey = a.mr, 8, b.mr.Addr()+16384, b.mr.RKey()
		if wc := a.do(t, w); wc.Status != WCSuccess {
			t.Fatalf("atomic %d: %+v", i, wc)
		}
		if got, want := a.mem.Bytes()[0], []byte{5, 8, 21}[i]; got != want {
			t.Errorf("atomic %d gave %d, want %d", i, got, want)
		}
		if got, want := b.mem.Bytes()[16384], []byte{8, 21, 21}[i]; got != want {
			t.Errorf("atomic %d left %d, want %d", i, got, want)
		}
	}
}

// What a responder must refuse, with the status and the event of it.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		access Access
		wr     func(a, b *end) WR
		want   WCStatus
	}{
		{"wrong rkey", AccessAll, func(a, b *end) WR { return WR{Op: OpRDMAWrite, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey() + 1} }, WCRemAccessErr},
		{"stale rkey", AccessAll, func(a, b *end) WR {
			w := WR{Op: OpRDMAWrite, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()}
			b.mr.Close()
			return w
		}, WCRemAccessErr},
		{"out of range", AccessAll, func(a, b *end) WR {
			return WR{Op: OpRDMAWrite, RemoteAddr: b.mr.Addr() + b.mr.Len() - 1, RKey: b.mr.RKey()}
		}, WCRemAccessErr},
		{"no REMOTE_READ", AccessLocalWrite | AccessRemoteWrite, func(a, b *end) WR { return WR{Op: OpRDMARead, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()} }, WCRemAccessErr},
		{"no REMOTE_WRITE", AccessLocalWrite | AccessRemoteRead, func(a, b *end) WR { return WR{Op: OpRDMAWrite, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()} }, WCRemAccessErr},
		{"no receive", AccessAll, func(a, b *end) WR { return WR{Op: OpSend} }, WCRNRRetryExcErr},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := load(t, "vendor-err 0x88\n")
			a, b := newEnd(t, l, RC, AccessAll), newEnd(t, l, RC, c.access)
			rts := DefaultRTS()
			rts.RNRRetry = 1
			connectAs(t, a, b, rts)
			w := c.wr(a, b)
			w.MR, w.Length = a.mr, 8
			copy(a.mem.Bytes(), "overwrit")
			wc := a.do(t, w)
			if wc.Status != c.want || wc.VendorErr != 0x88 {
				t.Errorf("got %v vendor error 0x%x, want %v 0x88", wc.Status, wc.VendorErr, c.want)
			}
			var we *WCError
			if err := wc.Err(w.Op.String()); !errors.As(err, &we) || we.QPN != a.qp.Num() || !strings.Contains(err.Error(), c.want.String()) {
				t.Errorf("error: %v", err)
			}
			if got := a.qp.State(); got != QPStateErr {
				t.Errorf("requester's QP is %v, want ERR", got)
			}
			if !bytes.Equal(b.mem.Bytes()[:8], make([]byte, 8)) {
				t.Errorf("canary changed: %q", b.mem.Bytes()[:8])
			}
			ev, err := b.ctx.AsyncEvent()
			if c.want == WCRemAccessErr {
				if err != nil || ev.Type != EventQPAccessErr || ev.QPN != b.qp.Num() || !ev.Type.OfQP() {
					t.Errorf("event: %+v %v", ev, err)
				}
				_, err = b.ctx.AsyncEvent()
			}
			if !errors.Is(err, ErrNoEvent) {
				t.Errorf("a further event: %v", err)
			}
		})
	}
}

func TestUDSends(t *testing.T) {
	l := load(t, "")
	a, b := newEnd(t, l, UD, AccessAll), newEnd(t, l, UD, AccessAll)
	connect(t, a, b)
	if err := b.qp.PostRecv(1, b.mr, 0, 128); err != nil {
		t.Fatal(err)
	}
	g, err := b.ctx.QueryGID(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	ah, err := a.pd.CreateAH(AHAttr{Port: 1, Global: true, DGID: g, SGIDIndex: 1, HopLimit: 64})
	if err != nil {
		t.Fatal(err)
	}
	copy(a.mem.Bytes(), "datagram")
	if wc := a.do(t, WR{Op: OpSend, MR: a.mr, Length: 8, AH: ah, RemoteQPN: b.qp.Num(), RemoteQKey: 0x11111111}); wc.Status != WCSuccess {
		t.Errorf("send: %+v", wc)
	}
	wc, err := b.recv.Wait(t.Context(), second)
	if err != nil || wc.ByteLen != 48 || !wc.HasGRH || wc.SrcQP != a.qp.Num() {
		t.Errorf("receive: %+v %v", wc, err)
	}
	if got := string(b.mem.Bytes()[40:48]); got != "datagram" {
		t.Errorf("received %q", got)
	}
}

// A UC QP writes without an answer: what is refused is success at its end.
func TestUCWrites(t *testing.T) {
	l := load(t, "")
	a, b := newEnd(t, l, UC, AccessAll), newEnd(t, l, UC, AccessAll)
	connect(t, a, b)
	copy(a.mem.Bytes(), "unacked!")
	for _, key := range []uint32{b.mr.RKey(), b.mr.RKey() + 1} {
		if wc := a.do(t, WR{Op: OpRDMAWrite, MR: a.mr, Length: 8, RemoteAddr: b.mr.Addr() + 64*uint64(key-b.mr.RKey()), RKey: key}); wc.Status != WCSuccess {
			t.Errorf("write: %+v", wc)
		}
	}
	if got := string(b.mem.Bytes()[:8]); got != "unacked!" {
		t.Errorf("written %q", got)
	}
	if got := b.mem.Bytes()[64]; got != 0 {
		t.Error("a write with a wrong rkey was done")
	}
}
