/*
 * The C side of package verbs. Every function returns 0 or more for success
 * and a negative errno for failure; RD_NO_ERRNO where the library failed
 * without one. Nothing here keeps a Go pointer after it returns, prints, exits
 * or has state of its own.
 */
#ifndef RD_H
#define RD_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>
#include <stdint.h>

#define RD_NO_ERRNO (-4096)

/*
 * The functions of libibverbs and librdmacm that are called. Fields have no
 * ibv_ or rdma_ in front: verbs.h makes macros of ibv_reg_mr and others.
 */
struct rd_lib {
	__typeof__(&ibv_get_device_list) get_device_list;
	__typeof__(&ibv_free_device_list) free_device_list;
	__typeof__(&ibv_get_device_guid) get_device_guid;
	__typeof__(&ibv_open_device) open_device;
	__typeof__(&ibv_close_device) close_device;
	__typeof__(&ibv_get_async_event) get_async_event;
	__typeof__(&ibv_ack_async_event) ack_async_event;
	__typeof__(&ibv_query_device) query_device;
	int (*query_port)(struct ibv_context *, uint8_t,
			  struct _compat_ibv_port_attr *);
	__typeof__(&ibv_query_gid) query_gid;
	__typeof__(&_ibv_query_gid_table) query_gid_table; /* may be NULL */
	__typeof__(&ibv_query_pkey) query_pkey;
	__typeof__(&ibv_alloc_pd) alloc_pd;
	__typeof__(&ibv_dealloc_pd) dealloc_pd;
	struct ibv_mr *(*reg_mr)(struct ibv_pd *, void *, size_t, int);
	struct ibv_mr *(*reg_mr_iova2)(struct ibv_pd *, void *, size_t,
				       uint64_t, unsigned int); /* may be NULL */
	__typeof__(&ibv_dereg_mr) dereg_mr;
	__typeof__(&ibv_create_comp_channel) create_comp_channel;
	__typeof__(&ibv_destroy_comp_channel) destroy_comp_channel;
	__typeof__(&ibv_create_cq) create_cq;
	__typeof__(&ibv_destroy_cq) destroy_cq;
	__typeof__(&ibv_get_cq_event) get_cq_event;
	__typeof__(&ibv_ack_cq_events) ack_cq_events;
	__typeof__(&ibv_create_qp) create_qp;
	__typeof__(&ibv_modify_qp) modify_qp;
	__typeof__(&ibv_query_qp) query_qp;
	__typeof__(&ibv_destroy_qp) destroy_qp;
	__typeof__(&ibv_create_ah) create_ah;
	__typeof__(&ibv_destroy_ah) destroy_ah;

	/* librdmacm, all NULL where it is not installed. */
	__typeof__(&rdma_create_event_channel) cm_create_event_channel;
	__typeof__(&rdma_destroy_event_channel) cm_destroy_event_channel;
	__typeof__(&rdma_create_id) cm_create_id;
	__typeof__(&rdma_destroy_id) cm_destroy_id;
	__typeof__(&rdma_migrate_id) cm_migrate_id;
	__typeof__(&rdma_bind_addr) cm_bind_addr;
	__typeof__(&rdma_resolve_addr) cm_resolve_addr;
	__typeof__(&rdma_resolve_route) cm_resolve_route;
	__typeof__(&rdma_create_qp) cm_create_qp;
	__typeof__(&rdma_destroy_qp) cm_destroy_qp;
	__typeof__(&rdma_connect) cm_connect;
	__typeof__(&rdma_listen) cm_listen;
	__typeof__(&rdma_accept) cm_accept;
	__typeof__(&rdma_reject) cm_reject;
	__typeof__(&rdma_disconnect) cm_disconnect;
	__typeof__(&rdma_get_cm_event) cm_get_cm_event;
	__typeof__(&rdma_ack_cm_event) cm_ack_cm_event;
	__typeof__(&rdma_get_src_port) cm_get_src_port;
};

/* What of a library could not be loaded: a static string each. */
struct rd_missing {
	const char *name;
	const char *version;
};

/*
 * Opens libibverbs and fills lib. On -ENOENT, err has dlerror's text. On
 * -ENOSYS, missing[0] is the required symbol that is not there. On success
 * *nmissing says how many optional symbols are not there, at most cap.
 * The library is never closed: providers may leave threads behind.
 */
int rd_load(struct rd_lib *lib, const char *path, char *err, size_t errlen,
	    struct rd_missing *missing, int cap, int *nmissing);

/* The same for librdmacm, where every symbol is required. */
int rd_load_cm(struct rd_lib *lib, const char *path, char *err, size_t errlen,
	       struct rd_missing *missing);

/* CLOCK_MONOTONIC_RAW in nanoseconds. */
uint64_t rd_now(void);

/* Turns what a verb returned into 0 or a negative errno. */
int rd_ret(int ret);

