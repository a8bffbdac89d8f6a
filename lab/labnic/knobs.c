// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs: debugfs files below labnic/<port>/, described in README.md.
 * The folder keeps the name that the port had when the module was loaded.
 */
#include <linux/rtnetlink.h>

#include "labnic.h"

/* A knob that is a plain number in struct labnic_port. */
struct knob {
	const char *name;
	size_t offset;
	size_t size;
	bool link;        /* the link may change with it */
	bool congestion;  /* in the folder congestion/ */
	u64 max;
};

#define FIELD(f) offsetof(struct labnic_port, f), \
		 sizeof_field(struct labnic_port, f)

static const struct knob knobs[] = {
	{ "carrier", FIELD(link.cable), true, false, 1 },
	{ "cable_speed", FIELD(link.cable_speed), true, false, U32_MAX },
	{ "ext_state", FIELD(link.ext_state), false, false, U32_MAX },
	{ "ext_substate", FIELD(link.ext_substate), false, false, U32_MAX },
	{ "pfc_toggles_link", FIELD(link.pfc_toggles_link), false, false, 1 },
	{ "reset_clears_pause", FIELD(link.reset_clears_pause), false, false,
	  1 },
	{ "dcbx", FIELD(dcb.dcbx), false, false, U8_MAX },
	{ "prios", FIELD(congestion.prios), false, true, U8_MAX },
	{ "discards", FIELD(congestion.discards), false, true, U64_MAX },
	{ "pauses", FIELD(congestion.pauses), false, true, U64_MAX },
	{ "pause_us", FIELD(congestion.pause_us), false, true, U64_MAX },
	{ "drop_every", FIELD(congestion.drop_every), false, true, U32_MAX },
	{ "drop_prios", FIELD(congestion.drop_prios), false, true, U8_MAX },
};

/* Finds the port from a file: the private data of its folder's files is a
 * pair of port and number, kept as long as the port.
 */
struct labnic_file {
	struct labnic_port *port;
	int i;
};

static u64 load(const struct labnic_port *p, const struct knob *k)
{
	const void *at = (const char *)p + k->offset;

	switch (k->size) {
	case 1: return *(const u8 *)at;
	case 4: return *(const u32 *)at;
	default: return *(const u64 *)at;
	}
}

static void store(struct labnic_port *p, const struct knob *k, u64 v)
{
	void *at = (char *)p + k->offset;

	switch (k->size) {
	case 1: *(u8 *)at = v; break;
	case 4: *(u32 *)at = v; break;
	default: *(u64 *)at = v; break;
	}
}

static int knob_get(void *data, u64 *v)
{
	struct labnic_file *f = data;

	*v = load(f->port, &knobs[f->i]);
	return 0;
}

static int knob_set(void *data, u64 v)
{
	struct labnic_file *f = data;
	const struct knob *k = &knobs[f->i];
	struct labnic_pair *pair = f->port->pair;

	if (v > k->max)
		return -ERANGE;
	rtnl_lock();
	labnic_lock(pair);
	store(f->port, k, v);
	labnic_congestion_update(pair);
	labnic_unlock(pair);
	if (k->link)
		labnic_link_update(pair);
	rtnl_unlock();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(knob_fops, knob_get, knob_set, "%llu\n");

static int count_get(void *data, u64 *v)
{
	struct labnic_file *f = data;

	labnic_lock(f->port->pair);
	*v = labnic_count_value(f->port, f->i);
	labnic_unlock(f->port->pair);
	return 0;
}

static int count_set(void *data, u64 v)
{
	struct labnic_file *f = data;

	labnic_lock(f->port->pair);
	labnic_count_set(f->port, f->i, v);
	labnic_unlock(f->port->pair);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(count_fops, count_get, count_set, "%llu\n");

static int rate_get(void *data, u64 *v)
{
	struct labnic_file *f = data;

	*v = READ_ONCE(f->port->count[f->i].rate);
	return 0;
}

static int rate_set(void *data, u64 v)
{
	struct labnic_file *f = data;

	labnic_lock(f->port->pair);
	labnic_count_set_rate(f->port, f->i, v);
	labnic_unlock(f->port->pair);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(rate_fops, rate_get, rate_set, "%llu\n");

int labnic_knobs_add(struct labnic_port *p, struct dentry *root,
		     const char *name)
{
	struct dentry *counters, *rate, *congestion;
	char file[ETH_GSTRING_LEN];
	struct labnic_file *f;
	int i, n = max_t(int, LABNIC_COUNTERS, ARRAY_SIZE(knobs));

	f = devm_kcalloc(&p->parent->dev, n, sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		f[i].port = p;
		f[i].i = i;
	}
	p->dir = debugfs_create_dir(name, root);
	congestion = debugfs_create_dir("congestion", p->dir);
	for (i = 0; i < ARRAY_SIZE(knobs); i++)
		debugfs_create_file_unsafe(knobs[i].name, 0644,
					   knobs[i].congestion ? congestion :
					   p->dir, &f[i], &knob_fops);
	counters = debugfs_create_dir("counters", p->dir);
	rate = debugfs_create_dir("rate", p->dir);
	for (i = 0; i < LABNIC_COUNTERS; i++) {
		labnic_count_name(i, file);
		debugfs_create_file_unsafe(file, 0644, counters, &f[i],
					   &count_fops);
		debugfs_create_file_unsafe(file, 0644, rate, &f[i], &rate_fops);
	}
	return 0;
}
