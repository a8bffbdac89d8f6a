#define _GNU_SOURCE
#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#undef ibv_reg_mr

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct fake_mr *mrs;
struct fake_qp *qps;
int live_qps;

static uint32_t next_key = 0x1000, next_qpn = 0x11;

/* What a call that returns a pointer does when its script has it fail. */
static int refused(enum call c)
{
	int e = enter(c);

	errno = e > 0 ? e : 0;
	return e;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *ctx)
{
	struct ibv_pd *pd;

	if (refused(C_ALLOC_PD))
		return NULL;
	pd = calloc(1, sizeof(*pd));
	if (pd)
		pd->context = ctx;
	return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	free(pd);
	return 0;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length,
				uint64_t iova, unsigned int access)
{
	struct fake_mr *mr;

	(void)iova;
	if (refused(C_REG_MR))
		return NULL;
	if (script.limit_mr && length > script.limit_mr) {
		errno = ENOMEM;
		return NULL;
	}
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE)) {
		errno = EINVAL;
		return NULL;
	}
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	mr->mr.context = pd->context;
	mr->mr.pd = pd;
	mr->mr.addr = addr;
	mr->mr.length = length;
	mr->access = access;
	pthread_mutex_lock(&lock);
	mr->mr.lkey = mr->mr.rkey = next_key;
	next_key += 0x100;
	mr->next = mrs;
	mrs = mr;
	pthread_mutex_unlock(&lock);
	return &mr->mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	int e = enter(C_DEREG_MR);
	struct fake_mr **p;

	if (e)
		return e;
	pthread_mutex_lock(&lock);
	for (p = &mrs; *p && &(*p)->mr != mr;)
		p = &(*p)->next;
	if (!*p)
		abort();
	forget_deferred();
	if (script.allow & ALLOW_STALE_RKEY) {
		/* The device goes on knowing it: kept until the process ends. */
		(*p)->dead = 1;
	} else {
		*p = (*p)->next;
		free(mr);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *ctx)
{
	struct ibv_comp_channel *ch;
	int p[2];

	if (refused(C_CREATE_COMP_CHANNEL) || pipe2(p, O_CLOEXEC))
		return NULL;
	ch = calloc(1, sizeof(*ch));
	if (!ch) {
		close(p[0]);
		close(p[1]);
		return NULL;
	}
	ch->context = ctx;
	ch->fd = p[0];
	ch->refcnt = p[1];
	return ch;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ch)
{
	close(ch->fd);
	close(ch->refcnt);
	free(ch);
	return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **ctx)
{
	if (read(ch->fd, cq, sizeof(*cq)) != sizeof(*cq))
		return -1;
	*ctx = (*cq)->cq_context;
	return 0;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	cq->comp_events_completed += n;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *ctx, int cqe, void *cq_context,
			     struct ibv_comp_channel *ch, int vector)
{
	struct fake_cq *cq;

	if (refused(C_CREATE_CQ))
		return NULL;
	if (cqe < 1 || cqe > script.max_cqe || vector) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	cq->cq.context = ctx;
	cq->cq.channel = ch;
	cq->cq.cq_context = cq_context;
	cq->cq.cqe = cqe;
	cq->ring = calloc((size_t)cqe + 1, sizeof(*cq->ring));
	return &cq->cq;
}

