//go:build cgo && linux && !noverbs

package verbs

/*
#include "rd.h"
*/
import "C"

import (
	"context"
	"fmt"
	"math"
	"syscall"
	"time"
	"unsafe"
)

func (w *WR) c() C.struct_rd_wr {
	r := C.struct_rd_wr{id: C.uint64_t(w.ID), op: C.int(w.Op), imm: C.uint32_t(w.Imm),
		remote_addr: C.uint64_t(w.RemoteAddr), rkey: C.uint32_t(w.RKey),
		compare_add: C.uint64_t(w.CompareAdd), swap: C.uint64_t(w.Swap),
		remote_qpn: C.uint32_t(w.RemoteQPN), remote_qkey: C.uint32_t(w.RemoteQKey)}
	if w.MR != nil {
		r.has_sge = 1
		r.addr = C.uint64_t(w.MR.Addr() + w.Offset)
		r.length = C.uint32_t(w.Length)
		r.lkey = C.uint32_t(w.MR.lkey)
	}
	if w.AH != nil {
		r.ah = (*C.struct_ibv_ah)(w.AH.p)
	}
	for _, f := range []struct {
		on  bool
		bit C.uint
	}{{w.Fence, C.IBV_SEND_FENCE}, {!w.Unsignaled, C.IBV_SEND_SIGNALED}, {w.Solicited, C.IBV_SEND_SOLICITED},
		{w.Inline, C.IBV_SEND_INLINE}} {
		if f.on {
			r.flags |= f.bit
		}
	}
	return r
}

// PostSend posts one send work request. Where MR is closed its old key is
// used, so that a stale lkey can be tried.
func (q *QP) PostSend(w WR) error {
	if !q.open() || w.AH != nil && !w.AH.open() {
		return ErrClosed
	}
	c := w.c()
	return failed(C.rd_post_send(q.c(), &c), "post "+w.Op.String(), "ibv_post_send", q.object, fmt.Sprintf("%d bytes", w.Length))
}

// PostRecv posts one receive of length bytes into the MR.
func (q *QP) PostRecv(id uint64, mr *MR, offset uint64, length uint32) error {
	if !q.open() {
		return ErrClosed
	}
	w := WR{ID: id, MR: mr, Offset: offset, Length: length}
	c := w.c()
	return failed(C.rd_post_recv(q.c(), &c), "post receive", "ibv_post_recv", q.object, fmt.Sprintf("%d bytes", length))
}

func (c *CQ) c() *C.struct_ibv_cq { return (*C.struct_ibv_cq)(c.p) }

func (c *CQ) wc(w *C.struct_rd_wc) WC {
	return WC{ID: uint64(w.id), Status: WCStatus(w.status), Opcode: WCOpcode(w.opcode), VendorErr: uint32(w.vendor_err),
		ByteLen: uint32(w.byte_len), QPN: uint32(w.qpn), SrcQP: uint32(w.src_qp), Imm: uint32(w.imm),
		HasImm: w.flags&C.IBV_WC_WITH_IMM != 0, HasGRH: w.flags&C.IBV_WC_GRH != 0}
}

// Poll takes a completion that is there; ok is false where none is.
func (c *CQ) Poll() (w WC, ok bool, err error) {
	if !c.open() {
		return WC{}, false, ErrClosed
	}
	var cw C.struct_rd_wc
	n := C.rd_poll(c.c(), &cw)
	if err := failed(n, "poll CQ", "ibv_poll_cq", c.ctx.name, ""); err != nil || n == 0 {
		return WC{}, false, err
	}
	return c.wc(&cw), true, nil
}

// Wait polls until a completion comes, limit has passed (an error that is
// context.DeadlineExceeded) or ctx ends.
func (c *CQ) Wait(ctx context.Context, limit time.Duration) (WC, error) {
	return c.wait(ctx, limit, false)
}

// WaitEvent is Wait asleep: it arms the CQ and waits for its channel. The CQ
// must have one.
func (c *CQ) WaitEvent(ctx context.Context, limit time.Duration) (WC, error) {
	return c.wait(ctx, limit, true)
}

func (c *CQ) wait(ctx context.Context, limit time.Duration, asleep bool) (WC, error) {
	if !c.open() {
		return WC{}, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return WC{}, fmt.Errorf("wait for completion: %w", context.Cause(ctx))
	}
	stop := newStop(ctx)
	defer stop.end()
	var cw C.struct_rd_wc
	flag := (*C.int)(unsafe.Pointer(stop.v))
	var n C.int
	if asleep {
		n = C.rd_wait_event(c.ctx.lib.c(), c.c(), deadline(limit), flag, &cw)
	} else {
		n = C.rd_wait(c.c(), deadline(limit), flag, &cw)
	}
	if n > 0 {
		return c.wc(&cw), nil
	}
	return WC{}, waitError(ctx, n, limit, "wait for completion", c.ctx.name)
}

// deadline is limit from now in rd_now's nanoseconds.
func deadline(limit time.Duration) C.uint64_t {
	now := C.rd_now()
	if limit < 0 {
		return now
	}
	if uint64(limit) > math.MaxUint64-uint64(now) {
		return math.MaxUint64
	}
	return now + C.uint64_t(limit)
}

// waitError makes an error of a wait that ended without its result.
func waitError(ctx context.Context, rc C.int, limit time.Duration, step, object string) error {
	switch rc {
	case -C.int(syscall.ETIMEDOUT):
		return fmt.Errorf("%s %s: none in %v: %w", step, object, limit, context.DeadlineExceeded)
	case -C.int(syscall.ECANCELED):
		return fmt.Errorf("%s %s: %w", step, object, context.Cause(ctx))
	}
	return failed(rc, step, "ibv_poll_cq", object, "")
}
