//go:build cgo && linux && !noverbs

package verbs

/*
#include "rd.h"
*/
import "C"

import (
	"fmt"
	"math"
	"syscall"
	"time"
	"unsafe"
)

// Alloc maps length bytes of memory. Pages are given when they are touched, by
// the caller or by a registration.
func (l *Library) Alloc(length uint64) (*Memory, error) {
	attr := fmt.Sprintf("%d bytes", length)
	if length == 0 || length > math.MaxInt {
		return nil, &Errno{Step: "map memory", Call: "mmap", Attr: attr, Errno: syscall.EINVAL}
	}
	var p unsafe.Pointer
	if err := failed(C.rd_alloc(C.size_t(length), &p), "map memory", "mmap", "", attr); err != nil {
		return nil, err
	}
	m := &Memory{p: p, length: length, view: unsafe.Slice((*byte)(p), length)}
	m.node = newNode(KindMemory, func() error {
		C.rd_free(p, C.size_t(length))
		m.view = nil
		return nil
	})
	return m, nil
}

func (p *PD) c() *C.struct_ibv_pd { return (*C.struct_ibv_pd)(p.p) }

// RegMR registers length bytes of the memory from offset on. It uses
// ibv_reg_mr_iova2 where access has an optional flag and the library has that
// call; else optional flags are left out, as verbs.h does it.
func (p *PD) RegMR(m *Memory, offset, length uint64, access Access) (*MR, error) {
	if !p.open() || !m.open() {
		return nil, ErrClosed
	}
	attr := fmt.Sprintf("%d bytes at offset %d, access %v", length, offset, access)
	if length > m.length || offset > m.length-length {
		return nil, &Errno{Step: "register MR", Call: "ibv_reg_mr", Object: p.ctx.name, Attr: attr, Errno: syscall.ERANGE}
	}
	var mr *C.struct_ibv_mr
	var ns C.uint64_t
	lib := p.ctx.lib.c()
	rc := C.rd_reg_mr(lib, p.c(), unsafe.Add(m.p, offset), C.size_t(length), C.uint(access), &mr, &ns)
	if err := failed(rc, "register MR", "ibv_reg_mr", p.ctx.name, attr); err != nil {
		return nil, err
	}
	out := &MR{pd: p, mem: m, p: unsafe.Pointer(mr), off: offset, length: length,
		lkey: uint32(mr.lkey), rkey: uint32(mr.rkey), took: time.Duration(ns)}
	out.node = newNode(KindMR, func() error {
		return failed(C.rd_dereg_mr(lib, mr), "deregister MR", "ibv_dereg_mr", p.ctx.name, attr)
	}, p.node, m.node)
	return out, nil
}
