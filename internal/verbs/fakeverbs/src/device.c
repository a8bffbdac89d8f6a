#define _GNU_SOURCE
#include "fake.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* verbs.h makes a macro of it, for callers. */
#undef ibv_query_port

static struct ibv_device devices[FAKE_DEVICES];

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list;
	int e;

	pthread_mutex_lock(&lock);
	read_script();
	pthread_mutex_unlock(&lock);
	e = enter(C_GET_DEVICE_LIST);
	if (e) {
		errno = e > 0 ? e : 0;
		return NULL;
	}
	list = calloc((size_t)script.devices + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (int i = 0; i < script.devices; i++) {
		struct ibv_device *d = &devices[i];

		d->node_type = script.iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
		d->transport_type = script.iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
		memcpy(d->name, script.name[i], sizeof(script.name[i]));
		snprintf(d->dev_name, sizeof(d->dev_name), "uverbs%d", i);
		list[i] = d;
	}
	if (n)
		*n = script.devices;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

__be64 ibv_get_device_guid(struct ibv_device *d)
{
	return htobe64(0x5054000300123400ull + (uint64_t)(d - devices));
}

static int query_port(struct ibv_context *ctx, uint8_t port,
		      struct ibv_port_attr *a, size_t len);
static int query_device_ex(struct ibv_context *ctx,
			   const struct ibv_query_device_ex_input *in,
			   struct ibv_device_attr_ex *a, size_t len);

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct verbs_context *v;
	int e = enter(C_OPEN_DEVICE), p[2];

	errno = e > 0 ? e : 0;
	if (e || pipe2(p, O_CLOEXEC))
		return NULL;
	v = calloc(1, sizeof(*v));
	if (!v) {
		close(p[0]);
		close(p[1]);
		return NULL;
	}
	v->sz = sizeof(*v);
	v->query_port = query_port;
	v->query_device_ex = query_device_ex;
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	v->context.device = d;
	v->context.async_fd = p[0];
	v->context.cmd_fd = p[1];
	v->context.num_comp_vectors = 1;
	v->context.ops.post_send = fake_post_send;
	v->context.ops.post_recv = fake_post_recv;
	v->context.ops.poll_cq = fake_poll_cq;
	v->context.ops.req_notify_cq = fake_req_notify_cq;
	if (script.event)
		raise_event(&v->context, script.event - 1, NULL, script.event_port);
	return &v->context;
}

int ibv_close_device(struct ibv_context *ctx)
{
	int e = enter(C_CLOSE_DEVICE);

	if (e)
		return e;
	close(ctx->async_fd);
	close(ctx->cmd_fd);
	free(verbs_get_ctx(ctx));
	return 0;
}

struct event {
	int type;
	int port;
	struct ibv_qp *qp;
};

void raise_event(struct ibv_context *ctx, int type, struct ibv_qp *qp, int port)
{
	struct event e = { type, port, qp };

	if (write(ctx->cmd_fd, &e, sizeof(e)) < 0)
		abort();
}

int ibv_get_async_event(struct ibv_context *ctx, struct ibv_async_event *out)
{
	struct event e;

	if (read(ctx->async_fd, &e, sizeof(e)) != sizeof(e))
		return -1;
	out->event_type = (enum ibv_event_type)e.type;
	if (e.qp)
		out->element.qp = e.qp;
	else
		out->element.port_num = e.port;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *e)
{
	(void)e;
}

