package verbs

import (
	"context"
	"sync/atomic"
	"time"
	"unsafe"
)

// Library is an opened libibverbs, with librdmacm where that is installed. It
// has nothing to close: providers may leave threads behind, so it stays until
// the process ends.
type Library struct {
	table   unsafe.Pointer // *C.struct_rd_lib
	path    string
	missing []string
	cmErr   error
}

// Path is what was given to dlopen.
func (l *Library) Path() string { return l.path }

// Missing lists the optional symbols that this libibverbs has not, as
// name@version.
func (l *Library) Missing() []string { return l.missing }

// CMErr is nil where librdmacm is there, else why it is not.
func (l *Library) CMErr() error { return l.cmErr }

// Context is an opened device.
type Context struct {
	*node
	lib  *Library
	name string
	p    unsafe.Pointer // *C.struct_ibv_context
}

// Name is the device's name.
func (c *Context) Name() string { return c.name }

// Library is what the device was opened with.
func (c *Context) Library() *Library { return c.lib }

// Close closes everything made from the device, then the device.
func (c *Context) Close() error { return c.close() }

// PD is a protection domain.
type PD struct {
	*node
	ctx *Context
	p   unsafe.Pointer
}

// Context is the device the PD is of.
func (p *PD) Context() *Context { return p.ctx }

// Close closes the QPs, MRs and AHs of the PD, then the PD.
func (p *PD) Close() error { return p.close() }

// Memory is memory outside the Go heap, on pages of its own, zeroed. Its MRs
// may come and go while it stays.
type Memory struct {
	*node
	p      unsafe.Pointer
	length uint64
	view   []byte
}

// Len is the bytes of the memory.
func (m *Memory) Len() uint64 { return m.length }

// Bytes is the memory itself. A device may write to it at any time. It must
// not be used after Close.
func (m *Memory) Bytes() []byte { return m.view }

// Addr is the virtual address of its first byte.
func (m *Memory) Addr() uint64 { return uint64(uintptr(m.p)) }

// Close closes the MRs on the memory, then unmaps it.
func (m *Memory) Close() error { return m.close() }

// MR is a registered piece of memory.
type MR struct {
	*node
	pd     *PD
	mem    *Memory
	p      unsafe.Pointer
	off    uint64
	length uint64
	lkey   uint32
	rkey   uint32
	took   time.Duration
}

// Addr is the address of the MR's first byte, for a peer.
func (m *MR) Addr() uint64 { return m.mem.Addr() + m.off }

// Len is the bytes of the MR.
func (m *MR) Len() uint64 { return m.length }

// LKey and RKey are its keys.
func (m *MR) LKey() uint32 { return m.lkey }

// RKey is the key for a peer.
func (m *MR) RKey() uint32 { return m.rkey }

// Took is the time of the registration alone.
func (m *MR) Took() time.Duration { return m.took }

// Memory is what the MR is on.
func (m *MR) Memory() *Memory { return m.mem }

// Bytes is the MR's part of the memory.
func (m *MR) Bytes() []byte { return m.mem.view[m.off : m.off+m.length] }

// Close deregisters the MR. The memory stays.
func (m *MR) Close() error { return m.close() }

// CompChannel is a completion event channel.
type CompChannel struct {
	*node
	ctx *Context
	p   unsafe.Pointer
}

// Close closes the CQs that use the channel, then the channel.
func (c *CompChannel) Close() error { return c.close() }

// CQ is a completion queue.
type CQ struct {
	*node
	ctx *Context
	ch  *CompChannel
	p   unsafe.Pointer
	cqe int
}

// CQE is how many entries the CQ got, at least what was asked.
func (c *CQ) CQE() int { return c.cqe }

// Close closes the QPs that use the CQ, then the CQ.
func (c *CQ) Close() error { return c.close() }

// QP is a queue pair.
type QP struct {
	*node
	pd     *PD
	send   *CQ
	recv   *CQ
	typ    QPType
	caps   QPCaps
	num    uint32
	p      unsafe.Pointer
	object string // for errors
}

// Num is the QP number.
func (q *QP) Num() uint32 { return q.num }

// Type is the QP's type.
func (q *QP) Type() QPType { return q.typ }

// Caps is what the QP got, at least what was asked.
func (q *QP) Caps() QPCaps { return q.caps }

// SendCQ is where its send work requests complete.
func (q *QP) SendCQ() *CQ { return q.send }

// RecvCQ is where its receives complete.
func (q *QP) RecvCQ() *CQ { return q.recv }

// PD is the PD the QP is of.
func (q *QP) PD() *PD { return q.pd }

// Close destroys the QP.
func (q *QP) Close() error { return q.close() }

// AH is an address handle.
type AH struct {
	*node
	pd *PD
	p  unsafe.Pointer
}

// Close destroys the AH.
func (a *AH) Close() error { return a.close() }

// stopFlag is set when a context ends. C polls it.
type stopFlag struct {
	v      *int32
	cancel func() bool
}

func newStop(ctx context.Context) stopFlag {
	v := new(int32)
	return stopFlag{v, context.AfterFunc(ctx, func() { atomic.StoreInt32(v, 1) })}
}

func (s stopFlag) end() { s.cancel() }
