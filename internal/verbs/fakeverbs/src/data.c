#define _GNU_SOURCE
#include "fake.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A write that was held back, to arrive after the next one. */
static struct {
	int set;
	void *to;
	char data[64];
	size_t length;
} deferred;
static unsigned int writes;

void forget_deferred(void)
{
	deferred.set = 0;
}

void complete(struct fake_cq *cq, const struct ibv_wc *wc)
{
	unsigned int next = (cq->head + 1) % ((unsigned int)cq->cq.cqe + 1);
	struct done *d = &cq->ring[cq->head];

	if (script.lie_drop)
		return;
	if (next == cq->tail) {
		if (!cq->overrun++)
			raise_event(cq->cq.context, IBV_EVENT_CQ_ERR, NULL, 0);
		return;
	}
	d->wc = *wc;
	d->at = script.latency ? now() + script.latency : 0;
	if (script.lie_wr_id)
		d->wc.wr_id ^= 0xdead;
	if (script.lie_status)
		d->wc.status = (enum ibv_wc_status)script.lie_status;
	if (script.lie_opcode)
		d->wc.opcode = (enum ibv_wc_opcode)script.lie_opcode;
	if (d->wc.status)
		d->wc.vendor_err = script.vendor_err;
	cq->head = next;
	if (cq->armed && cq->cq.channel) {
		struct ibv_cq *p = &cq->cq;

		cq->armed = 0;
		if (write(cq->cq.channel->refcnt, &p, sizeof(p)) < 0)
			abort();
	}
}

int fake_poll_cq(struct ibv_cq *ibcq, int n, struct ibv_wc *wc)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;
	int got = 0, e = enter(C_POLL_CQ);

	if (e)
		return -1;
	/* Most polls find nothing, and are not to slow the other end down. */
	if (__atomic_load_n(&cq->head, __ATOMIC_ACQUIRE) == cq->tail)
		return 0;
	pthread_mutex_lock(&lock);
	while (got < n && cq->tail != cq->head) {
		struct done *d = &cq->ring[cq->tail];

		if (d->at && now() < d->at)
			break;
		wc[got++] = d->wc;
		cq->tail = (cq->tail + 1) % ((unsigned int)ibcq->cqe + 1);
	}
	pthread_mutex_unlock(&lock);
	return got;
}

int fake_req_notify_cq(struct ibv_cq *ibcq, int solicited)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;

	(void)solicited;
	pthread_mutex_lock(&lock);
	cq->armed = 1;
	pthread_mutex_unlock(&lock);
	return 0;
}

void to_err(struct fake_qp *q)
{
	struct ibv_wc wc = { .status = IBV_WC_WR_FLUSH_ERR, .qp_num = q->qp.qp_num };

	q->qp.state = IBV_QPS_ERR;
	while (q->tail != q->head) {
		wc.wr_id = q->recvs[q->tail].id;
		q->tail = (q->tail + 1) % (q->cap.max_recv_wr + 1);
		complete((struct fake_cq *)q->qp.recv_cq, &wc);
	}
}

int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;
	int e = enter(C_POST_RECV);

	*bad = wr;
	if (e)
		return e;
	pthread_mutex_lock(&lock);
	for (; wr && !e; wr = wr->next) {
		unsigned int next = (q->head + 1) % (q->cap.max_recv_wr + 1);

		*bad = wr;
		if (qp->state == IBV_QPS_RESET) {
			e = EINVAL;
		} else if (next == q->tail) {
			e = ENOMEM;
		} else {
			q->recvs[q->head].id = wr->wr_id;
			q->recvs[q->head].sge = wr->num_sge ? wr->sg_list[0] : (struct ibv_sge){ 0 };
			q->head = next;
			if (qp->state == IBV_QPS_ERR)
				to_err(q);
		}
	}
	pthread_mutex_unlock(&lock);
	return e;
}

static struct fake_mr *find_mr(uint32_t key)
{
	struct fake_mr *m = mrs;

	while (m && m->mr.rkey != key)
		m = m->next;
	return m;
}

