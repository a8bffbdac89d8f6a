#define _GNU_SOURCE
#include "fake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct fake_channel {
	struct rdma_event_channel ch;
	int in;
};

struct fake_id {
	struct rdma_cm_id id;
	struct fake_id *peer;
	int listening, connected;
	uint16_t port;
	struct fake_id *next;
};

struct fake_event {
	struct rdma_cm_event ev;
	uint8_t data[256];
};

static pthread_mutex_t cm_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_id *ids;
static uint16_t next_port = 40000;

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_channel *c;
	int p[2];

	if (!script.read)
		read_script();
	if (pipe2(p, O_CLOEXEC))
		return NULL;
	c = calloc(1, sizeof(*c));
	c->ch.fd = p[0];
	c->in = p[1];
	return &c->ch;
}

void rdma_destroy_event_channel(struct rdma_event_channel *ch)
{
	struct fake_channel *c = (struct fake_channel *)ch;

	close(c->ch.fd);
	close(c->in);
	free(c);
}

static void tell(struct fake_id *to, struct fake_id *id, int type, int status,
		 const struct rdma_conn_param *p)
{
	struct fake_event *e = calloc(1, sizeof(*e));

	if (script.cm_event && type == script.cm_at) {
		type = script.cm_event - 1;
		status = script.cm_status;
	}
	e->ev.id = &id->id;
	e->ev.listen_id = &to->id;
	e->ev.event = (enum rdma_cm_event_type)type;
	e->ev.status = status;
	if (p) {
		e->ev.param.conn = *p;
		if (p->private_data_len)
			memcpy(e->data, p->private_data, p->private_data_len);
		e->ev.param.conn.private_data = e->data;
	}
	if (write(((struct fake_channel *)to->id.channel)->in, &e, sizeof(e)) < 0)
		abort();
}

int rdma_get_cm_event(struct rdma_event_channel *ch, struct rdma_cm_event **ev)
{
	struct fake_event *e;

	if (read(ch->fd, &e, sizeof(e)) != sizeof(e))
		return -1;
	*ev = &e->ev;
	return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *ev)
{
	free(ev);
	return 0;
}

static struct fake_id *new_id(struct rdma_event_channel *ch)
{
	struct fake_id *i = calloc(1, sizeof(*i));

	i->id.channel = ch;
	i->id.ps = RDMA_PS_TCP;
	i->next = ids;
	ids = i;
	return i;
}