/* NULL with errno on failure, else to be freed by rd_free_devices. */
struct ibv_device **rd_devices(struct rd_lib *lib, int *n);
void rd_free_devices(struct rd_lib *lib, struct ibv_device **list);
uint64_t rd_node_guid(struct rd_lib *lib, struct ibv_device *dev);

/* -ENODEV when the list has no such device, -ENXIO when opening said ENODEV. */
int rd_open(struct rd_lib *lib, const char *name, struct ibv_context **out);
int rd_close_device(struct rd_lib *lib, struct ibv_context *ctx);
int rd_query_port(struct rd_lib *lib, struct ibv_context *ctx, uint8_t port,
		  struct ibv_port_attr *attr);
/* *ex says whether the extended attributes were answered. */
int rd_query_device(struct rd_lib *lib, struct ibv_context *ctx,
		    struct ibv_device_attr_ex *attr, int *ex);

/* A copy of an asynchronous event that is acknowledged before it returns. */
struct rd_async {
	int type;
	int port;
	uint32_t qpn;
};
/* -EAGAIN when none is waiting: the fd of an opened context never blocks. */
int rd_async_event(struct rd_lib *lib, struct ibv_context *ctx,
		   struct rd_async *ev);

/* length bytes of zeroed memory of its own pages; freed by rd_free. */
int rd_alloc(size_t length, void **out);
void rd_free(void *p, size_t length);

/* *ns is what the registration took. */
int rd_reg_mr(struct rd_lib *lib, struct ibv_pd *pd, void *addr, size_t length,
	      unsigned int access, struct ibv_mr **out, uint64_t *ns);

int rd_dereg_mr(struct rd_lib *lib, struct ibv_mr *mr);
int rd_dealloc_pd(struct rd_lib *lib, struct ibv_pd *pd);
int rd_destroy_channel(struct rd_lib *lib, struct ibv_comp_channel *ch);
int rd_destroy_cq(struct rd_lib *lib, struct ibv_cq *cq);
int rd_destroy_qp(struct rd_lib *lib, struct ibv_qp *qp);
int rd_destroy_ah(struct rd_lib *lib, struct ibv_ah *ah);
int rd_query_gid(struct rd_lib *lib, struct ibv_context *ctx, uint8_t port,
		 int index, uint8_t gid[16]);
/* The number of entries of all ports, at most max. -ENOSYS: not offered. */
int rd_gid_table(struct rd_lib *lib, struct ibv_context *ctx,
		 struct ibv_gid_entry *entries, size_t max);
int rd_query_pkey(struct rd_lib *lib, struct ibv_context *ctx, uint8_t port,
		  int index, uint16_t *pkey);
int rd_modify_qp(struct rd_lib *lib, struct ibv_qp *qp,
		 struct ibv_qp_attr *attr, int mask);
int rd_query_qp(struct rd_lib *lib, struct ibv_qp *qp,
		struct ibv_qp_attr *attr);

int rd_alloc_pd(struct rd_lib *lib, struct ibv_context *ctx,
		struct ibv_pd **out);
int rd_create_channel(struct rd_lib *lib, struct ibv_context *ctx,
		      struct ibv_comp_channel **out);
int rd_create_cq(struct rd_lib *lib, struct ibv_context *ctx, int cqe,
		 struct ibv_comp_channel *ch, int vector, struct ibv_cq **out);
int rd_create_qp(struct rd_lib *lib, struct ibv_pd *pd,
		 struct ibv_qp_init_attr *attr, struct ibv_qp **out);
int rd_create_ah(struct rd_lib *lib, struct ibv_pd *pd,
		 struct ibv_ah_attr *attr, struct ibv_ah **out);

/* A work request in words that need no Go pointer inside a Go pointer. */
struct rd_wr {
	uint64_t id;
	int op;
	unsigned int flags; /* ibv_send_flags */
	uint32_t imm;       /* host order */
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
	int has_sge;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add;
	uint64_t swap;
	struct ibv_ah *ah;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
};
int rd_post_send(struct ibv_qp *qp, const struct rd_wr *w);
int rd_post_recv(struct ibv_qp *qp, const struct rd_wr *w);

struct rd_wc {
	uint64_t id;
	int status;
	int opcode;
	uint32_t vendor_err;
	uint32_t byte_len;
	uint32_t qpn;
	uint32_t src_qp;
	uint32_t imm; /* host order */
	int flags;
};
/* 1 completion, 0 none, or -errno. */
int rd_poll(struct ibv_cq *cq, struct rd_wc *wc);

/*
 * Polls until a completion comes (1), deadline nanoseconds of rd_now are
 * reached (-ETIMEDOUT) or *stop is set (-ECANCELED).
 */
int rd_wait(struct ibv_cq *cq, uint64_t deadline, const int *stop,
	    struct rd_wc *wc);

/* As rd_wait, sleeping in poll(2) on the CQ's channel between completions. */
int rd_wait_event(struct rd_lib *lib, struct ibv_cq *cq, uint64_t deadline,
		  const int *stop, struct rd_wc *wc);

static inline int rd_stopped(const int *stop)
{
	return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

#endif
