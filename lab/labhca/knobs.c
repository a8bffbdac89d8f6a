// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs: debugfs files below labhca/<device>/, described in README.md.
 * States are written by the names that sysfs and the specification use.
 */
#include <linux/ctype.h>
#include <linux/uaccess.h>

#include "labhca.h"

enum kind { FLAG, NUMBER, HEX, GUID, TEXT, WORD, COUNT, RATE };

struct word {
	const char *name;
	u16 value;
};

static const struct word states[] = {
	{ "DOWN", IB_PORT_DOWN }, { "INIT", IB_PORT_INIT },
	{ "ARMED", IB_PORT_ARMED }, { "ACTIVE", IB_PORT_ACTIVE },
	{ "ACTIVE_DEFER", IB_PORT_ACTIVE_DEFER }, {}
};

static const struct word phys_states[] = {
	{ "Sleep", IB_PORT_PHYS_STATE_SLEEP },
	{ "Polling", IB_PORT_PHYS_STATE_POLLING },
	{ "Disabled", IB_PORT_PHYS_STATE_DISABLED },
	{ "PortConfigurationTraining",
	  IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING },
	{ "LinkUp", IB_PORT_PHYS_STATE_LINK_UP },
	{ "LinkErrorRecovery", IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY },
	{ "PhyTest", IB_PORT_PHYS_STATE_PHY_TEST }, {}
};

static const struct word widths[] = {
	{ "1X", IB_WIDTH_1X }, { "2X", IB_WIDTH_2X }, { "4X", IB_WIDTH_4X },
	{ "8X", IB_WIDTH_8X }, { "12X", IB_WIDTH_12X }, {}
};

/* 128 is NDR, which old headers have no name for; 6.1 shows it. */
static const struct word speeds[] = {
	{ "SDR", IB_SPEED_SDR }, { "DDR", IB_SPEED_DDR },
	{ "QDR", IB_SPEED_QDR }, { "FDR10", IB_SPEED_FDR10 },
	{ "FDR", IB_SPEED_FDR }, { "EDR", IB_SPEED_EDR },
	{ "HDR", IB_SPEED_HDR }, { "NDR", IB_SPEED_NDR }, {}
};

static const struct word mtus[] = {
	{ "256", IB_MTU_256 }, { "512", IB_MTU_512 }, { "1024", IB_MTU_1024 },
	{ "2048", IB_MTU_2048 }, { "4096", IB_MTU_4096 }, {}
};

struct knob {
	const char *name;
	enum kind kind;
	size_t offset, size;
	const struct word *words;
	int event;           /* what the core is told of a change */
};

#define NO_EVENT -1
/* ACTIVE: the port became active, or stopped being it. */
#define STATE_EVENT -2

#define HCA(f) offsetof(struct labhca, f), sizeof_field(struct labhca, f)
#define PORT(f) offsetof(struct labhca_port, f), \
		sizeof_field(struct labhca_port, f)

static const struct knob hca_knobs[] = {
	{ "board_id", TEXT, HCA(board_id), NULL, NO_EVENT },
	{ "hca_type", TEXT, HCA(hca_type), NULL, NO_EVENT },
	{ "hw_rev", TEXT, HCA(hw_rev), NULL, NO_EVENT },
	{ "fw_ver", TEXT, HCA(fw_ver), NULL, NO_EVENT },
	{ "node_guid", GUID, HCA(node_guid), NULL, NO_EVENT },
	{ "sys_image_guid", GUID, HCA(sys_image_guid), NULL, NO_EVENT },
	{ "hang_hw_counters", FLAG, HCA(hang_hw_counters), NULL, NO_EVENT },
	{ "hang_counters", FLAG, HCA(hang_counters), NULL, NO_EVENT },
	{ "hang_query_port", FLAG, HCA(hang_query_port), NULL, NO_EVENT },
};

static const struct knob port_knobs[] = {
	{ "state", WORD, PORT(state), states, STATE_EVENT },
	{ "phys_state", WORD, PORT(phys_state), phys_states, NO_EVENT },
	{ "width", WORD, PORT(width), widths, NO_EVENT },
	{ "speed", WORD, PORT(speed), speeds, NO_EVENT },
	{ "max_mtu", WORD, PORT(max_mtu), mtus, NO_EVENT },
	{ "active_mtu", WORD, PORT(active_mtu), mtus, NO_EVENT },
	{ "lid", NUMBER, PORT(lid), NULL, IB_EVENT_LID_CHANGE },
	{ "lmc", NUMBER, PORT(lmc), NULL, IB_EVENT_LID_CHANGE },
	{ "sm_lid", NUMBER, PORT(sm_lid), NULL, IB_EVENT_SM_CHANGE },
	{ "sm_sl", NUMBER, PORT(sm_sl), NULL, IB_EVENT_SM_CHANGE },
	{ "cap_mask", HEX, PORT(cap_mask), NULL, NO_EVENT },
	{ "gid_prefix", GUID, PORT(gid_prefix), NULL, IB_EVENT_GID_CHANGE },
	{ "guid", GUID, PORT(guid), NULL, IB_EVENT_GID_CHANGE },
};

