// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/class/net/X/ecn/roce_np/enable/3 and so on: whether congestion control
 * of RoCE is on for a priority. The kernel's own mlx5 keeps that in debugfs;
 * drivers of vendor packages show it here.
 */
#include "labnic.h"

static const char *const roles[] = { "roce_np", "roce_rp" };

/* The files are named by priority; the folder above tells the role. */
static bool *state_of(struct kobject *enable, struct kobj_attribute *attr)
{
	struct kobject *dir = enable->parent->parent;
	struct net_device *dev = to_net_dev(kobj_to_dev(dir->parent));
	struct labnic_port *p = netdev_priv(dev);

	return &p->ecn.on[enable == p->ecn.enable[1]][attr->attr.name[0] - '0'];
}

static ssize_t show(struct kobject *enable, struct kobj_attribute *attr,
		    char *buf)
{
	return sysfs_emit(buf, "%d\n", *state_of(enable, attr));
}

static ssize_t store(struct kobject *enable, struct kobj_attribute *attr,
		     const char *buf, size_t n)
{
	int err = kstrtobool(buf, state_of(enable, attr));

	return err ? err : n;
}

#define PRIORITY(n) \
	static struct kobj_attribute priority##n = __ATTR(n, 0644, show, store)
PRIORITY(0); PRIORITY(1); PRIORITY(2); PRIORITY(3);
PRIORITY(4); PRIORITY(5); PRIORITY(6); PRIORITY(7);

static const struct attribute *const priorities[] = {
	&priority0.attr, &priority1.attr, &priority2.attr, &priority3.attr,
	&priority4.attr, &priority5.attr, &priority6.attr, &priority7.attr,
	NULL
};

/* All on, as from the factory. */
int labnic_ecn_add(struct labnic_port *p)
{
	struct labnic_ecn *e = &p->ecn;
	int i, err;

	if (!labnic_ecn)
		return 0;
	memset(e->on, 1, sizeof(e->on));
	e->dir = kobject_create_and_add("ecn", &p->dev->dev.kobj);
	if (!e->dir)
		return -ENOMEM;
	for (i = 0; i < 2; i++) {
		e->role[i] = kobject_create_and_add(roles[i], e->dir);
		if (!e->role[i])
			return -ENOMEM;
		e->enable[i] = kobject_create_and_add("enable", e->role[i]);
		if (!e->enable[i])
			return -ENOMEM;
		err = sysfs_create_files(e->enable[i], priorities);
		if (err)
			return err;
	}
	return 0;
}

void labnic_ecn_remove(struct labnic_port *p)
{
	int i;

	for (i = 0; i < 2; i++) {
		kobject_put(p->ecn.enable[i]);
		kobject_put(p->ecn.role[i]);
	}
	kobject_put(p->ecn.dir);
}
