//go:build cgo && linux && !noverbs

#define _GNU_SOURCE
#include "rd.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct symbol {
	const char *name;
	const char *version;
	size_t offset;
	int required;
};

#define SYM(symbol, field, version, required) \
	{ symbol, version, offsetof(struct rd_lib, field), required }
#define IBV(field) SYM("ibv_" #field, field, "IBVERBS_1.1", 1)
#define CM(field) SYM("rdma_" #field, cm_##field, "RDMACM_1.0", 1)

static const struct symbol verbs[] = {
	IBV(get_device_list),
	IBV(free_device_list),
	IBV(get_device_guid),
	IBV(open_device),
	IBV(close_device),
	IBV(get_async_event),
	IBV(ack_async_event),
	IBV(query_device),
	IBV(query_port),
	IBV(query_gid),
	SYM("_ibv_query_gid_table", query_gid_table, "IBVERBS_1.11", 0),
	IBV(query_pkey),
	IBV(alloc_pd),
	IBV(dealloc_pd),
	IBV(reg_mr),
	SYM("ibv_reg_mr_iova2", reg_mr_iova2, "IBVERBS_1.8", 0),
	IBV(dereg_mr),
	/* The channel's functions came first and have never changed. */
	SYM("ibv_create_comp_channel", create_comp_channel, "IBVERBS_1.0", 1),
	SYM("ibv_destroy_comp_channel", destroy_comp_channel, "IBVERBS_1.0", 1),
	IBV(create_cq),
	IBV(destroy_cq),
	IBV(get_cq_event),
	IBV(ack_cq_events),
	IBV(create_qp),
	IBV(modify_qp),
	IBV(query_qp),
	IBV(destroy_qp),
	IBV(create_ah),
	IBV(destroy_ah),
};

static const struct symbol cm[] = {
	CM(create_event_channel),
	CM(destroy_event_channel),
	CM(create_id),
	CM(destroy_id),
	CM(migrate_id),
	CM(bind_addr),
	CM(resolve_addr),
	CM(resolve_route),
	CM(create_qp),
	CM(destroy_qp),
	CM(connect),
	CM(listen),
	CM(accept),
	CM(reject),
	CM(disconnect),
	CM(get_cm_event),
	CM(ack_cm_event),
	CM(get_src_port),
};

static int load(struct rd_lib *lib, const char *path, const struct symbol *syms,
		size_t n, char *err, size_t errlen, struct rd_missing *missing,
		int cap, int *nmissing)
{
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	*nmissing = 0;
	if (!h) {
		const char *text = dlerror();

		snprintf(err, errlen, "%s", text ? text : "dlopen failed");
		return -ENOENT;
	}
	for (size_t i = 0; i < n; i++) {
		void *p = dlvsym(h, syms[i].name, syms[i].version);

		memcpy((char *)lib + syms[i].offset, &p, sizeof(p));
		if (p)
			continue;
		if (syms[i].required)
			*nmissing = 0;
		if (*nmissing < cap) {
			missing[*nmissing].name = syms[i].name;
			missing[*nmissing].version = syms[i].version;
			++*nmissing;
		}
		if (syms[i].required)
			return -ENOSYS;
	}
	return 0;
}

int rd_load(struct rd_lib *lib, const char *path, char *err, size_t errlen,
	    struct rd_missing *missing, int cap, int *nmissing)
{
	return load(lib, path, verbs, sizeof(verbs) / sizeof(*verbs), err,
		    errlen, missing, cap, nmissing);
}

int rd_load_cm(struct rd_lib *lib, const char *path, char *err, size_t errlen,
	       struct rd_missing *missing)
{
	int n;

	return load(lib, path, cm, sizeof(cm) / sizeof(*cm), err, errlen,
		    missing, 1, &n);
}