/* What the responder says to an access: 0, or a status of the requester. */
static int allowed(uint32_t key, uint64_t addr, size_t length, unsigned int access,
		   unsigned int qp_access, struct ibv_pd *pd)
{
	struct fake_mr *m = find_mr(key);
	uint64_t start;

	if (!m)
		return script.allow & ALLOW_WRONG_RKEY ? 0 : IBV_WC_REM_ACCESS_ERR;
	if (m->mr.pd != pd)
		return IBV_WC_REM_ACCESS_ERR;
	start = (uintptr_t)m->mr.addr;
	if ((addr < start || addr + length > start + m->mr.length) &&
	    !(script.allow & ALLOW_RANGE))
		return IBV_WC_REM_ACCESS_ERR;
	if (!(m->access & access) && !(script.allow & ALLOW_PERMISSION))
		return IBV_WC_REM_ACCESS_ERR;
	if (!(qp_access & access) && !(script.allow & ALLOW_PERMISSION))
		return IBV_WC_REM_INV_REQ_ERR;
	return 0;
}

static void store(void *to, const void *from, size_t length)
{
	/* Flags, of 8 bytes, are never held back: nothing would follow them. */
	if (script.disorder && length <= sizeof(deferred.data) && (deferred.set || length > 8)) {
		if (deferred.set) {
			memcpy(to, from, length);
			__atomic_thread_fence(__ATOMIC_RELEASE);
			/* The reader sees the later write first. */
			usleep(200);
			memcpy(deferred.to, deferred.data, deferred.length);
			deferred.set = 0;
			return;
		}
		if (++writes % (unsigned int)script.disorder == 0) {
			deferred.set = 1;
			deferred.to = to;
			deferred.length = length;
			memcpy(deferred.data, from, length);
			return;
		}
	}
	if (length > 1) {
		/* Last byte last: a poller on it must find the rest. */
		memcpy(to, from, length - 1);
		if (script.lie_data)
			*(char *)to ^= 0x55;
	}
	if (length)
		__atomic_store_n((char *)to + length - 1,
				 ((const char *)from)[length - 1], __ATOMIC_RELEASE);
}

/* A send meets a receive. */
static int deliver(struct fake_qp *from, struct fake_qp *to, struct ibv_send_wr *wr,
		   struct ibv_sge *sge, int has_imm)
{
	struct ibv_wc wc = { .opcode = IBV_WC_RECV, .qp_num = to->qp.qp_num,
			     .src_qp = from->qp.qp_num, .imm_data = wr->imm_data };
	unsigned int grh = to->qp.qp_type == IBV_QPT_UD ? 40 : 0;
	int write = wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct fake_recv r;

	if (to->head == to->tail)
		return script.allow & ALLOW_RNR ? 0 : IBV_WC_RNR_RETRY_EXC_ERR;
	r = to->recvs[to->tail];
	to->tail = (to->tail + 1) % (to->cap.max_recv_wr + 1);
	wc.wr_id = r.id;
	wc.byte_len = sge->length + grh;
	wc.wc_flags = (has_imm ? IBV_WC_WITH_IMM : 0) | (grh ? IBV_WC_GRH : 0);
	if (write) {
		wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
	} else if (r.sge.length < sge->length + grh) {
		wc.status = IBV_WC_LOC_LEN_ERR;
		complete((struct fake_cq *)to->qp.recv_cq, &wc);
		to_err(to);
		return IBV_WC_REM_INV_REQ_ERR;
	} else {
		store((char *)(uintptr_t)r.sge.addr + grh, (void *)(uintptr_t)sge->addr, sge->length);
	}
	complete((struct fake_cq *)to->qp.recv_cq, &wc);
	return 0;
}

static int atomic(struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	uint64_t *at = (uint64_t *)(uintptr_t)wr->wr.atomic.remote_addr, old;

	if (wr->wr.atomic.remote_addr % 8 || sge->length != 8)
		return IBV_WC_REM_INV_REQ_ERR;
	old = *at;
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		*at = old + wr->wr.atomic.compare_add;
	else if (old == wr->wr.atomic.compare_add)
		*at = wr->wr.atomic.swap;
	memcpy((void *)(uintptr_t)sge->addr, &old, sizeof(old));
	return 0;
}

static int move(struct fake_qp *q, struct fake_qp *to, struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	unsigned int qpa = to->attr.qp_access_flags;
	void *remote = (void *)(uintptr_t)wr->wr.rdma.remote_addr;
	void *local = (void *)(uintptr_t)sge->addr;
	struct ibv_pd *pd = to->qp.pd;
	int bad = 0;

	switch (wr->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
		return deliver(q, to, wr, sge, wr->opcode == IBV_WR_SEND_WITH_IMM);
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		bad = allowed(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, sge->length,
			      IBV_ACCESS_REMOTE_WRITE, qpa, pd);
		if (bad)
			return bad;
		store(remote, local, sge->length);
		return wr->opcode == IBV_WR_RDMA_WRITE ? 0 : deliver(q, to, wr, sge, 1);
	case IBV_WR_RDMA_READ:
		bad = allowed(wr->wr.rdma.rkey, wr->wr.rdma.remote_addr, sge->length,
			      IBV_ACCESS_REMOTE_READ, qpa, pd);
		if (!bad)
			store(local, remote, sge->length);
		return bad;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		bad = allowed(wr->wr.atomic.rkey, wr->wr.atomic.remote_addr, 8,
			      IBV_ACCESS_REMOTE_ATOMIC, qpa, pd);
		return bad ? bad : atomic(wr, sge);
	default:
		return IBV_WC_LOC_QP_OP_ERR;
	}
}

