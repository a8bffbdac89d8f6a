// SPDX-License-Identifier: GPL-2.0
/*
 * The ib_device of a labhca: what is asked of the device as a whole, and how
 * it comes and goes.
 */
#include "labhca.h"

/* Mellanox's vendor ID, in the device attributes as an IEEE OUI. */
#define VENDOR_ID 0x02c9
#define PART_ID 4123

struct context {
	struct ib_ucontext core;
};

struct domain {
	struct ib_pd core;
};

/* Imitates mlx5_ib_query_device, with the limits of a ConnectX-6. */
static int query_device(struct ib_device *ib, struct ib_device_attr *attr,
			struct ib_udata *udata)
{
	struct labhca *hca = labhca_of(ib);

	memset(attr, 0, sizeof(*attr));
	attr->sys_image_guid = hca->sys_image_guid;
	attr->vendor_id = VENDOR_ID;
	attr->vendor_part_id = PART_ID;
	attr->max_mr_size = ~0ULL;
	attr->max_qp = 262144;
	attr->max_qp_wr = 32768;
	attr->max_send_sge = 30;
	attr->max_recv_sge = 32;
	attr->max_cq = 16777216;
	attr->max_cqe = 4194303;
	attr->max_mr = 16777216;
	attr->max_pd = 8388608;
	attr->max_qp_rd_atom = 16;
	attr->max_qp_init_rd_atom = 16;
	attr->max_res_rd_atom = 4194304;
	attr->max_srq = 8388608;
	attr->max_ah = INT_MAX;
	attr->max_pkeys = LABHCA_PKEYS;
	return 0;
}

/* Imitates get_dev_fw_str of mlx5_ib. */
static void fw_str(struct ib_device *ib, char *str)
{
	strscpy(str, labhca_of(ib)->fw_ver, IB_FW_VERSION_NAME_MAX);
}

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

/* Its presence lets the device go while programs have it open. */
static void disassociate_ucontext(struct ib_ucontext *context)
{
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static struct labhca *hca_of(struct device *dev)
{
	struct labhca_ib *d = rdma_device_to_drv_device(dev, struct labhca_ib,
							ib);
	return d->hca;
}

/* The attributes of mlx5_class_attributes that tools read. */
static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%s\n", hca_of(dev)->hca_type);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr,
			   char *buf)
{
	return sysfs_emit(buf, "%s\n", hca_of(dev)->hw_rev);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr,
			     char *buf)
{
	return sysfs_emit(buf, "%s\n", hca_of(dev)->board_id);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *attributes[] = {
	&dev_attr_hca_type.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_board_id.attr,
	NULL
};

static const struct attribute_group group = {
	.attrs = attributes,
};

/* Not const: the number that user space finds its provider by is a module
 * parameter, by default the one for which there is none.
 */
static struct ib_device_ops device_ops = {
	.owner = THIS_MODULE,
	.uverbs_abi_ver = 1,
	.device_group = &group,
	.query_device = query_device,
	.get_dev_fw_str = fw_str,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.disassociate_ucontext = disassociate_ucontext,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	INIT_RDMA_OBJ_SIZE(ib_ucontext, context, core),
	INIT_RDMA_OBJ_SIZE(ib_pd, domain, core),
};

static void set_ops(struct labhca *hca, struct ib_device *ib)
{
	device_ops.driver_id = labhca_driver_id;
	ib_set_device_ops(ib, &device_ops);
	ib_set_device_ops(ib, &labhca_port_ops);
	ib_set_device_ops(ib, &labhca_hw_port_ops);
	if (labhca_device_ndescs)
		ib_set_device_ops(ib, &labhca_hw_device_ops);
	if (labhca_family->pma)
		ib_set_device_ops(ib, &labhca_pma_ops);
	if (hca->port[0].roce)
		ib_set_device_ops(ib, &labhca_roce_ops);
}

/* Makes the ib_device appear, if it is not there. */
int labhca_plug(struct labhca *hca)
{
	struct labhca_ib *d;
	int err = 0;

	mutex_lock(&hca->plugging);
	if (hca->ib)
		goto unlock;
	err = -ENOMEM;
	d = ib_alloc_device(labhca_ib, ib);
	if (!d)
		goto unlock;
	d->hca = hca;
	d->ib.node_type = labhca_family->efa ? RDMA_NODE_UNSPECIFIED :
					       RDMA_NODE_IB_CA;
	d->ib.phys_port_cnt = hca->ports;
	d->ib.num_comp_vectors = 1;
	d->ib.node_guid = hca->node_guid;
	d->ib.dev.parent = hca->pci ? &hca->pci->dev : &hca->parent->dev;
	snprintf(d->ib.node_desc, sizeof(d->ib.node_desc), "labhca %d",
		 hca->index);
	set_ops(hca, &d->ib);
	if (hca->port[0].roce) {
		err = labhca_netdev_attach(hca, &d->ib);
		if (err)
			goto dealloc;
	}
	err = ib_register_device(&d->ib, labhca_name, NULL);
	if (err)
		goto dealloc;
	/* The netdev may have gone while no event could reach the device. */
	if (hca->port[0].roce)
		labhca_netdev_attach(hca, &d->ib);
	spin_lock(&hca->ib_lock);
	hca->ib = d;
	spin_unlock(&hca->ib_lock);
	goto unlock;
dealloc:
	ib_dealloc_device(&d->ib);
unlock:
	mutex_unlock(&hca->plugging);
	return err;
}

/* Makes it vanish, as a surprise removal does: hung calls come back first. */
void labhca_unplug(struct labhca *hca)
{
	struct labhca_ib *d;

	mutex_lock(&hca->plugging);
	spin_lock(&hca->ib_lock);
	d = hca->ib;
	hca->ib = NULL;
	spin_unlock(&hca->ib_lock);
	hca->hang_hw_counters = false;
	hca->hang_counters = false;
	hca->hang_query_port = false;
	wake_up_all(&hca->unhang);
	if (d) {
		ib_unregister_device(&d->ib);
		ib_dealloc_device(&d->ib);
	}
	mutex_unlock(&hca->plugging);
}

/* Holds the ib_device, NULL if there is none; let go with ib_device_put. */
struct ib_device *labhca_get(struct labhca *hca)
{
	struct ib_device *ib = NULL;

	spin_lock(&hca->ib_lock);
	if (hca->ib && ib_device_try_get(&hca->ib->ib))
		ib = &hca->ib->ib;
	spin_unlock(&hca->ib_lock);
	return ib;
}

/* Tells the core of a change, which reads its caches anew, and all clients. */
void labhca_event(struct labhca *hca, u32 port, enum ib_event_type type)
{
	struct ib_device *ib = labhca_get(hca);
	struct ib_event event = { .event = type };

	if (!ib)
		return;
	event.device = ib;
	event.element.port_num = port;
	ib_dispatch_event(&event);
	ib_device_put(ib);
}
