/*
 * A libibverbs for tests: a device whose QPs reach each other within one
 * process, at once, with the access rules of InfiniBand, and which fails, lies
 * or dies as its script says. The script is the file of the library's own
 * name with ".script" behind it; it is read when devices are listed.
 */
#ifndef FAKE_H
#define FAKE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdint.h>

/* The calls that a script can name. */
enum call {
	C_GET_DEVICE_LIST,
	C_OPEN_DEVICE,
	C_CLOSE_DEVICE,
	C_QUERY_DEVICE,
	C_QUERY_PORT,
	C_QUERY_GID,
	C_QUERY_GID_TABLE,
	C_QUERY_PKEY,
	C_ALLOC_PD,
	C_REG_MR,
	C_DEREG_MR,
	C_CREATE_COMP_CHANNEL,
	C_CREATE_CQ,
	C_CREATE_QP,
	C_MODIFY_INIT,
	C_MODIFY_RTR,
	C_MODIFY_RTS,
	C_MODIFY_ERR,
	C_QUERY_QP,
	C_DESTROY_QP,
	C_CREATE_AH,
	C_POST_SEND,
	C_POST_RECV,
	C_POLL_CQ,
	C_RESOLVE_ADDR,
	C_RESOLVE_ROUTE,
	C_CONNECT,
	C_ACCEPT,
	C_LISTEN,
	C_CALLS,
};

/* What happens at a call, from its nth on or at its nth alone. */
struct rule {
	enum { NOTHING, FAIL, CRASH, HANG, EXIT } what;
	int error;
	int nth;   /* 0: every time */
	int count; /* calls so far */
};

/* What is allowed that must be refused. */
enum {
	ALLOW_WRONG_RKEY = 1,
	ALLOW_STALE_RKEY = 2,
	ALLOW_RANGE = 4,
	ALLOW_PERMISSION = 8,
	ALLOW_RNR = 16,
};

struct gid {
	int set;
	int type; /* enum ibv_gid_type */
	int ifindex;
	union ibv_gid gid;
};

#define FAKE_GIDS 16
#define FAKE_DEVICES 8

struct script {
	int read;
	int devices;
	char name[FAKE_DEVICES][32];
	int link; /* IBV_LINK_LAYER_* */
	int iwarp;
	int port_state;
	int lid;
	int sm_lid;
	int pkey;
	int max_mtu;
	int active_mtu;
	int max_qp;
	int max_qp_wr;
	int max_cqe;
	int max_inline;
	int atomic_cap;
	int odp;
	int limit_qp; /* QPs alive, 0: no limit */
	uint64_t limit_mr;
	int refuse_gid; /* -1: none */
	int refuse_mtu; /* larger path MTUs fail; 0: none */
	int refuse_pkey;
	int refuse_errno;
	int allow;
	int lie_wr_id;
	int lie_status;
	int lie_opcode;
	int lie_drop;
	int lie_data;
	uint32_t vendor_err;
	int disorder; /* every nth write of 9 to 64 bytes arrives late */
	uint64_t latency; /* ns from post to completion */
	int event;
	int event_port;
	int cm_event;  /* instead of the expected one, plus 1 */
	int cm_status;
	int cm_at;     /* the event it comes instead of */
	struct gid gids[FAKE_GIDS];
	struct rule rules[C_CALLS];
};

extern struct script script;

void read_script(void);

/* Counts a call and does what the script says: returns its errno, or 0. */
int enter_slow(enum call c);
static inline int enter(enum call c)
{
	return script.rules[c].what ? enter_slow(c) : 0;
}

uint64_t now(void);

struct fake_mr {
	struct ibv_mr mr;
	unsigned int access;
	int dead;
	struct fake_mr *next;
};

struct done {
	struct ibv_wc wc;
	uint64_t at;
};

struct fake_cq {
	struct ibv_cq cq;
	struct done *ring;
	unsigned int head, tail;
	int armed;
	int overrun;
};

struct fake_recv {
	uint64_t id;
	struct ibv_sge sge;
};

struct fake_qp {
	struct ibv_qp qp;
	struct ibv_qp_attr attr;
	struct ibv_qp_cap cap;
	int sig_all;
	struct fake_recv *recvs;
	unsigned int head, tail;
	struct fake_qp *next;
};

struct fake_ah {
	struct ibv_ah ah;
	struct ibv_ah_attr attr;
};

/* Guards everything below and what hangs on it. */
extern pthread_mutex_t lock;
extern struct fake_mr *mrs;
extern struct fake_qp *qps;
extern int live_qps;

struct fake_qp *find_qp(uint32_t num);
void complete(struct fake_cq *cq, const struct ibv_wc *wc);
void raise_event(struct ibv_context *ctx, int type, struct ibv_qp *qp, int port);
void to_err(struct fake_qp *qp);

int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		   struct ibv_send_wr **bad);
int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		   struct ibv_recv_wr **bad);
int fake_poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc);
int fake_req_notify_cq(struct ibv_cq *cq, int solicited);
void forget_deferred(void);

#endif
