//go:build cgo && linux && !noverbs

#include "rd_loop.h"

#include <errno.h>
#include <string.h>

/* Notes where it stopped, and gives ret back. */
static int at(struct rd_fail *fail, const char *op, uint64_t done, int ret)
{
	fail->op = op;
	fail->done = done;
	return ret;
}

/*
 * Posts the work request number n, which counts from 1, and takes its
 * completion.
 */
static int send_one(const struct rd_loop *l, const struct rd_lane *lane,
		    struct ibv_send_wr *wr, struct rd_watch *w, uint64_t n,
		    const char *op, enum ibv_wc_opcode opcode,
		    struct rd_fail *fail)
{
	struct ibv_wc wc;
	int ret;

	wr->wr_id = n;
	ret = rd_post(lane->qp, wr, fail, n - 1);
	if (ret)
		return ret;
	ret = rd_take(l, l->send_cq, w, &wc);
	if (ret)
		return at(fail, "wait for completion", n - 1, ret);
	if (wc.status != IBV_WC_SUCCESS)
		return rd_wc_fail(fail, op, &wc, n - 1);
	if (wc.wr_id != n || wc.opcode != opcode)
		return at(fail, "completion", n - 1, -EPROTO);
	return 0;
}

int rd_lat_write(const struct rd_loop *l, const struct rd_lane *lane,
		 const int *stop, uint64_t *stamps, struct rd_fail *fail)
{
	struct rd_watch w = { .deadline = l->deadline, .stop = stop };
	volatile char *poll = (char *)(uintptr_t)lane->recv_addr + l->size - 1;
	volatile char *post = (char *)(uintptr_t)lane->send_addr + l->size - 1;
	uint64_t sent = 0, seen = 0;
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	rd_fill(l, lane, &wr, &sge);
	while (sent < l->iters || seen < l->iters) {
		int n;

		if (seen < l->iters && (sent || !l->initiator)) {
			seen++;
			while (*poll != (char)seen) {
				n = rd_over(&w);
				if (n)
					return at(fail, "wait for write", seen - 1, n);
			}
		}
		if (sent == l->iters)
			continue;
		stamps[sent] = rd_now();
		*post = (char)++sent;
		n = send_one(l, lane, &wr, &w, sent, "RDMA write", IBV_WC_RDMA_WRITE, fail);
		if (n)
			return n;
	}
	return 0;
}

int rd_lat_send(const struct rd_loop *l, const struct rd_lane *lane,
		const int *stop, uint64_t *stamps, struct rd_fail *fail)
{
	struct rd_watch w = { .deadline = l->deadline, .stop = stop };
	struct ibv_sge sge, rsge = { lane->recv_addr, l->size, lane->lkey };
	struct ibv_recv_wr rwr = { .sg_list = &rsge, .num_sge = 1 };
	uint64_t sent = 0, seen = 0;
	struct ibv_send_wr wr;
	struct ibv_wc wc;

	rd_fill(l, lane, &wr, &sge);
	while (sent < l->iters || seen < l->iters) {
		int n;

		if (seen < l->iters && (sent || !l->initiator)) {
			n = rd_take(l, l->recv_cq, &w, &wc);
			if (n)
				return at(fail, "wait for receive", seen, n);
			if (wc.status != IBV_WC_SUCCESS)
				return rd_wc_fail(fail, "receive", &wc, seen);
			if (wc.wr_id != 0 || wc.opcode != IBV_WC_RECV)
				return at(fail, "completion", seen, -EPROTO);
			seen++;
			if (seen + l->rx_depth <= l->iters) {
				n = rd_post_rx(lane->qp, &rwr, fail, seen);
				if (n)
					return n;
			}
		}
		if (sent == l->iters)
			continue;
		stamps[sent++] = rd_now();
		n = send_one(l, lane, &wr, &w, sent, "send", IBV_WC_SEND, fail);
		if (n)
			return n;
	}
	return 0;
}

int rd_lat_read(const struct rd_loop *l, const struct rd_lane *lane,
		const int *stop, uint64_t *stamps, struct rd_fail *fail)
{
	struct rd_watch w = { .deadline = l->deadline, .stop = stop };
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	enum ibv_wc_opcode want = IBV_WC_RDMA_READ;

	rd_fill(l, lane, &wr, &sge);
	wr.send_flags = IBV_SEND_SIGNALED;
	if (wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		want = IBV_WC_COMP_SWAP;
	else if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		want = IBV_WC_FETCH_ADD;
	for (uint64_t i = 0; i < l->iters; i++) {
		int n;

		stamps[i] = rd_now();
		wr.wr_id = i;
		n = rd_post(lane->qp, &wr, fail, i);
		if (n)
			return n;
		n = rd_take(l, l->send_cq, &w, &wc);
		if (n)
			return at(fail, "wait for completion", i, n);
		if (wc.status != IBV_WC_SUCCESS)
			return rd_wc_fail(fail, "RDMA read", &wc, i);
		if (wc.wr_id != i || wc.opcode != want)
			return at(fail, "completion", i, -EPROTO);
	}
	stamps[l->iters] = rd_now();
	return 0;
}