int rdma_create_id(struct rdma_event_channel *ch, struct rdma_cm_id **id,
		   void *context, enum rdma_port_space ps)
{
	(void)context;
	(void)ps;
	pthread_mutex_lock(&cm_lock);
	*id = &new_id(ch)->id;
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

static void hang_up(struct fake_id *i)
{
	struct fake_id *p = i->peer;

	if (i->id.qp)
		ibv_modify_qp(i->id.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, IBV_QP_STATE);
	if (!p || !i->connected)
		return;
	i->connected = p->connected = 0;
	if (p->id.qp)
		ibv_modify_qp(p->id.qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_ERR }, IBV_QP_STATE);
	tell(p, p, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
	tell(i, i, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct fake_id *i = (struct fake_id *)id, **at = &ids;
	struct rdma_cm_event *ev;

	pthread_mutex_lock(&cm_lock);
	hang_up(i);
	if (i->peer)
		i->peer->peer = NULL;
	while (*at != i)
		at = &(*at)->next;
	*at = i->next;
	pthread_mutex_unlock(&cm_lock);
	/* Of a channel that blocks nothing more is read. */
	if (fcntl(id->channel->fd, F_GETFL) & O_NONBLOCK)
		while (!i->listening && !rdma_get_cm_event(id->channel, &ev))
			rdma_ack_cm_event(ev);
	if (id->verbs)
		ibv_close_device(id->verbs);
	free(i);
	return 0;
}

int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *ch)
{
	id->channel = ch;
	return 0;
}

static int bind_device(struct rdma_cm_id *id)
{
	struct ibv_device **list;
	int n;

	if (id->verbs)
		return 0;
	list = ibv_get_device_list(&n);
	if (!list)
		return -1;
	errno = ENODEV;
	id->verbs = n ? ibv_open_device(list[0]) : NULL;
	id->port_num = 1;
	ibv_free_device_list(list);
	return id->verbs ? 0 : -1;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *a)
{
	struct fake_id *i = (struct fake_id *)id;

	i->port = ntohs(((struct sockaddr_in *)a)->sin_port);
	if (!i->port)
		i->port = next_port++;
	return bind_device(id);
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(((struct fake_id *)id)->port);
}

/* What a call does when its script has it fail. */
static int refused(enum call c)
{
	int e = enter(c);

	if (!e)
		return 0;
	errno = e > 0 ? e : 0;
	return -1;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	(void)backlog;
	if (refused(C_LISTEN))
		return -1;
	((struct fake_id *)id)->listening = 1;
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src,
		      struct sockaddr *dst, int ms)
{
	struct fake_id *i = (struct fake_id *)id;

	(void)src;
	(void)ms;
	if (refused(C_RESOLVE_ADDR) || bind_device(id))
		return -1;
	i->port = ntohs(((struct sockaddr_in *)dst)->sin_port);
	tell(i, i, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
	return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int ms)
{
	(void)ms;
	if (refused(C_RESOLVE_ROUTE))
		return -1;
	tell((struct fake_id *)id, (struct fake_id *)id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	if (pd->context != id->verbs) {
		errno = EINVAL;
		return -1;
	}
	id->qp = ibv_create_qp(pd, a);
	if (!id->qp)
		return -1;
	return ibv_modify_qp(id->qp, &(struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC },
		IBV_QP_STATE);
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	pthread_mutex_lock(&cm_lock);
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
	pthread_mutex_unlock(&cm_lock);
}

/* Brings a connected QP to RTS, as librdmacm does. */
static void ready(struct fake_id *i, const struct rdma_conn_param *p)
{
	struct fake_qp *q = (struct fake_qp *)i->id.qp;

	if (!q || !i->peer || !i->peer->id.qp)
		return;
	q->attr.dest_qp_num = i->peer->id.qp->qp_num;
	q->attr.path_mtu = IBV_MTU_1024;
	q->attr.rnr_retry = p->rnr_retry_count;
	q->attr.retry_cnt = p->retry_count;
	q->qp.state = IBV_QPS_RTS;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	struct fake_id *i = (struct fake_id *)id, *l;

	if (refused(C_CONNECT))
		return -1;
	pthread_mutex_lock(&cm_lock);
	for (l = ids; l && !(l->listening && l->port == i->port);)
		l = l->next;
	if (!l) {
		/* InfiniBand's CM: invalid service ID. iWARP: ECONNREFUSED. */
		tell(i, i, RDMA_CM_EVENT_REJECTED, script.iwarp ? -ECONNREFUSED : 8, NULL);
	} else {
		struct fake_id *r = new_id(l->id.channel);

		bind_device(&r->id);
		r->peer = i;
		i->peer = r;
		tell(l, r, RDMA_CM_EVENT_CONNECT_REQUEST, 0, p);
	}
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *p)
{
	struct fake_id *i = (struct fake_id *)id;

	if (refused(C_ACCEPT))
		return -1;
	pthread_mutex_lock(&cm_lock);
	if (i->peer) {
		i->connected = i->peer->connected = 1;
		ready(i, p);
		ready(i->peer, p);
		tell(i, i, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
		tell(i->peer, i->peer, RDMA_CM_EVENT_ESTABLISHED, 0, p);
	}
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
	struct fake_id *i = (struct fake_id *)id;

	(void)data;
	(void)length;
	pthread_mutex_lock(&cm_lock);
	if (i->peer)
		tell(i->peer, i->peer, RDMA_CM_EVENT_REJECTED, 28, NULL);
	pthread_mutex_unlock(&cm_lock);
	return 0;
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	pthread_mutex_lock(&cm_lock);
	hang_up((struct fake_id *)id);
	pthread_mutex_unlock(&cm_lock);
	return 0;
}