static const struct knob pkey_knob = {
	"pkeys", HEX, 0, sizeof(u16), NULL, IB_EVENT_PKEY_CHANGE,
};

static const struct knob count_knob = { .kind = COUNT, .event = NO_EVENT };
static const struct knob rate_knob = { .kind = RATE, .event = NO_EVENT };

struct labhca_file {
	const struct knob *knob;
	struct labhca *hca;
	struct labhca_port *port;    /* NULL: the device's own */
	void *at;
	struct labhca_clock *clock;
};

static u64 load(const struct labhca_file *f)
{
	switch (f->knob->size) {
	case 1: return *(const u8 *)f->at;
	case 2: return *(const u16 *)f->at;
	case 4: return *(const u32 *)f->at;
	default: return *(const u64 *)f->at;
	}
}

static int store(const struct labhca_file *f, u64 v)
{
	if (f->knob->size < 8 && v >> (8 * f->knob->size))
		return -ERANGE;
	if (f->knob->kind == FLAG && v > 1)
		return -ERANGE;
	switch (f->knob->size) {
	case 1: *(u8 *)f->at = v; break;
	case 2: *(u16 *)f->at = v; break;
	case 4: *(u32 *)f->at = v; break;
	default: *(u64 *)f->at = v; break;
	}
	return 0;
}

static int show_count(const struct labhca_file *f, char *buf, size_t n)
{
	struct labhca_count *c = f->at;
	u64 v;

	labhca_clock_lock(f->clock);
	v = f->knob->kind == RATE ? c->rate : labhca_count_value(f->clock, c);
	labhca_clock_unlock(f->clock);
	return scnprintf(buf, n, "%llu\n", v);
}

static int show(const struct labhca_file *f, char *buf, size_t n)
{
	const struct word *w;
	u64 v;

	switch (f->knob->kind) {
	case TEXT:
		return scnprintf(buf, n, "%s\n", (const char *)f->at);
	case GUID:
		v = be64_to_cpu(*(__be64 *)f->at);
		return scnprintf(buf, n, "0x%016llx\n", v);
	case HEX:
		return scnprintf(buf, n, "0x%llx\n", load(f));
	case WORD:
		for (w = f->knob->words; w->name; w++)
			if (w->value == load(f))
				return scnprintf(buf, n, "%s\n", w->name);
		return scnprintf(buf, n, "%llu\n", load(f));
	case COUNT:
	case RATE:
		return show_count(f, buf, n);
	default:
		return scnprintf(buf, n, "%llu\n", load(f));
	}
}

static int parse_word(const struct labhca_file *f, const char *text)
{
	const struct word *w;

	for (w = f->knob->words; w->name; w++)
		if (!strcasecmp(w->name, text))
			return store(f, w->value);
	return -EINVAL;
}

/* The GUID of a device that is there shows at once: sysfs reads it from the
 * ib_device, and the image GUID from the attributes the core has kept.
 */
static void show_guids(struct labhca *hca)
{
	struct ib_device *ib = labhca_get(hca);

	if (!ib)
		return;
	ib->node_guid = hca->node_guid;
	ib->attrs.sys_image_guid = hca->sys_image_guid;
	ib_device_put(ib);
}

static int parse(const struct labhca_file *f, char *text)
{
	struct labhca_count *c = f->at;
	u64 v;
	int err;

	if (f->knob->kind == TEXT)
		return strscpy(f->at, text, f->knob->size) < 0 ? -E2BIG : 0;
	if (f->knob->kind == WORD)
		return parse_word(f, text);
	err = kstrtou64(text, 0, &v);
	if (err)
		return err;
	switch (f->knob->kind) {
	case GUID:
		*(__be64 *)f->at = cpu_to_be64(v);
		return 0;
	case COUNT:
	case RATE:
		labhca_clock_lock(f->clock);
		if (f->knob->kind == RATE)
			labhca_count_set_rate(f->clock, c, v);
		else
			labhca_count_set(f->clock, c, v);
		labhca_clock_unlock(f->clock);
		return 0;
	default:
		return store(f, v);
	}
}

static void tell(const struct labhca_file *f, u8 old_state)
{
	int event = f->knob->event;

	if (!f->port) {
		show_guids(f->hca);
		wake_up_all(&f->hca->unhang);
		return;
	}
	labhca_port_counting(f->port);
	if (event == STATE_EVENT) {
		if (old_state == f->port->state)
			return;
		event = IB_EVENT_PORT_ERR;
		if (f->port->state == IB_PORT_ACTIVE)
			event = IB_EVENT_PORT_ACTIVE;
	}
	if (event != NO_EVENT)
		labhca_event(f->hca, f->port->number, event);
}

