//go:build cgo && linux && !noverbs

#include "rd_loop.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

int rd_wc_fail(struct rd_fail *fail, const char *op, const struct ibv_wc *wc,
	       uint64_t done)
{
	fail->op = op;
	fail->wc_status = (int)wc->status;
	fail->vendor_err = wc->vendor_err;
	fail->qpn = wc->qp_num;
	fail->done = done;
	return RD_WC;
}

/*
 * Sleeps in ibv_get_cq_event for each completion, as perftest does, also where
 * it is there already: what is measured is the way by an event. The sleep is
 * ended from outside by a move of the QP to ERR, which flushes a receive.
 */
static int take_event(const struct rd_loop *l, struct ibv_cq *cq,
		      struct rd_watch *w, struct ibv_wc *wc)
{
	for (;;) {
		struct ibv_cq *of;
		void *ctx;
		int n;

		while (w->owed != cq) {
			if (rd_stopped(w->stop))
				return rd_now() >= w->deadline ? -ETIMEDOUT : -ECANCELED;
			errno = 0;
			if (l->lib->get_cq_event(cq->channel, &of, &ctx)) {
				if (errno == EINTR)
					continue;
				return errno ? -errno : RD_NO_ERRNO;
			}
			l->lib->ack_cq_events(of, 1);
			n = rd_ret(ibv_req_notify_cq(of, 0));
			if (n)
				return n;
			if (of == cq)
				break;
			w->owed = of;
		}
		if (w->owed == cq)
			w->owed = NULL;
		n = ibv_poll_cq(cq, 1, wc);
		if (n)
			return n < 0 ? -EIO : 0;
	}
}

int rd_take(const struct rd_loop *l, struct ibv_cq *cq, struct rd_watch *w,
	    struct ibv_wc *wc)
{
	if (l->events)
		return take_event(l, cq, w, wc);
	for (;;) {
		int n = ibv_poll_cq(cq, 1, wc);

		if (n)
			return n < 0 ? -EIO : 0;
		n = rd_over(w);
		if (n)
			return n;
	}
}

void rd_fill(const struct rd_loop *l, const struct rd_lane *lane,
	     struct ibv_send_wr *wr, struct ibv_sge *sge)
{
	memset(wr, 0, sizeof(*wr));
	sge->addr = lane->send_addr;
	sge->length = l->size;
	sge->lkey = lane->lkey;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->opcode = (enum ibv_wr_opcode)l->op;
	wr->send_flags = IBV_SEND_SIGNALED | (l->inlined ? IBV_SEND_INLINE : 0);
	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr->wr.atomic.remote_addr = lane->remote_addr;
		wr->wr.atomic.rkey = lane->rkey;
		wr->wr.atomic.compare_add = 1;
		wr->wr.atomic.swap = 1;
		break;
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		wr->wr.rdma.remote_addr = lane->remote_addr;
		wr->wr.rdma.rkey = lane->rkey;
		break;
	default:
		break;
	}
}

int rd_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct rd_fail *fail,
	    uint64_t done)
{
	struct ibv_send_wr *bad;
	int n = ibv_post_send(qp, wr, &bad);

	if (!n)
		return 0;
	fail->op = "post send";
	fail->qpn = qp->qp_num;
	fail->done = done;
	return rd_ret(n);
}

int rd_post_rx(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct rd_fail *fail,
	       uint64_t done)
{
	struct ibv_recv_wr *bad;
	int n = ibv_post_recv(qp, wr, &bad);

	if (!n)
		return 0;
	fail->op = "post receive";
	fail->qpn = qp->qp_num;
	fail->done = done;
	return rd_ret(n);
}

/* get_cq_event blocks only in these loops. */
static void block(struct ibv_cq *cq)
{
	int flags = fcntl(cq->channel->fd, F_GETFL);

	if (flags >= 0)
		fcntl(cq->channel->fd, F_SETFL, flags & ~O_NONBLOCK);
}

int rd_prepare(const struct rd_loop *l, const struct rd_lane *lanes,
	       struct rd_fail *fail)
{
	memset(fail, 0, sizeof(*fail));
	errno = 0;
	for (int i = 0; i < l->lanes; i++) {
		struct ibv_sge sge = { lanes[i].recv_addr, l->size, lanes[i].lkey };
		struct ibv_recv_wr wr = { .wr_id = (uint64_t)i, .sg_list = &sge,
					  .num_sge = 1 };

		memset((void *)(uintptr_t)lanes[i].recv_addr, 0,
		       l->split ? rd_flag_offset(l) + 8 : l->size);
		for (uint32_t k = 0; k < l->rx_depth; k++) {
			int n = rd_post_rx(lanes[i].qp, &wr, fail, k);

			if (n)
				return n;
		}
	}
	if (!l->events)
		return 0;
	if (!l->send_cq->channel || !l->recv_cq->channel)
		return -EINVAL;
	block(l->send_cq);
	block(l->recv_cq);
	if (ibv_req_notify_cq(l->send_cq, 0) || ibv_req_notify_cq(l->recv_cq, 0))
		return -EIO;
	return 0;
}
