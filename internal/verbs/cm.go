//go:build cgo && linux && !noverbs

package verbs

/*
#include "rd_cm.h"
*/
import "C"

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

func (c *CMID) c() *C.struct_rdma_cm_id { return (*C.struct_rdma_cm_id)(c.p) }

// NewCMID makes an ID for a connection to a peer.
func (l *Library) NewCMID() (*CMID, error) {
	if l.cmErr != nil {
		return nil, l.cmErr
	}
	var ch *C.struct_rdma_event_channel
	var id *C.struct_rdma_cm_id
	if err := failed(C.rd_cm_create(l.c(), &ch, &id), "create rdma_cm ID", "rdma_create_id", "", ""); err != nil {
		return nil, err
	}
	return l.newCMID(ch, id), nil
}

func (l *Library) newCMID(ch *C.struct_rdma_event_channel, id *C.struct_rdma_cm_id) *CMID {
	c := &CMID{lib: l, ch: unsafe.Pointer(ch), p: unsafe.Pointer(id)}
	c.node = newNode(KindCMID, func() error {
		return failed(C.rd_cm_destroy(l.c(), ch, id), "destroy rdma_cm ID", "rdma_destroy_id", "", "")
	})
	return c
}

// learn takes over the device that rdma_cm has bound the ID to.
func (c *CMID) learn() {
	id := c.c()
	device := C.rd_cm_device(id)
	if c.ctx != nil || device == nil {
		return
	}
	c.port = int(id.port_num)
	c.ctx = &Context{lib: c.lib, name: C.GoString(&device.device.name[0]), p: unsafe.Pointer(device)}
	// rdma_cm closes its device itself.
	c.ctx.node = newNode(KindContext, func() error { return nil }, c.node)
}

func cAddr(a netip.AddrPort) C.struct_rd_addr {
	var r C.struct_rd_addr
	if !a.IsValid() {
		return r
	}
	ip := a.Addr().Unmap()
	r.family = 6
	if ip.Is4() {
		r.family = 4
	}
	for i, b := range ip.AsSlice() {
		r.ip[i] = C.uint8_t(b)
	}
	r.port = C.uint16_t(a.Port())
	if n, err := strconv.ParseUint(ip.Zone(), 10, 32); err == nil {
		r.scope = C.uint32_t(n)
	}
	return r
}

// wait takes events until want comes. Another one is a *CMError.
func (c *CMID) wait(ctx context.Context, limit time.Duration, step, call string, want CMEventType) (C.struct_rd_cm_event, error) {
	var ev C.struct_rd_cm_event
	if !c.open() {
		return ev, ErrClosed
	}
	stop := newStop(ctx)
	defer stop.end()
	n := C.rd_cm_wait(c.lib.c(), (*C.struct_rdma_event_channel)(c.ch), deadline(limit), (*C.int)(unsafe.Pointer(stop.v)), &ev)
	if n <= 0 {
		if n == -C.int(syscall.ETIMEDOUT) || n == -C.int(syscall.ECANCELED) {
			return ev, waitError(ctx, n, limit, "wait for "+want.String()+" to", step)
		}
		return ev, failed(n, step, "rdma_get_cm_event", "", "")
	}
	if got := CMEventType(ev._type); got != want {
		return ev, &CMError{Step: step, Call: call, Event: got, Status: int(ev.status)}
	}
	return ev, nil
}

// millis is a limit in the milliseconds that rdma_cm takes.
func millis(limit time.Duration) C.int {
	return C.int(max(1, min(limit.Milliseconds(), 1<<30)))
}

// ResolveAddr finds the device and the neighbour for dst, from src where that
// is valid. A zone of a link-local address is an interface's index.
func (c *CMID) ResolveAddr(ctx context.Context, limit time.Duration, src netip.Addr, dst netip.AddrPort) error {
	if !c.open() {
		return ErrClosed
	}
	step := "resolve address " + dst.Addr().String()
	s, d := cAddr(netip.AddrPortFrom(src, 0)), cAddr(dst)
	if err := failed(C.rd_cm_resolve_addr(c.lib.c(), c.c(), &s, &d, millis(limit)), step, "rdma_resolve_addr", "", ""); err != nil {
		return err
	}
	if _, err := c.wait(ctx, limit, step, "rdma_resolve_addr", CMAddrResolved); err != nil {
		return err
	}
	c.learn()
	return nil
}

// ResolveRoute finds the path. On Ethernet it is made up on this host.
func (c *CMID) ResolveRoute(ctx context.Context, limit time.Duration) error {
	if !c.open() {
		return ErrClosed
	}
	const step = "resolve route"
	if err := failed(C.rd_cm_resolve_route(c.lib.c(), c.c(), millis(limit)), step, "rdma_resolve_route", "", ""); err != nil {
		return err
	}
	_, err := c.wait(ctx, limit, step, "rdma_resolve_route", CMRouteResolved)
	return err
}