int ibv_query_device(struct ibv_context *ctx, struct ibv_device_attr *a)
{
	int e = enter(C_QUERY_DEVICE);

	if (e)
		return e;
	memset(a, 0, sizeof(*a));
	snprintf(a->fw_ver, sizeof(a->fw_ver), "1.2.3");
	a->node_guid = ibv_get_device_guid(ctx->device);
	a->sys_image_guid = a->node_guid;
	a->max_mr_size = script.limit_mr ? script.limit_mr : ~0ull;
	a->page_size_cap = 4096;
	a->max_qp = script.max_qp;
	a->max_qp_wr = script.max_qp_wr;
	a->max_sge = a->max_sge_rd = 8;
	a->max_cq = a->max_mr = a->max_pd = a->max_ah = 65536;
	a->max_cqe = script.max_cqe;
	a->max_qp_rd_atom = a->max_qp_init_rd_atom = 16;
	a->atomic_cap = (enum ibv_atomic_cap)script.atomic_cap;
	a->max_pkeys = 1;
	a->phys_port_cnt = 1;
	a->local_ca_ack_delay = 15;
	return 0;
}

static int query_device_ex(struct ibv_context *ctx,
			   const struct ibv_query_device_ex_input *in,
			   struct ibv_device_attr_ex *a, size_t len)
{
	(void)in;
	memset(a, 0, len);
	a->odp_caps.general_caps = script.odp ? IBV_ODP_SUPPORT : 0;
	return ibv_query_device(ctx, &a->orig_attr);
}

static enum ibv_mtu mtu(int bytes)
{
	int code = 1;

	while (code < 5 && 128 << code < bytes)
		code++;
	return (enum ibv_mtu)code;
}

static int query_port(struct ibv_context *ctx, uint8_t port,
		      struct ibv_port_attr *a, size_t len)
{
	int e = enter(C_QUERY_PORT);

	(void)ctx;
	if (e)
		return e;
	if (port != 1)
		return EINVAL;
	memset(a, 0, len);
	a->state = (enum ibv_port_state)script.port_state;
	a->phys_state = script.port_state == IBV_PORT_DOWN ? 3 : 5;
	a->max_mtu = mtu(script.max_mtu);
	a->active_mtu = mtu(script.active_mtu);
	a->gid_tbl_len = FAKE_GIDS;
	a->pkey_tbl_len = 1;
	a->max_msg_sz = 1u << 31;
	a->lid = (uint16_t)script.lid;
	a->sm_lid = (uint16_t)script.sm_lid;
	a->link_layer = (uint8_t)script.link;
	a->active_width = 2;
	a->active_speed = 32;
	return 0;
}

int ibv_query_port(struct ibv_context *ctx, uint8_t port,
		   struct _compat_ibv_port_attr *a)
{
	/* The old struct is the new one without its last fields. */
	return query_port(ctx, port, (struct ibv_port_attr *)a,
			  offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(struct ibv_context *ctx, uint8_t port, int i, union ibv_gid *gid)
{
	int e = enter(C_QUERY_GID);

	(void)ctx;
	if (e)
		return e;
	if (port != 1 || i < 0 || i >= FAKE_GIDS)
		return EINVAL;
	*gid = script.gids[i].gid;
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *ctx, struct ibv_gid_entry *out,
			     size_t max, uint32_t flags, size_t size)
{
	int e = enter(C_QUERY_GID_TABLE);
	size_t n = 0;

	(void)ctx;
	if (e)
		return -e;
	if (flags || size != sizeof(*out))
		return -EINVAL;
	for (int i = 0; i < FAKE_GIDS; i++) {
		if (!script.gids[i].set)
			continue;
		if (n == max)
			return -EINVAL;
		out[n].gid = script.gids[i].gid;
		out[n].gid_index = (uint32_t)i;
		out[n].port_num = 1;
		out[n].gid_type = (uint32_t)script.gids[i].type;
		out[n].ndev_ifindex = (uint32_t)script.gids[i].ifindex;
		n++;
	}
	return (ssize_t)n;
}

int ibv_query_pkey(struct ibv_context *ctx, uint8_t port, int i, __be16 *pkey)
{
	int e = enter(C_QUERY_PKEY);

	(void)ctx;
	if (e)
		return e;
	if (port != 1 || i)
		return EINVAL;
	*pkey = htobe16((uint16_t)script.pkey);
	return 0;
}
