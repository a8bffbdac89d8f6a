//go:build cgo && linux && !noverbs

package verbs

/*
#include "rd.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

func (q *QP) c() *C.struct_ibv_qp { return (*C.struct_ibv_qp)(q.p) }

// CreateQP is ibv_create_qp. The QP is in RESET.
func (p *PD) CreateQP(i QPInit) (*QP, error) {
	if i.RecvCQ == nil {
		i.RecvCQ = i.SendCQ
	}
	if !p.open() || i.SendCQ == nil || !i.SendCQ.open() || !i.RecvCQ.open() {
		return nil, ErrClosed
	}
	a, attr := initAttr(&i)
	lib, name := p.ctx.lib.c(), p.ctx.name
	var qp *C.struct_ibv_qp
	if err := failed(C.rd_create_qp(lib, p.c(), a, &qp), "create QP", "ibv_create_qp", name, attr); err != nil {
		return nil, err
	}
	q := &QP{pd: p, send: i.SendCQ, recv: i.RecvCQ, typ: i.Type, caps: capsOf(&a.cap), num: uint32(qp.qp_num),
		p: unsafe.Pointer(qp), object: name}
	q.node = newNode(KindQP, func() error {
		return failed(C.rd_destroy_qp(lib, qp), "destroy QP", "ibv_destroy_qp", name, "")
	}, p.node, i.SendCQ.node, i.RecvCQ.node)
	return q, nil
}

// initAttr puts what is asked for in C's terms, and in words for an error.
func initAttr(i *QPInit) (*C.struct_ibv_qp_init_attr, string) {
	i.Caps.MaxSendSGE = max(i.Caps.MaxSendSGE, 1)
	i.Caps.MaxRecvSGE = max(i.Caps.MaxRecvSGE, 1)
	a := new(C.struct_ibv_qp_init_attr)
	a.qp_type = C.enum_ibv_qp_type(i.Type)
	a.send_cq = (*C.struct_ibv_cq)(i.SendCQ.p)
	a.recv_cq = (*C.struct_ibv_cq)(i.RecvCQ.p)
	a.cap = C.struct_ibv_qp_cap{
		max_send_wr: C.uint32_t(i.Caps.MaxSendWR), max_recv_wr: C.uint32_t(i.Caps.MaxRecvWR),
		max_send_sge: C.uint32_t(i.Caps.MaxSendSGE), max_recv_sge: C.uint32_t(i.Caps.MaxRecvSGE),
		max_inline_data: C.uint32_t(i.Caps.MaxInlineData),
	}
	if i.SignalAll {
		a.sq_sig_all = 1
	}
	return a, fmt.Sprintf("%v, max_send_wr %d, max_recv_wr %d, max_inline_data %d", i.Type, i.Caps.MaxSendWR,
		i.Caps.MaxRecvWR, i.Caps.MaxInlineData)
}

func capsOf(c *C.struct_ibv_qp_cap) QPCaps {
	return QPCaps{MaxSendWR: int(c.max_send_wr), MaxRecvWR: int(c.max_recv_wr), MaxSendSGE: int(c.max_send_sge),
		MaxRecvSGE: int(c.max_recv_sge), MaxInlineData: int(c.max_inline_data)}
}

func (q *QP) modify(a *C.struct_ibv_qp_attr, mask C.int, state, attr string) error {
	if !q.open() {
		return ErrClosed
	}
	return failed(C.rd_modify_qp(q.pd.ctx.lib.c(), q.c(), a, mask|C.IBV_QP_STATE), "modify QP to "+state, "ibv_modify_qp", q.object, attr)
}

// ToInit modifies the QP from RESET to INIT.
func (q *QP) ToInit(i InitAttr) error {
	var a C.struct_ibv_qp_attr
	a.qp_state = C.IBV_QPS_INIT
	a.pkey_index = C.uint16_t(i.PKeyIndex)
	a.port_num = C.uint8_t(i.Port)
	a.qp_access_flags = C.uint(i.Access)
	a.qkey = C.uint32_t(i.QKey)
	attr := fmt.Sprintf("port %d, pkey index %d", i.Port, i.PKeyIndex)
	if q.typ == UD {
		return q.modify(&a, C.IBV_QP_PKEY_INDEX|C.IBV_QP_PORT|C.IBV_QP_QKEY, "INIT", attr)
	}
	return q.modify(&a, C.IBV_QP_PKEY_INDEX|C.IBV_QP_PORT|C.IBV_QP_ACCESS_FLAGS, "INIT",
		attr+", access "+i.Access.String())
}

// ToRTR modifies the QP from INIT to RTR: it can receive.
func (q *QP) ToRTR(r RTRAttr) error {
	var a C.struct_ibv_qp_attr
	a.qp_state = C.IBV_QPS_RTR
	if q.typ == UD {
		return q.modify(&a, 0, "RTR", "")
	}
	fillAH(&a.ah_attr, r.AH)
	a.path_mtu = C.enum_ibv_mtu(mtuCode(r.PathMTU))
	a.dest_qp_num = C.uint32_t(r.DestQPN)
	a.rq_psn = C.uint32_t(r.RQPSN)
	a.max_dest_rd_atomic = C.uint8_t(r.MaxDestRdAtomic)
	a.min_rnr_timer = C.uint8_t(r.MinRNRTimer)
	mask := C.int(C.IBV_QP_AV | C.IBV_QP_PATH_MTU | C.IBV_QP_DEST_QPN | C.IBV_QP_RQ_PSN)
	if q.typ == RC {
		mask |= C.IBV_QP_MAX_DEST_RD_ATOMIC | C.IBV_QP_MIN_RNR_TIMER
	}
	return q.modify(&a, mask, "RTR", fmt.Sprintf("%v, path MTU %d, destination QPN %d", r.AH, r.PathMTU, r.DestQPN))
}

// ToRTS modifies the QP from RTR to RTS: it can send.
func (q *QP) ToRTS(r RTSAttr) error {
	var a C.struct_ibv_qp_attr
	a.qp_state = C.IBV_QPS_RTS
	a.sq_psn = C.uint32_t(r.SQPSN)
	a.timeout = C.uint8_t(r.Timeout)
	a.retry_cnt = C.uint8_t(r.RetryCnt)
	a.rnr_retry = C.uint8_t(r.RNRRetry)
	a.max_rd_atomic = C.uint8_t(r.MaxRdAtomic)
	if q.typ != RC {
		return q.modify(&a, C.IBV_QP_SQ_PSN, "RTS", "")
	}
	return q.modify(&a, C.IBV_QP_SQ_PSN|C.IBV_QP_TIMEOUT|C.IBV_QP_RETRY_CNT|C.IBV_QP_RNR_RETRY|C.IBV_QP_MAX_QP_RD_ATOMIC,
		"RTS", fmt.Sprintf("timeout %d, retry count %d, RNR retry %d, max_rd_atomic %d", r.Timeout, r.RetryCnt, r.RNRRetry, r.MaxRdAtomic))
}

// ToErr modifies the QP to ERR: what is posted is flushed.
func (q *QP) ToErr() error {
	var a C.struct_ibv_qp_attr
	a.qp_state = C.IBV_QPS_ERR
	return q.modify(&a, 0, "ERR", "")
}

// ToReset modifies the QP to RESET: what is posted is forgotten.
func (q *QP) ToReset() error {
	var a C.struct_ibv_qp_attr
	a.qp_state = C.IBV_QPS_RESET
	return q.modify(&a, 0, "RESET", "")
}

// Query is ibv_query_qp.
func (q *QP) Query() (QPStatus, error) {
	if !q.open() {
		return QPStatus{}, ErrClosed
	}
	var a C.struct_ibv_qp_attr
	if err := failed(C.rd_query_qp(q.pd.ctx.lib.c(), q.c(), &a), "query QP", "ibv_query_qp", q.object, ""); err != nil {
		return QPStatus{}, err
	}
	return QPStatus{State: QPState(a.qp_state) + 1, PathMTU: mtuBytes(int(a.path_mtu)), Caps: capsOf(&a.cap),
		RQPSN: uint32(a.rq_psn), SQPSN: uint32(a.sq_psn), DestQPN: uint32(a.dest_qp_num),
		RetryCnt: int(a.retry_cnt), RNRRetry: int(a.rnr_retry), Timeout: int(a.timeout),
		MinRNRTimer: int(a.min_rnr_timer), MaxRdAtomic: int(a.max_rd_atomic)}, nil
}

// State is the QP's state, QPStateUnknown where it cannot be asked.
func (q *QP) State() QPState {
	s, err := q.Query()
	if err != nil {
		return QPStateUnknown
	}
	return s.State
}

func fillAH(c *C.struct_ibv_ah_attr, a AHAttr) {
	c.port_num = C.uint8_t(a.Port)
	c.dlid = C.uint16_t(a.DLID)
	c.sl = C.uint8_t(a.SL)
	c.src_path_bits = C.uint8_t(a.SrcPathBits)
	c.static_rate = C.uint8_t(a.StaticRate)
	if !a.Global {
		return
	}
	c.is_global = 1
	c.grh.dgid = C.union_ibv_gid(a.DGID)
	c.grh.flow_label = C.uint32_t(a.FlowLabel)
	c.grh.sgid_index = C.uint8_t(a.SGIDIndex)
	c.grh.hop_limit = C.uint8_t(a.HopLimit)
	c.grh.traffic_class = C.uint8_t(a.TrafficClass)
}

// CreateAH is ibv_create_ah.
func (p *PD) CreateAH(a AHAttr) (*AH, error) {
	if !p.open() {
		return nil, ErrClosed
	}
	var c C.struct_ibv_ah_attr
	fillAH(&c, a)
	var ah *C.struct_ibv_ah
	lib, name := p.ctx.lib.c(), p.ctx.name
	if err := failed(C.rd_create_ah(lib, p.c(), &c, &ah), "create AH", "ibv_create_ah", name, a.String()); err != nil {
		return nil, err
	}
	out := &AH{pd: p, p: unsafe.Pointer(ah)}
	out.node = newNode(KindAH, func() error {
		return failed(C.rd_destroy_ah(lib, ah), "destroy AH", "ibv_destroy_ah", name, "")
	}, p.node)
	return out, nil
}
