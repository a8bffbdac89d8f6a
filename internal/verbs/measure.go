//go:build cgo && linux && !noverbs

package verbs

/*
#include "rd_loop.h"
*/
import "C"

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// run is a loop in C's terms. Its slices are only read while C is called.
type run struct {
	l     Loop
	c     C.struct_rd_loop
	lanes []C.struct_rd_lane
	fail  C.struct_rd_fail
}

// start checks a loop and puts it in C's terms.
func (l Loop) start() (*run, error) {
	l = l.withDefaults()
	if len(l.Lanes) == 0 || l.Size < 0 || l.Iterations < 0 {
		return nil, &Errno{Step: "start loop", Call: "rd_loop", Errno: syscall.EINVAL,
			Attr: fmt.Sprintf("%d QPs, %d bytes, %d iterations", len(l.Lanes), l.Size, l.Iterations)}
	}
	q := l.Lanes[0].QP
	r := &run{l: l}
	for _, n := range l.Lanes {
		if !n.QP.open() || !n.MR.open() {
			return nil, ErrClosed
		}
		if n.QP.send != q.send || n.QP.recv != q.recv {
			return nil, &Errno{Step: "start loop", Call: "rd_loop", Errno: syscall.EINVAL, Attr: "QPs on different CQs"}
		}
		room := uint64(l.Size)
		if l.Split {
			room = LaneBytes(l.Size)
		}
		if max(n.SendOffset, n.RecvOffset)+max(room, 1) > n.MR.length {
			return nil, &Errno{Step: "start loop", Call: "rd_loop", Errno: syscall.ERANGE,
				Attr: fmt.Sprintf("%d bytes in an MR of %d", l.Size, n.MR.length)}
		}
		r.lanes = append(r.lanes, C.struct_rd_lane{qp: n.QP.c(),
			send_addr: C.uint64_t(n.MR.Addr() + n.SendOffset), recv_addr: C.uint64_t(n.MR.Addr() + n.RecvOffset),
			remote_addr: C.uint64_t(n.RemoteAddr), lkey: C.uint32_t(n.MR.lkey), rkey: C.uint32_t(n.RKey)})
	}
	r.c = C.struct_rd_loop{
		lib: q.pd.ctx.lib.c(), send_cq: q.send.c(), recv_cq: q.recv.c(), lanes: C.int(len(l.Lanes)), op: C.int(l.Op),
		size: C.uint32_t(l.Size), iters: C.uint64_t(l.Iterations), duration: C.uint64_t(l.Duration),
		depth: C.uint32_t(l.Depth), cq_mod: C.uint32_t(l.CQMod),
		inlined: flag(l.Size <= l.InlineMax && l.Size <= q.caps.MaxInlineData && l.Op != OpRDMARead),
		events:  flag(l.Events), initiator: flag(l.Initiator), split: flag(l.Split),
	}
	if l.Op == OpSend {
		r.c.rx_depth = C.uint32_t(l.RxDepth)
	}
	return r, nil
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// call runs a loop on a thread of its own and ends it when ctx does.
func (r *run) call(ctx context.Context, loop func(stop *C.int) C.int) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start loop: %w", context.Cause(ctx))
	}
	unpin, err := pin(r.l.CPU)
	if err != nil {
		return err
	}
	defer unpin()
	ctx, cancel := context.WithTimeoutCause(ctx, r.l.Limit, errLimit)
	defer cancel()
	stop := newStop(ctx)
	defer stop.end()
	if r.l.Events {
		// It sleeps in the kernel, where it sees no flag: a flush wakes it.
		woken := make(chan struct{})
		wake := context.AfterFunc(ctx, func() {
			defer close(woken)
			r.l.Lanes[0].QP.ToErr()
		})
		defer func() {
			if !wake() {
				<-woken
			}
		}()
	}
	r.c.deadline = deadline(r.l.Limit)
	return r.err(ctx, loop((*C.int)(unsafe.Pointer(stop.v))))
}

// errLimit is the cause of the end of a loop that took too long.
var errLimit = fmt.Errorf("loop took too long: %w", context.DeadlineExceeded)

// err makes an error of what a loop returned.
func (r *run) err(ctx context.Context, rc C.int) error {
	if rc == 0 {
		return nil
	}
	op := "start loop"
	if r.fail.op != nil {
		op = C.GoString(r.fail.op)
	}
	e := &LoopError{Op: op, QPN: uint32(r.fail.qpn), Done: uint64(r.fail.done)}
	q := r.l.Lanes[0].QP
	for _, n := range r.l.Lanes {
		if n.QP.num == e.QPN {
			q = n.QP
		}
	}
	// A loop that was woken by a flush was ended, it did not fail.
	if rc == C.RD_WC && r.l.Events && ctx.Err() != nil {
		rc = -C.int(syscall.ECANCELED)
	}
	switch rc {
	case C.RD_WC:
		what := r.l.Op.String()
		if op == "receive" {
			what = op
		}
		e.Err = &WCError{Op: what, Status: WCStatus(r.fail.wc_status), VendorErr: uint32(r.fail.vendor_err), QPN: e.QPN, QPState: q.State()}
	case -C.int(syscall.EPROTO):
		e.Err = ErrLied
	case -C.int(syscall.ETIMEDOUT):
		e.Err = errLimit
	case -C.int(syscall.ECANCELED):
		e.Err = context.Cause(ctx)
	default:
		call := map[string]string{"post send": "ibv_post_send", "post receive": "ibv_post_recv"}[op]
		if call == "" {
			call = "ibv_poll_cq"
		}
		e.Err = failed(rc, op, call, q.object, "")
	}
	return e
}

