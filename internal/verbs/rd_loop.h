/*
 * Measurement loops. Each is one call that runs from its first post to its
 * last completion. They are made as perftest's loops are, so that figures can
 * be compared: one work request in flight for latency, depth of them for
 * bandwidth, every cq_mod-th signaled.
 *
 * A loop returns 0, a negative errno (-ETIMEDOUT at the deadline, -ECANCELED
 * when *stop is set, -EPROTO for a completion that is not what was posted), or
 * RD_WC when a completion had an error; fail says which.
 */
#ifndef RD_LOOP_H
#define RD_LOOP_H

#include "rd.h"

#define RD_WC 1
#define RD_LINE 64u /* bytes of a cache line */

/* One connected QP, its memory, and the peer's memory it may use. */
struct rd_lane {
	struct ibv_qp *qp;
	uint64_t send_addr;   /* what is sent, written and read into */
	uint64_t recv_addr;   /* what the peer sends and writes into */
	uint64_t remote_addr; /* the peer's recv_addr */
	uint32_t lkey;
	uint32_t rkey;
};

struct rd_loop {
	struct rd_lib *lib;
	struct ibv_cq *send_cq;
	struct ibv_cq *recv_cq;
	int lanes;
	int op;            /* enum ibv_wr_opcode */
	uint32_t size;     /* bytes a message */
	uint64_t iters;    /* a lane; 0: until duration or stop */
	uint64_t duration; /* ns, with iters 0 */
	uint32_t depth;    /* send work requests in flight a lane */
	uint32_t rx_depth; /* receives posted a lane */
	uint32_t cq_mod;
	int inlined;
	int events;    /* sleep on the CQs' channel rather than poll */
	int initiator; /* of a ping-pong: sends first */
	int split;     /* of ordering: the flag is a write of its own */
	uint64_t deadline; /* of rd_now */
};

/* Where a loop was when it failed. */
struct rd_fail {
	const char *op; /* static: "send", "receive", "post", "completion" */
	int wc_status;
	uint32_t vendor_err;
	uint32_t qpn;
	uint64_t done; /* iterations before */
};

/* What bandwidth loops count. */
struct rd_flow {
	uint64_t messages;
	uint64_t start, end; /* of rd_now */
	uint64_t cpu;        /* ns of this thread */
	uint64_t marks;      /* pairs of {ns, messages} that were written */
};

/* What the ordering loop counts at the reader. */
struct rd_order {
	uint64_t checked;    /* flags seen */
	uint64_t violations; /* of them, with payload that had not arrived */
	uint64_t words;      /* 8-byte words that had not */
	uint64_t first;      /* iteration of the first violation, from 1 */
};

/* Posts receives, arms CQs for events and clears what is polled. */
int rd_prepare(const struct rd_loop *l, const struct rd_lane *lanes,
	       struct rd_fail *fail);

/*
 * Ping-pong by RDMA write, polling memory, and by send. stamps gets iters
 * times of posting: a round trip lies between two. Both ends run it.
 */
int rd_lat_write(const struct rd_loop *l, const struct rd_lane *lane,
		 const int *stop, uint64_t *stamps, struct rd_fail *fail);
int rd_lat_send(const struct rd_loop *l, const struct rd_lane *lane,
		const int *stop, uint64_t *stamps, struct rd_fail *fail);

/* RDMA read or atomic, one end only; stamps gets iters + 1 times. */
int rd_lat_read(const struct rd_loop *l, const struct rd_lane *lane,
		const int *stop, uint64_t *stamps, struct rd_fail *fail);

/* Bandwidth: posts op on all lanes. marks has room for cap pairs. */
int rd_stream(const struct rd_loop *l, const struct rd_lane *lanes,
	      const int *stop, uint64_t *marks, uint64_t cap,
	      struct rd_flow *flow, struct rd_fail *fail);

/* Takes what rd_stream sends. Without iters it ends by *stop, and well. */
int rd_sink(const struct rd_loop *l, const struct rd_lane *lanes,
	    const int *stop, uint64_t *marks, uint64_t cap,
	    struct rd_flow *flow, struct rd_fail *fail);

/* Ordering: the writer, and the reader that counts. */
int rd_order_write(const struct rd_loop *l, const struct rd_lane *lane,
		   const int *stop, struct rd_fail *fail);
int rd_order_read(const struct rd_loop *l, const struct rd_lane *lane,
		  const int *stop, struct rd_order *order, struct rd_fail *fail);

/* Of all loops: the watch on stop and deadline, looked at every so often. */
struct rd_watch {
	uint64_t deadline;
	const int *stop;
	unsigned int spins;
	struct ibv_cq *owed; /* whose event came while another's was awaited */
};

static inline int rd_over(struct rd_watch *w)
{
	/* A clock is read every 256 empty polls: some 10 us. */
	if (++w->spins & 255)
		return 0;
	if (rd_stopped(w->stop))
		return -ECANCELED;
	return rd_now() >= w->deadline ? -ETIMEDOUT : 0;
}

/* Where the flag of the ordering loop is, from the start of the payload. */
static inline uint64_t rd_flag_offset(const struct rd_loop *l)
{
	if (l->split)
		return (l->size + RD_LINE - 1) / RD_LINE * RD_LINE;
	return l->size - 8;
}

/* Fills fail from a completion. */
int rd_wc_fail(struct rd_fail *fail, const char *op, const struct ibv_wc *wc,
	       uint64_t done);

/* Takes one completion: 0, or how the waiting ended. */
int rd_take(const struct rd_loop *l, struct ibv_cq *cq, struct rd_watch *w,
	    struct ibv_wc *wc);

/* Fills what all work requests of a lane have in common. */
void rd_fill(const struct rd_loop *l, const struct rd_lane *lane,
	     struct ibv_send_wr *wr, struct ibv_sge *sge);

int rd_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct rd_fail *fail,
	    uint64_t done);
int rd_post_rx(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct rd_fail *fail,
	       uint64_t done);

#endif
