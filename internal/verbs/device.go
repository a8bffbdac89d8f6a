//go:build cgo && linux && !noverbs

package verbs

/*
#include "rd.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math/bits"
	"syscall"
	"unsafe"
)

func (c *Context) c() *C.struct_ibv_context { return (*C.struct_ibv_context)(c.p) }

// port is the subject of an error.
func (c *Context) port(n int) string { return fmt.Sprintf("%s/%d", c.name, n) }

// QueryDevice is ibv_query_device_ex, or ibv_query_device where the provider
// has no more. It fails with the errno that the call returned.
func (c *Context) QueryDevice() (DeviceAttr, error) {
	if !c.open() {
		return DeviceAttr{}, ErrClosed
	}
	var a C.struct_ibv_device_attr_ex
	var ex C.int
	if err := failed(C.rd_query_device(c.lib.c(), c.c(), &a, &ex), "query device", "ibv_query_device", c.name, ""); err != nil {
		return DeviceAttr{}, err
	}
	o := &a.orig_attr
	d := DeviceAttr{
		FWVer:    C.GoString(&o.fw_ver[0]),
		NodeGUID: bigEndian64(uint64(o.node_guid)), SysImageGUID: bigEndian64(uint64(o.sys_image_guid)),
		VendorID: uint32(o.vendor_id), VendorPartID: uint32(o.vendor_part_id), HWVer: uint32(o.hw_ver),
		MaxMRSize: uint64(o.max_mr_size), PageSizeCap: uint64(o.page_size_cap),
		DeviceCapFlags: uint32(o.device_cap_flags),
		MaxQP:          int(o.max_qp), MaxQPWR: int(o.max_qp_wr), MaxSGE: int(o.max_sge), MaxSGERd: int(o.max_sge_rd),
		MaxCQ: int(o.max_cq), MaxCQE: int(o.max_cqe),
		MaxMR: int(o.max_mr), MaxPD: int(o.max_pd), MaxAH: int(o.max_ah), MaxSRQ: int(o.max_srq),
		MaxQPRdAtom: int(o.max_qp_rd_atom), MaxQPInitRdAtom: int(o.max_qp_init_rd_atom),
		AtomicCap: int(o.atomic_cap), MaxPKeys: int(o.max_pkeys), PhysPortCnt: int(o.phys_port_cnt),
		LocalCAAckDelay: int(o.local_ca_ack_delay),
	}
	if ex != 0 {
		d.Ex = true
		d.ODPGeneral = uint64(a.odp_caps.general_caps)
		d.ODPRC = uint32(a.odp_caps.per_transport_caps.rc_odp_caps)
		d.PCIAtomicFetchAdd = uint16(a.pci_atomic_caps.fetch_add)
		d.PCIAtomicSwap = uint16(a.pci_atomic_caps.swap)
		d.PCIAtomicCompareSwap = uint16(a.pci_atomic_caps.compare_swap)
	}
	return d, nil
}

// QueryPort is ibv_query_port; ports count from 1.
func (c *Context) QueryPort(port int) (PortAttr, error) {
	if !c.open() {
		return PortAttr{}, ErrClosed
	}
	var a C.struct_ibv_port_attr
	if err := failed(C.rd_query_port(c.lib.c(), c.c(), C.uint8_t(port), &a), "query port", "ibv_query_port", c.port(port), ""); err != nil {
		return PortAttr{}, err
	}
	return PortAttr{
		State: int(a.state), PhysState: int(a.phys_state),
		MaxMTU: mtuBytes(int(a.max_mtu)), ActiveMTU: mtuBytes(int(a.active_mtu)),
		GIDTblLen: int(a.gid_tbl_len), PKeyTblLen: int(a.pkey_tbl_len), MaxMsgSz: uint32(a.max_msg_sz),
		LID: uint16(a.lid), SMLID: uint16(a.sm_lid), LMC: uint8(a.lmc), SMSL: uint8(a.sm_sl),
		LinkLayer: int(a.link_layer), ActiveWidth: uint8(a.active_width), ActiveSpeed: uint8(a.active_speed),
		PortCapFlags: uint32(a.port_cap_flags),
	}, nil
}

// QueryGID is ibv_query_gid. An empty entry is all zero and no error.
func (c *Context) QueryGID(port, index int) (GID, error) {
	if !c.open() {
		return GID{}, ErrClosed
	}
	var raw [16]C.uint8_t
	rc := C.rd_query_gid(c.lib.c(), c.c(), C.uint8_t(port), C.int(index), &raw[0])
	var g GID
	for i, b := range raw {
		g[i] = byte(b)
	}
	return g, failed(rc, "query GID", "ibv_query_gid", c.port(port), fmt.Sprintf("index %d", index))
}

// GIDTable gives the valid entries of a port's GID table, with their types, or
// ErrNotOffered where the library is older than 1.11 or the kernel than 5.10.
func (c *Context) GIDTable(port int) ([]GIDEntry, error) {
	if !c.open() {
		return nil, ErrClosed
	}
	p, err := c.QueryPort(port)
	if err != nil {
		return nil, err
	}
	d, err := c.QueryDevice()
	if err != nil {
		return nil, err
	}
	// The call gives the entries of all ports. Tables have the same length.
	room := max(p.GIDTblLen, 1) * max(d.PhysPortCnt, 1)
	buf := make([]C.struct_ibv_gid_entry, min(room, 1<<16))
	n := C.rd_gid_table(c.lib.c(), c.c(), &buf[0], C.size_t(len(buf)))
	if n < 0 {
		err := failed(n, "query GID table", "ibv_query_gid_table", c.port(port), "")
		if errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP) {
			return nil, fmt.Errorf("query GID table %s: %w", c.port(port), ErrNotOffered)
		}
		return nil, err
	}
	var out []GIDEntry
	for _, e := range buf[:min(int(n), len(buf))] {
		if int(e.port_num) == port {
			out = append(out, GIDEntry{GID: GID(e.gid), Index: int(e.gid_index), Port: port,
				Type: GIDType(e.gid_type), IfIndex: int(e.ndev_ifindex)})
		}
	}
	return out, nil
}

// QueryPKey is ibv_query_pkey, in host order.
func (c *Context) QueryPKey(port, index int) (uint16, error) {
	if !c.open() {
		return 0, ErrClosed
	}
	var k C.uint16_t
	rc := C.rd_query_pkey(c.lib.c(), c.c(), C.uint8_t(port), C.int(index), &k)
	return uint16(k), failed(rc, "query pkey", "ibv_query_pkey", c.port(port), fmt.Sprintf("index %d", index))
}

// AsyncEvent takes an event that is waiting, and acknowledges it. Where none
// is, it says ErrNoEvent at once.
func (c *Context) AsyncEvent() (AsyncEvent, error) {
	if !c.open() {
		return AsyncEvent{}, ErrClosed
	}
	var e C.struct_rd_async
	rc := C.rd_async_event(c.lib.c(), c.c(), &e)
	if rc == -C.int(syscall.EAGAIN) {
		return AsyncEvent{}, ErrNoEvent
	}
	return AsyncEvent{Type: EventType(e._type), Port: int(e.port), QPN: uint32(e.qpn)},
		failed(rc, "read asynchronous event", "ibv_get_async_event", c.name, "")
}

// AllocPD is ibv_alloc_pd.
func (c *Context) AllocPD() (*PD, error) {
	if !c.open() {
		return nil, ErrClosed
	}
	var p *C.struct_ibv_pd
	if err := failed(C.rd_alloc_pd(c.lib.c(), c.c(), &p), "allocate PD", "ibv_alloc_pd", c.name, ""); err != nil {
		return nil, err
	}
	pd := &PD{ctx: c, p: unsafe.Pointer(p)}
	pd.node = newNode(KindPD, func() error {
		return failed(C.rd_dealloc_pd(c.lib.c(), p), "deallocate PD", "ibv_dealloc_pd", c.name, "")
	}, c.node)
	return pd, nil
}

// CreateCompChannel is ibv_create_comp_channel. Waiting on it never blocks
// longer than the caller says.
func (c *Context) CreateCompChannel() (*CompChannel, error) {
	if !c.open() {
		return nil, ErrClosed
	}
	var p *C.struct_ibv_comp_channel
	if err := failed(C.rd_create_channel(c.lib.c(), c.c(), &p), "create completion channel", "ibv_create_comp_channel", c.name, ""); err != nil {
		return nil, err
	}
	ch := &CompChannel{ctx: c, p: unsafe.Pointer(p)}
	ch.node = newNode(KindCompChannel, func() error {
		return failed(C.rd_destroy_channel(c.lib.c(), p), "destroy completion channel", "ibv_destroy_comp_channel", c.name, "")
	}, c.node)
	return ch, nil
}

// CreateCQ is ibv_create_cq with room for cqe completions, on completion
// vector 0. ch may be nil.
func (c *Context) CreateCQ(cqe int, ch *CompChannel) (*CQ, error) {
	if !c.open() || ch != nil && !ch.open() {
		return nil, ErrClosed
	}
	parents := []*node{c.node}
	var cch *C.struct_ibv_comp_channel
	if ch != nil {
		cch = (*C.struct_ibv_comp_channel)(ch.p)
		parents = append(parents, ch.node)
	}
	var p *C.struct_ibv_cq
	rc := C.rd_create_cq(c.lib.c(), c.c(), C.int(cqe), cch, 0, &p)
	if err := failed(rc, "create CQ", "ibv_create_cq", c.name, fmt.Sprintf("%d entries", cqe)); err != nil {
		return nil, err
	}
	cq := &CQ{ctx: c, ch: ch, p: unsafe.Pointer(p), cqe: int(p.cqe)}
	cq.node = newNode(KindCQ, func() error {
		return failed(C.rd_destroy_cq(c.lib.c(), p), "destroy CQ", "ibv_destroy_cq", c.name, "")
	}, parents...)
	return cq, nil
}

// bigEndian64 turns what verbs.h types __be64 to host order on x86 and arm64.
func bigEndian64(v uint64) uint64 { return bits.ReverseBytes64(v) }