static ssize_t knob_read(struct file *file, char __user *to, size_t n,
			 loff_t *pos)
{
	char buf[LABHCA_TEXT + 2];

	return simple_read_from_buffer(to, n, pos, buf,
				       show(file->private_data, buf,
					    sizeof(buf)));
}

static ssize_t knob_write(struct file *file, const char __user *from, size_t n,
			  loff_t *pos)
{
	struct labhca_file *f = file->private_data;
	u8 old_state = f->port ? f->port->state : 0;
	char buf[LABHCA_TEXT];
	int err;

	if (n >= sizeof(buf))
		return -E2BIG;
	if (copy_from_user(buf, from, n))
		return -EFAULT;
	buf[n] = 0;
	err = parse(f, strim(buf));
	if (err)
		return err;
	tell(f, old_state);
	return n;
}

static const struct file_operations knob_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = knob_read,
	.write = knob_write,
	.llseek = default_llseek,
};

/* Hands out the file records of one device, in order. */
struct maker {
	struct labhca *hca;
	int used, size;
};

static void make(struct maker *m, struct dentry *dir, const char *name,
		 const struct knob *knob, struct labhca_port *port, void *at)
{
	struct labhca_file *f = &m->hca->files[m->used];

	if (WARN_ON(m->used == m->size))
		return;
	m->used++;
	f->knob = knob;
	f->hca = m->hca;
	f->port = port;
	f->at = at;
	f->clock = port ? &port->clock : &m->hca->clock;
	debugfs_create_file(name, 0644, dir, f, &knob_fops);
}

static void make_counts(struct maker *m, struct dentry *dir,
			struct labhca_port *port, const char *folder,
			const char *rate_folder, bool pma)
{
	struct dentry *values = debugfs_create_dir(folder, dir);
	struct dentry *rates = debugfs_create_dir(rate_folder, dir);
	int n = pma ? LABHCA_PMA : labhca_port_ndescs, i;

	if (!port)
		n = labhca_device_ndescs;
	for (i = 0; i < n; i++) {
		struct labhca_count *c = pma ? port->pma :
					 port ? port->hw : m->hca->hw;
		const char *name = pma ? labhca_pma_name(i) :
				   port ? labhca_port_descs[i].name :
				   labhca_device_descs[i].name;

		make(m, values, name, &count_knob, port, &c[i]);
		make(m, rates, name, &rate_knob, port, &c[i]);
	}
}

static void make_port(struct maker *m, struct dentry *dir,
		      struct labhca_port *p)
{
	struct dentry *pkeys;
	char name[8];
	int i;

	for (i = 0; i < ARRAY_SIZE(port_knobs); i++)
		make(m, dir, port_knobs[i].name, &port_knobs[i], p,
		     (char *)p + port_knobs[i].offset);
	pkeys = debugfs_create_dir("pkeys", dir);
	for (i = 0; i < LABHCA_PKEYS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		make(m, pkeys, name, &pkey_knob, p, &p->pkeys[i]);
	}
	make_counts(m, dir, p, "counters", "rate", true);
	make_counts(m, dir, p, "hw_counters", "hw_rate", false);
}

int labhca_knobs_add(struct labhca *hca, struct dentry *root, const char *name)
{
	struct maker m = { .hca = hca };
	struct dentry *ports;
	int i;

	m.size = ARRAY_SIZE(hca_knobs) + 2 * labhca_device_ndescs +
		 hca->ports * (ARRAY_SIZE(port_knobs) + LABHCA_PKEYS +
			       2 * LABHCA_PMA + 2 * labhca_port_ndescs);
	hca->files = kvcalloc(m.size, sizeof(*hca->files), GFP_KERNEL);
	if (!hca->files)
		return -ENOMEM;
	hca->dir = debugfs_create_dir(name, root);
	for (i = 0; i < ARRAY_SIZE(hca_knobs); i++)
		make(&m, hca->dir, hca_knobs[i].name, &hca_knobs[i], NULL,
		     (char *)hca + hca_knobs[i].offset);
	if (labhca_device_ndescs)
		make_counts(&m, hca->dir, NULL, "hw_counters", "hw_rate", false);
	ports = debugfs_create_dir("ports", hca->dir);
	for (i = 0; i < hca->ports; i++) {
		char number[8];

		snprintf(number, sizeof(number), "%d", i + 1);
		make_port(&m, debugfs_create_dir(number, ports), &hca->port[i]);
	}
	return 0;
}

void labhca_knobs_free(struct labhca *hca)
{
	kvfree(hca->files);
}
