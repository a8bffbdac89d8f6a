//go:build cgo && linux && !noverbs

#include "rd.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

uint64_t rd_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Most verbs return an errno, some providers -1 with errno set, and some a
 * negative errno.
 */
int rd_ret(int ret)
{
	if (ret > 0)
		return -ret;
	if (ret == -1)
		return errno ? -errno : RD_NO_ERRNO;
	return ret;
}

/* What a verb that returns a pointer failed with. */
static int null_errno(void)
{
	return errno ? -errno : RD_NO_ERRNO;
}

struct ibv_device **rd_devices(struct rd_lib *lib, int *n)
{
	errno = 0;
	return lib->get_device_list(n);
}

void rd_free_devices(struct rd_lib *lib, struct ibv_device **list)
{
	lib->free_device_list(list);
}

uint64_t rd_node_guid(struct rd_lib *lib, struct ibv_device *dev)
{
	return be64toh(lib->get_device_guid(dev));
}

int rd_close_device(struct rd_lib *lib, struct ibv_context *ctx)
{
	errno = 0;
	return rd_ret(lib->close_device(ctx));
}

int rd_open(struct rd_lib *lib, const char *name, struct ibv_context **out)
{
	struct ibv_device **list;
	int n = 0, ret = -ENODEV;

	errno = 0;
	list = lib->get_device_list(&n);
	if (!list)
		return null_errno();
	for (int i = 0; i < n; i++) {
		if (strcmp(list[i]->name, name))
			continue;
		errno = 0;
		*out = lib->open_device(list[i]);
		ret = *out ? 0 : null_errno();
		if (ret == -ENODEV) /* Kept for a device not in the list. */
			ret = -ENXIO;
		break;
	}
	lib->free_device_list(list);
	if (!ret) {
		/* Events are looked for, never waited for. */
		int fd = (*out)->async_fd;
		int flags = fcntl(fd, F_GETFL);

		if (flags >= 0)
			fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	}
	return ret;
}

int rd_query_port(struct rd_lib *lib, struct ibv_context *ctx, uint8_t port,
		  struct ibv_port_attr *attr)
{
	struct verbs_context *v = verbs_get_ctx_op(ctx, query_port);

	memset(attr, 0, sizeof(*attr));
	errno = 0;
	if (v)
		return rd_ret(v->query_port(ctx, port, attr, sizeof(*attr)));
	return rd_ret(lib->query_port(ctx, port,
				      (struct _compat_ibv_port_attr *)attr));
}

int rd_query_device(struct rd_lib *lib, struct ibv_context *ctx,
		    struct ibv_device_attr_ex *attr, int *ex)
{
	struct verbs_context *v = verbs_get_ctx_op(ctx, query_device_ex);

	memset(attr, 0, sizeof(*attr));
	errno = 0;
	if (v && !v->query_device_ex(ctx, NULL, attr, sizeof(*attr))) {
		*ex = 1;
		return 0;
	}
	*ex = 0;
	memset(attr, 0, sizeof(*attr));
	errno = 0;
	return rd_ret(lib->query_device(ctx, &attr->orig_attr));
}

int rd_query_gid(struct rd_lib *lib, struct ibv_context *ctx, uint8_t port,
		 int index, uint8_t gid[16])
{
	union ibv_gid g;
	int ret;

	memset(&g, 0, sizeof(g));
	errno = 0;
	ret = rd_ret(lib->query_gid(ctx, port, index, &g));
	memcpy(gid, g.raw, sizeof(g.raw));
	return ret;
}

int rd_gid_table(struct rd_lib *lib, struct ibv_context *ctx,
		 struct ibv_gid_entry *entries, size_t max)
{
	ssize_t n;

	if (!lib->query_gid_table)
		return -ENOSYS;
	errno = 0;
	n = lib->query_gid_table(ctx, entries, max, 0, sizeof(*entries));
	return n < 0 ? rd_ret((int)n) : (int)n;
}

int rd_query_pkey(struct rd_lib *lib, struct ibv_context *ctx, uint8_t port,
		  int index, uint16_t *pkey)
{
	__be16 be = 0;
	int ret;

	errno = 0;
	ret = rd_ret(lib->query_pkey(ctx, port, index, &be));
	*pkey = be16toh(be);
	return ret;
}

int rd_async_event(struct rd_lib *lib, struct ibv_context *ctx,
		   struct rd_async *ev)
{
	struct ibv_async_event e;

	memset(&e, 0, sizeof(e));
	errno = 0;
	if (lib->get_async_event(ctx, &e))
		return null_errno();
	ev->type = (int)e.event_type;
	ev->port = 0;
	ev->qpn = 0;
	switch (e.event_type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		ev->qpn = e.element.qp->qp_num;
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		ev->port = e.element.port_num;
		break;
	default:
		break;
	}
	lib->ack_async_event(&e);
	return 0;
}
