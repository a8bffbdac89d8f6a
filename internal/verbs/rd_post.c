//go:build cgo && linux && !noverbs

#include "rd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

int rd_post_send(struct ibv_qp *qp, const struct rd_wr *w)
{
	struct ibv_send_wr wr, *bad = NULL;
	struct ibv_sge sge = { w->addr, w->length, w->lkey };

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = w->id;
	wr.opcode = (enum ibv_wr_opcode)w->op;
	wr.send_flags = w->flags;
	wr.imm_data = htonl(w->imm);
	if (w->has_sge) {
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = w->ah;
		wr.wr.ud.remote_qpn = w->remote_qpn;
		wr.wr.ud.remote_qkey = w->remote_qkey;
	} else if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
		   wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = w->remote_addr;
		wr.wr.atomic.rkey = w->rkey;
		wr.wr.atomic.compare_add = w->compare_add;
		wr.wr.atomic.swap = w->swap;
	} else {
		wr.wr.rdma.remote_addr = w->remote_addr;
		wr.wr.rdma.rkey = w->rkey;
	}
	errno = 0;
	return rd_ret(ibv_post_send(qp, &wr, &bad));
}

int rd_post_recv(struct ibv_qp *qp, const struct rd_wr *w)
{
	struct ibv_recv_wr wr, *bad = NULL;
	struct ibv_sge sge = { w->addr, w->length, w->lkey };

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = w->id;
	if (w->has_sge) {
		wr.sg_list = &sge;
		wr.num_sge = 1;
	}
	errno = 0;
	return rd_ret(ibv_post_recv(qp, &wr, &bad));
}

int rd_poll(struct ibv_cq *cq, struct rd_wc *out)
{
	struct ibv_wc wc;
	int n;

	memset(&wc, 0, sizeof(wc));
	errno = 0;
	n = ibv_poll_cq(cq, 1, &wc);
	if (n < 0)
		return n == -1 ? (errno ? -errno : RD_NO_ERRNO) : n;
	if (!n)
		return 0;
	out->id = wc.wr_id;
	out->status = (int)wc.status;
	out->opcode = (int)wc.opcode;
	out->vendor_err = wc.vendor_err;
	out->byte_len = wc.byte_len;
	out->qpn = wc.qp_num;
	out->src_qp = wc.src_qp;
	out->imm = ntohl(wc.imm_data);
	out->flags = (int)wc.wc_flags;
	return 1;
}

int rd_wait(struct ibv_cq *cq, uint64_t deadline, const int *stop,
	    struct rd_wc *wc)
{
	for (;;) {
		int n = rd_poll(cq, wc);

		if (n)
			return n;
		if (rd_stopped(stop))
			return -ECANCELED;
		if (rd_now() >= deadline)
			return -ETIMEDOUT;
	}
}

int rd_wait_event(struct rd_lib *lib, struct ibv_cq *cq, uint64_t deadline,
		  const int *stop, struct rd_wc *wc)
{
	struct pollfd p = { .events = POLLIN };

	if (!cq->channel)
		return -EINVAL;
	p.fd = cq->channel->fd;
	for (;;) {
		struct ibv_cq *of;
		void *ctx;
		uint64_t now;
		int n, left;

		/* Armed first, then polled: a completion between is not lost. */
		errno = 0;
		n = rd_ret(ibv_req_notify_cq(cq, 0));
		if (n)
			return n;
		n = rd_poll(cq, wc);
		if (n)
			return n;
		if (rd_stopped(stop))
			return -ECANCELED;
		now = rd_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		/* Short sleeps, so that *stop is seen. */
		left = deadline - now > 50000000 ? 50 : (int)((deadline - now) / 1000000) + 1;
		n = poll(&p, 1, left);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n <= 0)
			continue;
		if (!lib->get_cq_event(cq->channel, &of, &ctx))
			lib->ack_cq_events(of, 1);
		else if (errno != EAGAIN)
			return errno ? -errno : RD_NO_ERRNO;
	}
}