int ibv_destroy_cq(struct ibv_cq *ibcq)
{
	struct fake_cq *cq = (struct fake_cq *)ibcq;

	pthread_mutex_lock(&lock);
	for (struct fake_qp *q = qps; q; q = q->next) {
		if (q->qp.send_cq == ibcq || q->qp.recv_cq == ibcq) {
			pthread_mutex_unlock(&lock);
			return EBUSY;
		}
	}
	pthread_mutex_unlock(&lock);
	free(cq->ring);
	free(cq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct fake_qp *q;

	if (refused(C_CREATE_QP))
		return NULL;
	if ((int)a->cap.max_send_wr > script.max_qp_wr ||
	    (int)a->cap.max_recv_wr > script.max_qp_wr ||
	    (int)a->cap.max_inline_data > script.max_inline) {
		errno = EINVAL;
		return NULL;
	}
	pthread_mutex_lock(&lock);
	if (live_qps >= (script.limit_qp ? script.limit_qp : script.max_qp)) {
		pthread_mutex_unlock(&lock);
		errno = ENOMEM;
		return NULL;
	}
	q = calloc(1, sizeof(*q));
	q->qp.context = pd->context;
	q->qp.pd = pd;
	q->qp.send_cq = a->send_cq;
	q->qp.recv_cq = a->recv_cq;
	q->qp.qp_type = a->qp_type;
	q->qp.qp_num = next_qpn++;
	q->sig_all = a->sq_sig_all;
	q->cap = a->cap;
	q->recvs = calloc((size_t)a->cap.max_recv_wr + 1, sizeof(*q->recvs));
	q->next = qps;
	qps = q;
	live_qps++;
	pthread_mutex_unlock(&lock);
	return &q->qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	int e = enter(C_DESTROY_QP);
	struct fake_qp **p, *q;

	if (e)
		return e;
	pthread_mutex_lock(&lock);
	for (p = &qps; *p && &(*p)->qp != qp;)
		p = &(*p)->next;
	q = *p;
	if (!q)
		abort();
	*p = q->next;
	live_qps--;
	forget_deferred();
	pthread_mutex_unlock(&lock);
	free(q->recvs);
	free(q);
	return 0;
}

struct fake_qp *find_qp(uint32_t num)
{
	struct fake_qp *q = qps;

	while (q && q->qp.qp_num != num)
		q = q->next;
	return q;
}

static int to_init(struct fake_qp *q, struct ibv_qp_attr *a)
{
	int e = enter(C_MODIFY_INIT);

	if (e)
		return e;
	if (a->port_num != 1 || a->pkey_index)
		return EINVAL;
	if (a->pkey_index == script.refuse_pkey)
		return script.refuse_errno;
	q->attr.port_num = a->port_num;
	q->attr.qp_access_flags = a->qp_access_flags;
	q->attr.qkey = a->qkey;
	return 0;
}

static int to_rtr(struct fake_qp *q, struct ibv_qp_attr *a)
{
	int e = enter(C_MODIFY_RTR), i = a->ah_attr.grh.sgid_index;

	if (e)
		return e;
	if (q->qp.qp_type == IBV_QPT_UD)
		return 0;
	if (script.link == IBV_LINK_LAYER_ETHERNET && !script.iwarp && !a->ah_attr.is_global)
		return EINVAL;
	if (a->ah_attr.is_global && (i >= FAKE_GIDS || !script.gids[i].set))
		return EINVAL;
	if (a->ah_attr.is_global && i == script.refuse_gid)
		return script.refuse_errno;
	if (a->path_mtu < IBV_MTU_256 || a->path_mtu > IBV_MTU_4096 ||
	    128 << a->path_mtu > script.active_mtu)
		return EINVAL;
	if (script.refuse_mtu && 128 << a->path_mtu > script.refuse_mtu)
		return script.refuse_errno;
	q->attr.ah_attr = a->ah_attr;
	q->attr.path_mtu = a->path_mtu;
	q->attr.dest_qp_num = a->dest_qp_num;
	q->attr.rq_psn = a->rq_psn;
	q->attr.max_dest_rd_atomic = a->max_dest_rd_atomic;
	q->attr.min_rnr_timer = a->min_rnr_timer;
	return 0;
}

static int to_rts(struct fake_qp *q, struct ibv_qp_attr *a)
{
	int e = enter(C_MODIFY_RTS);

	if (e)
		return e;
	q->attr.sq_psn = a->sq_psn;
	q->attr.timeout = a->timeout;
	q->attr.retry_cnt = a->retry_cnt;
	q->attr.rnr_retry = a->rnr_retry;
	q->attr.max_rd_atomic = a->max_rd_atomic;
	return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	struct fake_qp *q = (struct fake_qp *)qp;
	int e = EINVAL;

	if (!(mask & IBV_QP_STATE))
		return EINVAL;
	if (a->qp_state == IBV_QPS_INIT && qp->state == IBV_QPS_RESET)
		e = to_init(q, a);
	else if (a->qp_state == IBV_QPS_RTR && qp->state == IBV_QPS_INIT)
		e = to_rtr(q, a);
	else if (a->qp_state == IBV_QPS_RTS && qp->state == IBV_QPS_RTR)
		e = to_rts(q, a);
	else if (a->qp_state == IBV_QPS_ERR || a->qp_state == IBV_QPS_RESET)
		e = enter(C_MODIFY_ERR);
	if (e)
		return e;
	pthread_mutex_lock(&lock);
	if (a->qp_state == IBV_QPS_ERR)
		to_err(q);
	if (a->qp_state == IBV_QPS_RESET)
		q->head = q->tail = 0;
	qp->state = a->qp_state;
	pthread_mutex_unlock(&lock);
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask,
		 struct ibv_qp_init_attr *init)
{
	struct fake_qp *q = (struct fake_qp *)qp;
	int e = enter(C_QUERY_QP);

	(void)mask;
	if (e)
		return e;
	pthread_mutex_lock(&lock);
	*a = q->attr;
	a->qp_state = a->cur_qp_state = qp->state;
	a->cap = q->cap;
	init->cap = q->cap;
	pthread_mutex_unlock(&lock);
	return 0;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *a)
{
	struct fake_ah *ah;

	if (refused(C_CREATE_AH))
		return NULL;
	ah = calloc(1, sizeof(*ah));
	if (!ah)
		return NULL;
	ah->ah.context = pd->context;
	ah->ah.pd = pd;
	ah->attr = *a;
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	free(ah);
	return 0;
}
