#define _GNU_SOURCE
#include "fake.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct script script;

static const char *const calls[C_CALLS] = {
	"get_device_list", "open_device", "close_device", "query_device",
	"query_port", "query_gid", "query_gid_table", "query_pkey", "alloc_pd",
	"reg_mr", "dereg_mr", "create_comp_channel", "create_cq", "create_qp",
	"modify_init", "modify_rtr", "modify_rts", "modify_err", "query_qp",
	"destroy_qp", "create_ah", "post_send", "post_recv", "poll_cq",
	"resolve_addr", "resolve_route", "connect", "accept", "listen",
};

static const struct {
	const char *name;
	int value;
} errnos[] = {
	{ "EPERM", EPERM },     { "EIO", EIO },	        { "EAGAIN", EAGAIN },
	{ "ENOMEM", ENOMEM },   { "EACCES", EACCES },   { "EBUSY", EBUSY },
	{ "ENODEV", ENODEV },   { "EINVAL", EINVAL },   { "EMFILE", EMFILE },
	{ "ENOSPC", ENOSPC },   { "ENOSYS", ENOSYS },   { "ETIMEDOUT", ETIMEDOUT },
	{ "EOPNOTSUPP", EOPNOTSUPP }, { "ENETUNREACH", ENETUNREACH },
	{ "EHOSTUNREACH", EHOSTUNREACH }, { "none", 0 },
};

/* A script with a mistake is a test with a mistake: it must not pass. */
static void bad(const char *line)
{
	fprintf(stderr, "fake libibverbs: bad line in script: %s\n", line);
	abort();
}

static int errno_of(const char *s, const char *line)
{
	for (size_t i = 0; i < sizeof(errnos) / sizeof(*errnos); i++)
		if (!strcmp(s, errnos[i].name))
			return errnos[i].value;
	bad(line);
	return 0;
}

static void rule(int what, char **w, int n, const char *line)
{
	int c = 0, nth;

	while (c < C_CALLS && strcmp(calls[c], w[1]))
		c++;
	if (c == C_CALLS)
		bad(line);
	script.rules[c].what = what;
	nth = 2;
	if (what == FAIL) {
		script.rules[c].error = errno_of(n > 2 ? w[2] : "", line);
		nth = 3;
	}
	script.rules[c].nth = n > nth ? atoi(w[nth]) : 0;
}

/* gid INDEX TYPE ADDRESS [IFINDEX] */
static void gid(char **w, int n, const char *line)
{
	int i = n > 1 ? atoi(w[1]) : -1;
	struct gid *g;

	if (n < 4 || i < 0 || i >= FAKE_GIDS)
		bad(line);
	g = &script.gids[i];
	g->set = 1;
	g->type = !strcmp(w[2], "ib") ? 0 : !strcmp(w[2], "rocev1") ? 1 : 2;
	g->ifindex = n > 4 ? atoi(w[4]) : 2;
	if (inet_pton(AF_INET6, w[3], g->gid.raw) != 1)
		bad(line);
}

static int flag(const char *s, const char *line)
{
	if (!strcmp(s, "wrong-rkey"))
		return ALLOW_WRONG_RKEY;
	if (!strcmp(s, "stale-rkey"))
		return ALLOW_STALE_RKEY;
	if (!strcmp(s, "range"))
		return ALLOW_RANGE;
	if (!strcmp(s, "permission"))
		return ALLOW_PERMISSION;
	if (!strcmp(s, "rnr"))
		return ALLOW_RNR;
	bad(line);
	return 0;
}

static void lie(char **w, int n, const char *line)
{
	if (!strcmp(w[1], "wr-id"))
		script.lie_wr_id = 1;
	else if (!strcmp(w[1], "drop"))
		script.lie_drop = 1;
	else if (!strcmp(w[1], "data"))
		script.lie_data = 1;
	else if (!strcmp(w[1], "status") && n > 2)
		script.lie_status = atoi(w[2]);
	else if (!strcmp(w[1], "opcode") && n > 2)
		script.lie_opcode = atoi(w[2]);
	else
		bad(line);
}

static void link_of(const char *s, const char *line)
{
	script.iwarp = !strcmp(s, "iwarp");
	if (!strcmp(s, "infiniband"))
		script.link = IBV_LINK_LAYER_INFINIBAND;
	else if (!strcmp(s, "ethernet") || script.iwarp)
		script.link = IBV_LINK_LAYER_ETHERNET;
	else
		bad(line);
}

static int *number(const char *key)
{
	static const struct {
		const char *key;
		int *value;
	} all[] = {
		{ "port-state", &script.port_state },
		{ "lid", &script.lid },
		{ "sm-lid", &script.sm_lid },
		{ "pkey", &script.pkey },
		{ "max-mtu", &script.max_mtu },
		{ "active-mtu", &script.active_mtu },
		{ "max-qp", &script.max_qp },
		{ "max-qp-wr", &script.max_qp_wr },
		{ "max-cqe", &script.max_cqe },
		{ "max-inline", &script.max_inline },
		{ "atomic-cap", &script.atomic_cap },
		{ "odp", &script.odp },
		{ "limit-qp", &script.limit_qp },
		{ "refuse-gid", &script.refuse_gid },
		{ "refuse-mtu", &script.refuse_mtu },
		{ "refuse-pkey", &script.refuse_pkey },
		{ "disorder", &script.disorder },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].key, key))
			return all[i].value;
	return NULL;
}

