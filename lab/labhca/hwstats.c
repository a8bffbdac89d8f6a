// SPDX-License-Identifier: GPL-2.0
/*
 * hw_counters, of a port and of a device, in sysfs and "rdma statistic".
 */
#include "labhca.h"

struct rdma_stat_desc labhca_port_descs[LABHCA_HW];
struct rdma_stat_desc labhca_device_descs[LABHCA_HW];
int labhca_port_ndescs, labhca_device_ndescs;

static int append(struct rdma_stat_desc *descs, int *n, const char *name)
{
	int i;

	for (i = 0; i < *n; i++)
		if (!strcmp(descs[i].name, name))
			return 0;
	if (*n == LABHCA_HW)
		return -ENOSPC;
	descs[(*n)++].name = name;
	return 0;
}

/* Lists the names: the family's, then the user's own, for ports. */
int labhca_hw_init(char **extra, unsigned int n)
{
	const char *const *name;
	unsigned int i;
	int err = 0;

	for (name = labhca_family->port_names; *name && !err; name++)
		err = append(labhca_port_descs, &labhca_port_ndescs, *name);
	for (i = 0; i < n && !err; i++)
		err = append(labhca_port_descs, &labhca_port_ndescs, extra[i]);
	name = labhca_family->device_names;
	for (; name && *name && !err; name++)
		err = append(labhca_device_descs, &labhca_device_ndescs, *name);
	return err;
}

/* Imitates mlx5_ib_alloc_hw_port_stats. */
static struct rdma_hw_stats *alloc_port(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(labhca_port_descs, labhca_port_ndescs,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* Imitates efa_alloc_hw_device_stats. */
static struct rdma_hw_stats *alloc_device(struct ib_device *ib)
{
	return rdma_alloc_hw_stats_struct(labhca_device_descs,
					  labhca_device_ndescs,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* Imitates mlx5_ib_get_hw_stats, which is a firmware command: it may never
 * return.
 */
static int get(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port,
	       int index)
{
	struct labhca *hca = labhca_of(ib);
	struct labhca_clock *clock = &hca->clock;
	struct labhca_count *count = hca->hw;
	int i;

	if (port) {
		clock = &hca->port[port - 1].clock;
		count = hca->port[port - 1].hw;
	}
	labhca_hang(hca, &hca->hang_hw_counters);
	labhca_clock_lock(clock);
	for (i = 0; i < stats->num_counters; i++)
		stats->value[i] = labhca_count_value(clock, &count[i]);
	labhca_clock_unlock(clock);
	return stats->num_counters;
}

const struct ib_device_ops labhca_hw_port_ops = {
	.alloc_hw_port_stats = alloc_port,
	.get_hw_stats = get,
};

const struct ib_device_ops labhca_hw_device_ops = {
	.alloc_hw_device_stats = alloc_device,
};