// CreateQP makes the ID's QP in INIT. The PD must be of the ID's Context.
// rdma_cm moves the QP on.
func (c *CMID) CreateQP(p *PD, i QPInit) (*QP, error) {
	if i.RecvCQ == nil {
		i.RecvCQ = i.SendCQ
	}
	if !c.open() || !p.open() || i.SendCQ == nil || !i.SendCQ.open() || !i.RecvCQ.open() {
		return nil, ErrClosed
	}
	a, attr := initAttr(&i)
	lib, name := c.lib.c(), p.ctx.name
	if err := failed(C.rd_cm_create_qp(lib, c.c(), p.c(), a), "create QP", "rdma_create_qp", name, attr); err != nil {
		return nil, err
	}
	id := c.c()
	q := &QP{pd: p, send: i.SendCQ, recv: i.RecvCQ, typ: i.Type, caps: capsOf(&a.cap), num: uint32(id.qp.qp_num),
		p: unsafe.Pointer(id.qp), object: name}
	q.node = newNode(KindQP, func() error {
		C.rd_cm_destroy_qp(lib, id)
		return nil
	}, p.node, i.SendCQ.node, i.RecvCQ.node, c.node)
	return q, nil
}

func (p CMParam) c() (*C.struct_rd_cm_param, error) {
	r := &C.struct_rd_cm_param{responder_resources: C.uint8_t(p.ResponderResources), initiator_depth: C.uint8_t(p.InitiatorDepth),
		retry_count: C.uint8_t(p.RetryCount), rnr_retry_count: C.uint8_t(p.RNRRetryCount)}
	if len(p.Data) > len(r.data) {
		return nil, fmt.Errorf("private data of %d bytes: want at most %d", len(p.Data), len(r.data))
	}
	r.length = C.uint8_t(len(p.Data))
	for i, b := range p.Data {
		r.data[i] = C.uint8_t(b)
	}
	return r, nil
}

func paramOf(r *C.struct_rd_cm_param) CMParam {
	p := CMParam{ResponderResources: int(r.responder_resources), InitiatorDepth: int(r.initiator_depth),
		RetryCount: int(r.retry_count), RNRRetryCount: int(r.rnr_retry_count)}
	for _, b := range r.data[:r.length] {
		p.Data = append(p.Data, byte(b))
	}
	return p
}

// Connect connects the QP and waits until that is established.
func (c *CMID) Connect(ctx context.Context, limit time.Duration, p CMParam) error {
	const step = "connect"
	if !c.open() {
		return ErrClosed
	}
	r, err := p.c()
	if err != nil {
		return err
	}
	if err := failed(C.rd_cm_connect(c.lib.c(), c.c(), r), step, "rdma_connect", "", ""); err != nil {
		return err
	}
	ev, err := c.wait(ctx, limit, step, "rdma_connect", CMEstablished)
	if err == nil {
		c.request = paramOf(&ev.param)
	}
	return err
}

// Accept answers a request with the QP and waits until that is established.
func (c *CMID) Accept(ctx context.Context, limit time.Duration, p CMParam) error {
	const step = "accept"
	if !c.open() {
		return ErrClosed
	}
	r, err := p.c()
	if err != nil {
		return err
	}
	if err := failed(C.rd_cm_accept(c.lib.c(), c.c(), r), step, "rdma_accept", "", ""); err != nil {
		return err
	}
	_, err = c.wait(ctx, limit, step, "rdma_accept", CMEstablished)
	return err
}

// Reject refuses a request.
func (c *CMID) Reject() error {
	if !c.open() {
		return ErrClosed
	}
	return failed(C.rd_cm_reject(c.lib.c(), c.c()), "reject", "rdma_reject", "", "")
}

// Disconnect ends the connection and waits until it has ended. The QP goes to
// ERR.
func (c *CMID) Disconnect(ctx context.Context, limit time.Duration) error {
	if !c.open() {
		return ErrClosed
	}
	if err := failed(C.rd_cm_disconnect(c.lib.c(), c.c()), "disconnect", "rdma_disconnect", "", ""); err != nil {
		return err
	}
	return c.WaitDisconnected(ctx, limit)
}

// WaitDisconnected waits until the connection has ended, by the peer or the
// network.
func (c *CMID) WaitDisconnected(ctx context.Context, limit time.Duration) error {
	_, err := c.wait(ctx, limit, "disconnect", "rdma_disconnect", CMDisconnected)
	return err
}

// CMListen listens on one address of a device; port 0 takes a free one. The
// unspecified address is refused: a prober listens where it was told.
func (l *Library) CMListen(addr netip.AddrPort) (*CMListener, error) {
	if !addr.IsValid() || addr.Addr().IsUnspecified() {
		return nil, fmt.Errorf("listen %v: want an address of an RDMA device", addr)
	}
	id, err := l.NewCMID()
	if err != nil {
		return nil, err
	}
	a := cAddr(addr)
	var port C.uint16_t
	if err := failed(C.rd_cm_listen(l.c(), id.c(), &a, 4, &port), "listen "+addr.String(), "rdma_listen", "", ""); err != nil {
		id.Close()
		return nil, err
	}
	id.learn()
	return &CMListener{id: id, port: uint16(port)}, nil
}

// Request waits for a connection request and gives an ID for it, to be given a
// QP and accepted, or rejected.
func (l *CMListener) Request(ctx context.Context, limit time.Duration) (*CMID, error) {
	ev, err := l.id.wait(ctx, limit, "listen", "rdma_listen", CMConnectRequest)
	if err != nil {
		return nil, err
	}
	lib := l.id.lib
	var ch *C.struct_rdma_event_channel
	if err := failed(C.rd_cm_adopt(lib.c(), ev.id, &ch), "take request", "rdma_migrate_id", "", ""); err != nil {
		C.rd_cm_forget(lib.c(), ev.id)
		return nil, err
	}
	c := lib.newCMID(ch, ev.id)
	c.request = paramOf(&ev.param)
	c.learn()
	return c, nil
}
