//go:build cgo && linux && !noverbs

#include "rd_loop.h"

#include <errno.h>
#include <string.h>

/*
 * Payload is size bytes of 8-byte words that all hold the iteration; the flag
 * is the last of them, or with split a word on a cache line of its own behind
 * them, written after it. The reader answers each flag by writing it back.
 */
static int await(volatile uint64_t *word, uint64_t want, struct rd_watch *w)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != want) {
		int n = rd_over(w);

		if (n)
			return n;
	}
	return 0;
}

static int finish(const struct rd_loop *l, struct rd_watch *w, struct rd_fail *fail,
		  uint64_t i)
{
	struct ibv_wc wc;
	int n = rd_take(l, l->send_cq, w, &wc);

	if (n) {
		fail->op = "wait for completion";
		fail->done = i - 1;
		return n;
	}
	if (wc.status != IBV_WC_SUCCESS)
		return rd_wc_fail(fail, "RDMA write", &wc, i - 1);
	if (wc.wr_id != i) {
		fail->op = "completion";
		fail->done = i - 1;
		return -EPROTO;
	}
	return 0;
}

int rd_order_write(const struct rd_loop *l, const struct rd_lane *lane,
		   const int *stop, struct rd_fail *fail)
{
	struct rd_watch w = { .deadline = l->deadline, .stop = stop };
	uint64_t *words = (uint64_t *)(uintptr_t)lane->send_addr;
	uint64_t *flag = (uint64_t *)((char *)words + rd_flag_offset(l));
	volatile uint64_t *ack = (uint64_t *)(uintptr_t)lane->recv_addr;
	struct ibv_send_wr payload, last;
	struct ibv_sge psge, fsge;

	rd_fill(l, lane, &payload, &psge);
	rd_fill(l, lane, &last, &fsge);
	payload.send_flags &= ~(unsigned int)IBV_SEND_INLINE;
	last.send_flags &= ~(unsigned int)IBV_SEND_INLINE;
	if (l->split) {
		payload.send_flags = 0;
		fsge.addr = (uintptr_t)flag;
		fsge.length = 8;
		last.wr.rdma.remote_addr = lane->remote_addr + rd_flag_offset(l);
	}
	for (uint64_t i = 1; i <= l->iters; i++) {
		int n;

		for (uint32_t k = 0; k < l->size / 8; k++)
			words[k] = i;
		*flag = i;
		last.wr_id = i;
		n = l->split ? rd_post(lane->qp, &payload, fail, i - 1) : 0;
		if (!n)
			n = rd_post(lane->qp, &last, fail, i - 1);
		if (!n)
			n = finish(l, &w, fail, i);
		if (n)
			return n;
		n = await(ack, i, &w);
		if (n) {
			fail->op = "wait for the reader";
			fail->done = i - 1;
			return n;
		}
	}
	return 0;
}

int rd_order_read(const struct rd_loop *l, const struct rd_lane *lane,
		  const int *stop, struct rd_order *order, struct rd_fail *fail)
{
	struct rd_watch w = { .deadline = l->deadline, .stop = stop };
	volatile uint64_t *words = (uint64_t *)(uintptr_t)lane->recv_addr;
	volatile uint64_t *flag =
		(volatile uint64_t *)(uintptr_t)(lane->recv_addr + rd_flag_offset(l));
	uint64_t *answer = (uint64_t *)(uintptr_t)lane->send_addr;
	struct ibv_send_wr wr;
	struct ibv_sge sge;

	rd_fill(l, lane, &wr, &sge);
	wr.send_flags &= ~(unsigned int)IBV_SEND_INLINE;
	sge.length = 8;
	for (uint64_t i = 1; i <= l->iters; i++) {
		uint64_t stale = 0;
		int n = await(flag, i, &w);

		if (n) {
			fail->op = "wait for the writer";
			fail->done = i - 1;
			return n;
		}
		/* Last word first: what was sent last is likeliest to be late. */
		for (uint32_t k = l->size / 8; k-- > 0;)
			stale += words[k] != i;
		order->checked++;
		if (stale) {
			if (!order->violations)
				order->first = i;
			order->violations++;
			order->words += stale;
			/*
			 * What is late is waited for, or it would be taken for
			 * the next iteration's.
			 */
			for (uint32_t k = 0; k < l->size / 8 && !n; k++)
				n = await(&words[k], i, &w);
			if (n) {
				fail->op = "wait for the payload";
				fail->done = i - 1;
				return n;
			}
		}
		*answer = i;
		wr.wr_id = i;
		n = rd_post(lane->qp, &wr, fail, i - 1);
		if (!n)
			n = finish(l, &w, fail, i);
		if (n)
			return n;
	}
	return 0;
}
