//go:build cgo && linux && !noverbs

#include "rd_loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As many completions are taken at once as perftest takes. */
#define BATCH 16

/*
 * Small messages move through a page so that they do not meet in one cache
 * line, each on a line of its own, as perftest has it.
 */
#define CYCLE 4096u

/* A work request's ID holds its lane and, above that, its number from 1. */
#define LANE_BITS 16

static uint64_t thread_cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t step(uint64_t addr, uint64_t base, uint32_t size)
{
	uint32_t by = (size + RD_LINE - 1) / RD_LINE * RD_LINE;

	if (size > CYCLE / 2)
		return base;
	addr += by;
	return addr - base + by > CYCLE ? base : addr;
}

struct lane_state {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	uint64_t posted, done;
	int last; /* the last one is posted */
};

/* Writes a pair where progress is due. */
static void mark(uint64_t *marks, uint64_t cap, struct rd_flow *f, uint64_t t,
		 uint64_t every)
{
	if (f->marks < cap && f->messages >= (f->marks + 1) * every) {
		marks[2 * f->marks] = t;
		marks[2 * f->marks + 1] = f->messages;
		f->marks++;
	}
}

static int post_lane(const struct rd_loop *l, const struct rd_lane *lane,
		     struct lane_state *s, int i, int ending, struct rd_fail *fail)
{
	while (!s->last && s->posted - s->done < l->depth) {
		int n, signaled;

		if (ending && s->posted % l->cq_mod == 0) {
			s->last = 1; /* What is out is signaled. */
			break;
		}
		s->posted++;
		s->last = s->posted == l->iters || ending;
		signaled = s->last || s->posted % l->cq_mod == 0;
		s->wr.wr_id = s->posted << LANE_BITS | (uint64_t)i;
		if (signaled)
			s->wr.send_flags |= IBV_SEND_SIGNALED;
		else
			s->wr.send_flags &= ~(unsigned int)IBV_SEND_SIGNALED;
		n = rd_post(lane->qp, &s->wr, fail, s->posted - 1);
		if (n)
			return n;
		s->sge.addr = step(s->sge.addr, lane->send_addr, l->size);
		if (l->op == IBV_WR_RDMA_WRITE || l->op == IBV_WR_RDMA_READ)
			s->wr.wr.rdma.remote_addr = step(s->wr.wr.rdma.remote_addr,
							 lane->remote_addr, l->size);
	}
	return 0;
}

static int stream(const struct rd_loop *l, const struct rd_lane *lanes,
		  const int *stop, uint64_t *marks, uint64_t cap,
		  struct rd_flow *f, struct rd_fail *fail, struct lane_state *s)
{
	struct rd_watch w = { .deadline = l->deadline, .stop = stop };
	uint64_t until = 0, every = 1;
	int left = l->lanes, ending = 0;
	struct ibv_wc wc[BATCH];

	if (l->iters && cap)
		every = (l->iters * (uint64_t)l->lanes + cap - 1) / cap;
	f->start = rd_now();
	until = f->start + l->duration;
	while (left) {
		int n;

		for (int i = 0; i < l->lanes; i++) {
			n = post_lane(l, &lanes[i], &s[i], i, ending, fail);
			if (n)
				return n;
			if (s[i].last == 1 && s[i].done == s[i].posted) {
				s[i].last = 2;
				left--;
			}
		}
		n = ibv_poll_cq(l->send_cq, BATCH, wc);
		if (n < 0)
			return -EIO;
		for (int k = 0; k < n; k++) {
			uint64_t lane = wc[k].wr_id & ((1u << LANE_BITS) - 1);
			uint64_t number = wc[k].wr_id >> LANE_BITS;

			if (wc[k].status != IBV_WC_SUCCESS)
				return rd_wc_fail(fail, "send", &wc[k], f->messages);
			if (lane >= (uint64_t)l->lanes || number > s[lane].posted ||
			    number <= s[lane].done) {
				fail->op = "completion";
				fail->done = f->messages;
				return -EPROTO;
			}
			f->messages += number - s[lane].done;
			s[lane].done = number;
			if (s[lane].last == 1 && s[lane].done == s[lane].posted) {
				s[lane].last = 2;
				left--;
			}
		}
		if (n) {
			f->end = rd_now();
			mark(marks, cap, f, f->end, every);
			if (!l->iters && f->end >= until)
				ending = 1;
			continue;
		}
		n = rd_over(&w);
		if (n) {
			fail->op = "wait for completion";
			fail->done = f->messages;
			return n;
		}
		if (!l->iters && !ending && !(w.spins & 255) && rd_now() >= until)
			ending = 1;
	}
	return 0;
}