static const enum ibv_wc_opcode opcodes[] = {
	[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_SEND] = IBV_WC_SEND,
	[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
	[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
};

/*
 * Does one work request. False: the peer has no receive and rnr_retry says to
 * try for ever, which is not yet over.
 */
static int one(struct fake_qp *q, struct ibv_send_wr *wr, uint64_t patience)
{
	struct ibv_wc wc = { .wr_id = wr->wr_id, .qp_num = q->qp.qp_num };
	struct ibv_sge none = { 0 }, *sge = wr->num_sge ? wr->sg_list : &none;
	int ud = q->qp.qp_type == IBV_QPT_UD, rc = q->qp.qp_type == IBV_QPT_RC;
	struct fake_qp *to = find_qp(ud ? wr->wr.ud.remote_qpn : q->attr.dest_qp_num);
	struct fake_mr *m = find_mr(sge->lkey);
	int status = 0;

	wc.opcode = opcodes[wr->opcode];
	wc.byte_len = sge->length;
	if (q->qp.state == IBV_QPS_ERR) {
		status = IBV_WC_WR_FLUSH_ERR;
	} else if (sge->length && !(wr->send_flags & IBV_SEND_INLINE) &&
		   (!m || m->dead || sge->addr < (uintptr_t)m->mr.addr ||
		    sge->addr + sge->length > (uintptr_t)m->mr.addr + m->mr.length)) {
		status = IBV_WC_LOC_PROT_ERR;
	} else if (!to || to->qp.state < IBV_QPS_RTR || to->qp.state > IBV_QPS_RTS) {
		status = rc ? IBV_WC_RETRY_EXC_ERR : 0;
	} else if (ud && wr->wr.ud.remote_qkey != to->attr.qkey) {
		status = 0;
	} else {
		status = move(q, to, wr, sge);
		if (!rc)
			status = 0;
		if (status == IBV_WC_RNR_RETRY_EXC_ERR && q->attr.rnr_retry == 7 &&
		    (!patience || now() < patience))
			return 0;
	}
	/*
	 * A responder that refuses tells its own host by an event. On iWARP the
	 * requester's write was done when it was sent, and its QP ends later.
	 */
	if (status == IBV_WC_REM_ACCESS_ERR && to) {
		raise_event(to->qp.context, IBV_EVENT_QP_ACCESS_ERR, &to->qp, 0);
		to_err(to);
		if (script.iwarp) {
			if (wr->opcode == IBV_WR_RDMA_WRITE)
				status = 0;
			q->qp.state = IBV_QPS_ERR;
		}
	}
	wc.status = (enum ibv_wc_status)status;
	if (status || q->sig_all || (wr->send_flags & IBV_SEND_SIGNALED))
		complete((struct fake_cq *)q->qp.send_cq, &wc);
	if (status && q->qp.state != IBV_QPS_ERR)
		to_err(q);
	return 1;
}

/* For ever is two seconds here: a test is to end. */
#define PATIENCE 2000000000u

int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad)
{
	struct fake_qp *q = (struct fake_qp *)qp;
	int e = enter(C_POST_SEND);

	*bad = wr;
	if (e)
		return e;
	pthread_mutex_lock(&lock);
	for (; wr && !e; wr = wr->next) {
		*bad = wr;
		if (qp->state < IBV_QPS_RTS ||
		    ((wr->send_flags & IBV_SEND_INLINE) && wr->num_sge &&
		     wr->sg_list[0].length > q->cap.max_inline_data))
			e = EINVAL;
		for (uint64_t end = 0; !e && !one(q, wr, end);) {
			if (!end)
				end = now() + PATIENCE;
			pthread_mutex_unlock(&lock);
			sched_yield();
			pthread_mutex_lock(&lock);
		}
	}
	pthread_mutex_unlock(&lock);
	return e;
}
