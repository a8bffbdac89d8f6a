//go:build cgo && linux && !noverbs

#include "rd_cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

static int never_block(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK))
		return -errno;
	return 0;
}

static int channel(struct rd_lib *lib, struct rdma_event_channel **ch)
{
	int n;

	errno = 0;
	*ch = lib->cm_create_event_channel();
	if (!*ch)
		return errno ? -errno : RD_NO_ERRNO;
	n = never_block((*ch)->fd);
	if (n)
		lib->cm_destroy_event_channel(*ch);
	return n;
}

int rd_cm_create(struct rd_lib *lib, struct rdma_event_channel **ch,
		 struct rdma_cm_id **id)
{
	int n = channel(lib, ch);

	if (n)
		return n;
	errno = 0;
	n = rd_ret(lib->cm_create_id(*ch, id, NULL, RDMA_PS_TCP));
	if (n)
		lib->cm_destroy_event_channel(*ch);
	return n;
}

int rd_cm_adopt(struct rd_lib *lib, struct rdma_cm_id *id,
		struct rdma_event_channel **ch)
{
	int n = channel(lib, ch);

	if (n)
		return n;
	errno = 0;
	n = rd_ret(lib->cm_migrate_id(id, *ch));
	if (n)
		lib->cm_destroy_event_channel(*ch);
	return n;
}

void rd_cm_forget(struct rd_lib *lib, struct rdma_cm_id *id)
{
	lib->cm_destroy_id(id);
}

int rd_cm_destroy(struct rd_lib *lib, struct rdma_event_channel *ch,
		  struct rdma_cm_id *id)
{
	struct rdma_cm_event *ev;
	int n;

	while (!lib->cm_get_cm_event(ch, &ev)) {
		struct rdma_cm_id *request = ev->event == RDMA_CM_EVENT_CONNECT_REQUEST ? ev->id : NULL;

		lib->cm_ack_cm_event(ev);
		if (request)
			lib->cm_destroy_id(request);
	}
	errno = 0;
	n = rd_ret(lib->cm_destroy_id(id));
	if (!n)
		lib->cm_destroy_event_channel(ch);
	return n;
}

static void copy_param(struct rd_cm_param *p, const struct rdma_conn_param *c)
{
	p->responder_resources = c->responder_resources;
	p->initiator_depth = c->initiator_depth;
	p->retry_count = c->retry_count;
	p->rnr_retry_count = c->rnr_retry_count;
	p->length = c->private_data ? c->private_data_len : 0;
	if (p->length)
		memcpy(p->data, c->private_data, p->length);
}

int rd_cm_wait(struct rd_lib *lib, struct rdma_event_channel *ch,
	       uint64_t deadline, const int *stop, struct rd_cm_event *out)
{
	struct pollfd p = { .fd = ch->fd, .events = POLLIN };

	for (;;) {
		struct rdma_cm_event *ev;
		uint64_t now;

		errno = 0;
		if (!lib->cm_get_cm_event(ch, &ev)) {
			memset(out, 0, sizeof(*out));
			out->type = (int)ev->event;
			out->status = ev->status;
			out->id = ev->id;
			if (ev->event == RDMA_CM_EVENT_CONNECT_REQUEST ||
			    ev->event == RDMA_CM_EVENT_ESTABLISHED ||
			    ev->event == RDMA_CM_EVENT_REJECTED)
				copy_param(&out->param, &ev->param.conn);
			lib->cm_ack_cm_event(ev);
			return 1;
		}
		if (errno != EAGAIN && errno != EINTR)
			return errno ? -errno : RD_NO_ERRNO;
		if (rd_stopped(stop))
			return -ECANCELED;
		now = rd_now();
		if (now >= deadline)
			return -ETIMEDOUT;
		/* Short sleeps, so that *stop is seen. */
		if (poll(&p, 1, deadline - now > 20000000 ? 20 : 1) < 0 && errno != EINTR)
			return -errno;
	}
}

static struct sockaddr *sockaddr(const struct rd_addr *a, struct sockaddr_storage *s)
{
	memset(s, 0, sizeof(*s));
	if (a->family == 4) {
		struct sockaddr_in *in = (struct sockaddr_in *)s;

		in->sin_family = AF_INET;
		in->sin_port = htons(a->port);
		memcpy(&in->sin_addr, a->ip, 4);
	} else if (a->family == 6) {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)s;

		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(a->port);
		in6->sin6_scope_id = a->scope;
		memcpy(&in6->sin6_addr, a->ip, 16);
	} else {
		return NULL;
	}
	return (struct sockaddr *)s;
}

struct ibv_context *rd_cm_device(struct rdma_cm_id *id)
{
	if (id->verbs)
		never_block(id->verbs->async_fd);
	return id->verbs;
}

int rd_cm_resolve_addr(struct rd_lib *lib, struct rdma_cm_id *id,
		       const struct rd_addr *src, const struct rd_addr *dst,
		       int ms)
{
	struct sockaddr_storage s, d;
	struct sockaddr *from = sockaddr(src, &s), *to = sockaddr(dst, &d);

	errno = 0;
	return rd_ret(lib->cm_resolve_addr(id, from, to, ms));
}

int rd_cm_resolve_route(struct rd_lib *lib, struct rdma_cm_id *id, int ms)
{
	errno = 0;
	return rd_ret(lib->cm_resolve_route(id, ms));
}

int rd_cm_listen(struct rd_lib *lib, struct rdma_cm_id *id,
		 const struct rd_addr *addr, int backlog, uint16_t *port)
{
	struct sockaddr_storage s;
	int n;

	errno = 0;
	n = rd_ret(lib->cm_bind_addr(id, sockaddr(addr, &s)));
	if (n)
		return n;
	errno = 0;
	n = rd_ret(lib->cm_listen(id, backlog));
	*port = ntohs(lib->cm_get_src_port(id));
	return n;
}

int rd_cm_create_qp(struct rd_lib *lib, struct rdma_cm_id *id,
		    struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	errno = 0;
	return rd_ret(lib->cm_create_qp(id, pd, attr));
}

void rd_cm_destroy_qp(struct rd_lib *lib, struct rdma_cm_id *id)
{
	lib->cm_destroy_qp(id);
}

static void conn_param(const struct rd_cm_param *p, struct rdma_conn_param *c)
{
	memset(c, 0, sizeof(*c));
	c->responder_resources = p->responder_resources;
	c->initiator_depth = p->initiator_depth;
	c->retry_count = p->retry_count;
	c->rnr_retry_count = p->rnr_retry_count;
	if (p->length) {
		c->private_data = p->data;
		c->private_data_len = p->length;
	}
}

int rd_cm_connect(struct rd_lib *lib, struct rdma_cm_id *id,
		  const struct rd_cm_param *p)
{
	struct rdma_conn_param c;

	conn_param(p, &c);
	errno = 0;
	return rd_ret(lib->cm_connect(id, &c));
}

int rd_cm_accept(struct rd_lib *lib, struct rdma_cm_id *id,
		 const struct rd_cm_param *p)
{
	struct rdma_conn_param c;

	conn_param(p, &c);
	errno = 0;
	return rd_ret(lib->cm_accept(id, &c));
}

int rd_cm_reject(struct rd_lib *lib, struct rdma_cm_id *id)
{
	errno = 0;
	return rd_ret(lib->cm_reject(id, NULL, 0));
}

int rd_cm_disconnect(struct rd_lib *lib, struct rdma_cm_id *id)
{
	errno = 0;
	return rd_ret(lib->cm_disconnect(id));
}