int rd_stream(const struct rd_loop *l, const struct rd_lane *lanes,
	      const int *stop, uint64_t *marks, uint64_t cap,
	      struct rd_flow *flow, struct rd_fail *fail)
{
	struct lane_state *s;
	uint64_t cpu;
	int ret;

	if (l->lanes < 1 || l->lanes > 1 << LANE_BITS || !l->cq_mod ||
	    l->cq_mod > l->depth || (!l->iters && !l->duration))
		return -EINVAL;
	s = calloc((size_t)l->lanes, sizeof(*s));
	if (!s)
		return -ENOMEM;
	for (int i = 0; i < l->lanes; i++)
		rd_fill(l, &lanes[i], &s[i].wr, &s[i].sge);
	cpu = thread_cpu();
	ret = stream(l, lanes, stop, marks, cap, flow, fail, s);
	flow->cpu = thread_cpu() - cpu;
	free(s);
	return ret;
}

static int sink(const struct rd_loop *l, const struct rd_lane *lanes,
		const int *stop, uint64_t *marks, uint64_t cap,
		struct rd_flow *f, struct rd_fail *fail, uint64_t *got)
{
	struct rd_watch w = { .deadline = l->deadline, .stop = stop };
	uint64_t total = l->iters * (uint64_t)l->lanes, every = 1;
	struct ibv_wc wc[BATCH];

	if (l->iters && cap)
		every = (total + cap - 1) / cap;
	while (!l->iters || f->messages < total) {
		int n = ibv_poll_cq(l->recv_cq, BATCH, wc);

		if (n < 0)
			return -EIO;
		if (n && !f->start)
			f->start = rd_now();
		for (int k = 0; k < n; k++) {
			uint64_t i = wc[k].wr_id;
			struct ibv_sge sge;
			struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge,
						  .num_sge = 1 };
			int e;

			if (wc[k].status != IBV_WC_SUCCESS)
				return rd_wc_fail(fail, "receive", &wc[k], f->messages);
			if (i >= (uint64_t)l->lanes || wc[k].byte_len != l->size) {
				fail->op = "completion";
				fail->done = f->messages;
				return -EPROTO;
			}
			f->messages++;
			got[i]++;
			if (l->iters && got[i] + l->rx_depth > l->iters)
				continue;
			sge.addr = lanes[i].recv_addr;
			sge.length = l->size;
			sge.lkey = lanes[i].lkey;
			e = rd_post_rx(lanes[i].qp, &wr, fail, f->messages);
			if (e)
				return e;
		}
		if (n) {
			f->end = rd_now();
			mark(marks, cap, f, f->end, every);
			continue;
		}
		n = rd_over(&w);
		if (n == -ECANCELED && !l->iters)
			return 0;
		if (n) {
			fail->op = "wait for receive";
			fail->done = f->messages;
			return n;
		}
	}
	return 0;
}

int rd_sink(const struct rd_loop *l, const struct rd_lane *lanes,
	    const int *stop, uint64_t *marks, uint64_t cap,
	    struct rd_flow *flow, struct rd_fail *fail)
{
	uint64_t *got = calloc((size_t)l->lanes, sizeof(*got));
	uint64_t cpu = thread_cpu();
	int ret;

	if (!got)
		return -ENOMEM;
	ret = sink(l, lanes, stop, marks, cap, flow, fail, got);
	flow->cpu = thread_cpu() - cpu;
	free(got);
	return ret;
}
