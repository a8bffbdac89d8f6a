/* Connections by rdma_cm. The rules of rd.h hold. */
#ifndef RD_CM_H
#define RD_CM_H

#include "rd.h"

/* An address without a pointer: family 4 or 6, network order. */
struct rd_addr {
	int family; /* 0: none */
	uint8_t ip[16];
	uint16_t port;  /* host order */
	uint32_t scope; /* of a link-local address */
};

/* What a connection is asked for with, or asks for. */
struct rd_cm_param {
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t length; /* of data */
	uint8_t data[255];
};

struct rd_cm_event {
	int type;   /* enum rdma_cm_event_type */
	int status; /* negative errno, or the reason of a reject */
	struct rdma_cm_id *id; /* of a connect request: the new one */
	struct rd_cm_param param;
};

/* An ID with an event channel of its own, which never blocks. */
int rd_cm_create(struct rd_lib *lib, struct rdma_event_channel **ch,
		 struct rdma_cm_id **id);
/* Moves a new ID from its listener's channel to one of its own. */
int rd_cm_adopt(struct rd_lib *lib, struct rdma_cm_id *id,
		struct rdma_event_channel **ch);
/* Destroys an ID that has no channel of its own. */
void rd_cm_forget(struct rd_lib *lib, struct rdma_cm_id *id);
/* Events that were not taken are thrown away. */
int rd_cm_destroy(struct rd_lib *lib, struct rdma_event_channel *ch,
		  struct rdma_cm_id *id);

/* 1 for an event, copied and acknowledged; else as rd_wait. */
int rd_cm_wait(struct rd_lib *lib, struct rdma_event_channel *ch,
	       uint64_t deadline, const int *stop, struct rd_cm_event *ev);

/* The device an ID is bound to, NULL before; its events never block. */
struct ibv_context *rd_cm_device(struct rdma_cm_id *id);
int rd_cm_resolve_addr(struct rd_lib *lib, struct rdma_cm_id *id,
		       const struct rd_addr *src, const struct rd_addr *dst,
		       int ms);
int rd_cm_resolve_route(struct rd_lib *lib, struct rdma_cm_id *id, int ms);
/* *port is the port that was bound. */
int rd_cm_listen(struct rd_lib *lib, struct rdma_cm_id *id,
		 const struct rd_addr *addr, int backlog, uint16_t *port);
int rd_cm_create_qp(struct rd_lib *lib, struct rdma_cm_id *id,
		    struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
void rd_cm_destroy_qp(struct rd_lib *lib, struct rdma_cm_id *id);
int rd_cm_connect(struct rd_lib *lib, struct rdma_cm_id *id,
		  const struct rd_cm_param *p);
int rd_cm_accept(struct rd_lib *lib, struct rdma_cm_id *id,
		 const struct rd_cm_param *p);
int rd_cm_reject(struct rd_lib *lib, struct rdma_cm_id *id);
int rd_cm_disconnect(struct rd_lib *lib, struct rdma_cm_id *id);

#endif