static void line_of(char *text)
{
	char line[256], *w[8], *save = NULL;
	int n = 0, *v;

	snprintf(line, sizeof(line), "%s", text);
	for (char *p = strtok_r(text, " \t\n", &save); p && n < 8;
	     p = strtok_r(NULL, " \t\n", &save))
		w[n++] = p;
	if (!n || w[0][0] == '#')
		return;
	if (!strcmp(w[0], "no-devices")) {
		script.devices = 0;
		return;
	}
	if (!strcmp(w[0], "no-gids")) {
		memset(script.gids, 0, sizeof(script.gids));
		return;
	}
	if (n < 2)
		bad(line);
	v = number(w[0]);
	if (v)
		*v = (int)strtol(w[1], NULL, 0);
	else if (!strcmp(w[0], "device") && script.devices < FAKE_DEVICES)
		snprintf(script.name[script.devices++], 32, "%s", w[1]);
	else if (!strcmp(w[0], "link"))
		link_of(w[1], line);
	else if (!strcmp(w[0], "gid"))
		gid(w, n, line);
	else if (!strcmp(w[0], "fail"))
		rule(FAIL, w, n, line);
	else if (!strcmp(w[0], "crash"))
		rule(CRASH, w, n, line);
	else if (!strcmp(w[0], "hang"))
		rule(HANG, w, n, line);
	else if (!strcmp(w[0], "exit"))
		rule(EXIT, w, n, line);
	else if (!strcmp(w[0], "allow"))
		script.allow |= flag(w[1], line);
	else if (!strcmp(w[0], "lie"))
		lie(w, n, line);
	else if (!strcmp(w[0], "refuse-errno"))
		script.refuse_errno = errno_of(w[1], line);
	else if (!strcmp(w[0], "vendor-err"))
		script.vendor_err = (uint32_t)strtoul(w[1], NULL, 0);
	else if (!strcmp(w[0], "limit-mr"))
		script.limit_mr = strtoull(w[1], NULL, 0);
	else if (!strcmp(w[0], "latency"))
		script.latency = strtoull(w[1], NULL, 0);
	else if (!strcmp(w[0], "event")) {
		script.event = atoi(w[1]) + 1;
		script.event_port = n > 2 ? atoi(w[2]) : 1;
	} else if (!strcmp(w[0], "cm-event") && n > 3) {
		script.cm_at = atoi(w[1]);
		script.cm_event = atoi(w[2]) + 1;
		script.cm_status = atoi(w[3]);
	} else
		bad(line);
}

static void defaults(void)
{
	memset(&script, 0, sizeof(script));
	script.read = 1;
	script.link = IBV_LINK_LAYER_ETHERNET;
	script.port_state = IBV_PORT_ACTIVE;
	script.pkey = 0xffff;
	script.max_mtu = 4096;
	script.active_mtu = 1024;
	script.max_qp = 1000;
	script.max_qp_wr = 16384;
	script.max_cqe = 65536;
	script.max_inline = 256;
	script.atomic_cap = IBV_ATOMIC_HCA;
	script.refuse_gid = -1;
	script.refuse_pkey = -1;
	script.refuse_errno = EINVAL;
	script.gids[0] = (struct gid){ .set = 1, .type = 2, .ifindex = 2 };
	script.gids[1] = script.gids[0];
	inet_pton(AF_INET6, "fe80::5054:ff:fe12:3456", script.gids[0].gid.raw);
	inet_pton(AF_INET6, "::ffff:192.0.2.1", script.gids[1].gid.raw);
}

void read_script(void)
{
	char path[4096], line[256];
	Dl_info self;
	FILE *f;

	defaults();
	if (!dladdr((void *)read_script, &self))
		return;
	snprintf(path, sizeof(path), "%s.script", self.dli_fname);
	f = fopen(path, "re");
	if (f) {
		int named = 0;

		while (fgets(line, sizeof(line), f)) {
			named |= !strncmp(line, "device ", 7) ||
				 !strncmp(line, "no-devices", 10);
			line_of(line);
		}
		fclose(f);
		if (named)
			return;
	}
	script.devices = 1;
	snprintf(script.name[0], 32, "fake0");
}

int enter_slow(enum call c)
{
	struct rule *r = &script.rules[c];
	int n = __atomic_add_fetch(&r->count, 1, __ATOMIC_RELAXED);
	volatile int *volatile nowhere = NULL;

	if (r->nth && n != r->nth)
		return 0;
	switch (r->what) {
	case CRASH:
		*nowhere = 0;
		break;
	case HANG:
		for (;;)
			pause();
	case EXIT:
		_exit(3);
	default:
		break;
	}
	return r->error ? r->error : -1;
}

uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