// pin locks the goroutine to its thread, and that to CPU cpu-1 where cpu is
// not 0, until the function it returns is called.
func pin(cpu int) (func(), error) {
	runtime.LockOSThread()
	if cpu == 0 {
		return runtime.UnlockOSThread, nil
	}
	var old, only unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("pin loop: %w", err)
	}
	only.Set(cpu - 1)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("pin loop to CPU %d: %w", cpu-1, err)
	}
	return func() {
		// A thread that cannot go back is not used again: it stays locked.
		if unix.SchedSetaffinity(0, &old) == nil {
			runtime.UnlockOSThread()
		}
	}, nil
}

// Prepare posts the receives of a loop and clears the memory that is polled.
// The other end must not begin before.
func (l Loop) Prepare() error {
	r, err := l.start()
	if err != nil {
		return err
	}
	return r.err(context.Background(), C.rd_prepare(&r.c, &r.lanes[0], &r.fail))
}

// Latency runs a ping-pong by RDMA write or send, which both ends run, or
// reads and atomics, which one end runs alone, on the first lane.
func (l Loop) Latency(ctx context.Context) (Latency, error) {
	r, err := l.start()
	if err != nil {
		return Latency{}, err
	}
	if r.l.Iterations == 0 || r.l.Size == 0 && r.l.Op != OpSend {
		return Latency{}, &Errno{Step: "start loop", Call: "rd_loop", Errno: syscall.EINVAL, Attr: "no iterations or no bytes"}
	}
	stamps := make([]C.uint64_t, r.l.Iterations+1)
	half := time.Duration(1)
	err = r.call(ctx, func(stop *C.int) C.int {
		switch r.l.Op {
		case OpRDMAWrite:
			half = 2
			return C.rd_lat_write(&r.c, &r.lanes[0], stop, &stamps[0], &r.fail)
		case OpSend:
			half = 2
			return C.rd_lat_send(&r.c, &r.lanes[0], stop, &stamps[0], &r.fail)
		}
		return C.rd_lat_read(&r.c, &r.lanes[0], stop, &stamps[0], &r.fail)
	})
	if err != nil {
		return Latency{}, err
	}
	if half == 2 {
		// A ping-pong's last round trip ends without a post.
		stamps = stamps[:r.l.Iterations]
	}
	out := Latency{Took: time.Duration(stamps[len(stamps)-1] - stamps[0])}
	for i := 1; i < len(stamps); i++ {
		out.Samples = append(out.Samples, time.Duration(stamps[i]-stamps[i-1])/half)
	}
	return out, nil
}

// Stream posts on all lanes as fast as Depth allows.
func (l Loop) Stream(ctx context.Context) (Flow, error) {
	return l.flow(ctx, func(r *run, stop *C.int, marks []C.uint64_t, f *C.struct_rd_flow) C.int {
		return C.rd_stream(&r.c, &r.lanes[0], stop, &marks[0], C.uint64_t(len(marks)/2), f, &r.fail)
	})
}

// Sink takes what the other end's Stream of OpSend sends. Without Iterations
// it ends when ctx does, without an error.
func (l Loop) Sink(ctx context.Context) (Flow, error) {
	l.Op = OpSend
	return l.flow(ctx, func(r *run, stop *C.int, marks []C.uint64_t, f *C.struct_rd_flow) C.int {
		return C.rd_sink(&r.c, &r.lanes[0], stop, &marks[0], C.uint64_t(len(marks)/2), f, &r.fail)
	})
}

func (l Loop) flow(ctx context.Context, loop func(*run, *C.int, []C.uint64_t, *C.struct_rd_flow) C.int) (Flow, error) {
	r, err := l.start()
	if err != nil {
		return Flow{}, err
	}
	marks := make([]C.uint64_t, 2*max(r.l.Marks, 1))
	f := new(C.struct_rd_flow)
	if err := r.call(ctx, func(stop *C.int) C.int { return loop(r, stop, marks, f) }); err != nil {
		return Flow{}, err
	}
	out := Flow{Messages: uint64(f.messages), Bytes: uint64(f.messages) * uint64(r.l.Size), CPU: time.Duration(f.cpu)}
	if f.end > f.start {
		out.Took = time.Duration(f.end - f.start)
	}
	for i := range int(f.marks) {
		out.Marks = append(out.Marks, Mark{After: time.Duration(marks[2*i] - f.start), Messages: uint64(marks[2*i+1])})
	}
	return out, nil
}

// OrderWriter writes payloads and flags for the other end's OrderReader, on
// the first lane. Size must be a multiple of 8.
func (l Loop) OrderWriter(ctx context.Context) error {
	r, err := l.order()
	if err != nil {
		return err
	}
	return r.call(ctx, func(stop *C.int) C.int {
		return C.rd_order_write(&r.c, &r.lanes[0], stop, &r.fail)
	})
}

// OrderReader waits for each flag and looks whether its payload is there.
func (l Loop) OrderReader(ctx context.Context) (Ordering, error) {
	r, err := l.order()
	if err != nil {
		return Ordering{}, err
	}
	o := new(C.struct_rd_order)
	err = r.call(ctx, func(stop *C.int) C.int {
		return C.rd_order_read(&r.c, &r.lanes[0], stop, o, &r.fail)
	})
	return Ordering{Checked: uint64(o.checked), Violations: uint64(o.violations), Words: uint64(o.words), First: uint64(o.first)}, err
}

func (l Loop) order() (*run, error) {
	l.Op = OpRDMAWrite
	if l.Size < 16 || l.Size%8 != 0 || l.Iterations == 0 {
		return nil, &Errno{Step: "start loop", Call: "rd_loop", Errno: syscall.EINVAL,
			Attr: fmt.Sprintf("ordering with %d bytes, %d iterations", l.Size, l.Iterations)}
	}
	return l.start()
}
