// SPDX-License-Identifier: GPL-2.0
/*
 * RoCE: a device whose only port stands on a netdev, such as labnic's.
 */
#include <linux/rtnetlink.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "labhca.h"

static bool active(const struct net_device *dev)
{
	return netif_running(dev) && netif_carrier_ok(dev);
}

/* Holds the netdev that the device is to stand on. */
int labhca_netdev_bind(struct labhca *hca, const char *name)
{
	struct net_device *dev = dev_get_by_name(&init_net, name);
	struct labhca_port *p = &hca->port[0];

	if (!dev)
		return -ENODEV;
	rcu_assign_pointer(p->netdev, dev);
	p->roce = true;
	p->netdev_active = active(dev);
	p->cap_mask = IB_PORT_CM_SUP;
	labhca_port_counting(p);
	return 0;
}

/* Tells the core which netdev it is, or that it is gone by now. */
int labhca_netdev_attach(struct labhca *hca, struct ib_device *ib)
{
	int err;

	rtnl_lock();
	err = ib_device_set_netdev(ib, rtnl_dereference(hca->port[0].netdev), 1);
	rtnl_unlock();
	return err;
}

void labhca_netdev_release(struct labhca *hca)
{
	struct net_device *dev;

	rtnl_lock();
	dev = rtnl_dereference(hca->port[0].netdev);
	RCU_INIT_POINTER(hca->port[0].netdev, NULL);
	rtnl_unlock();
	if (dev) {
		synchronize_rcu();
		dev_put(dev);
	}
}

/* The RoCE part of query_port, as mlx5_query_port_roce answers. */
int labhca_netdev_query(struct labhca_port *p, struct ib_device *ib,
			struct ib_port_attr *attr)
{
	struct net_device *dev;
	unsigned int mtu = 0;
	bool up = false, open = false;

	rcu_read_lock();
	dev = rcu_dereference(p->netdev);
	if (dev) {
		open = netif_running(dev);
		up = open && netif_carrier_ok(dev);
		mtu = READ_ONCE(dev->mtu);
	}
	rcu_read_unlock();
	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = up ? IB_PORT_PHYS_STATE_LINK_UP :
				IB_PORT_PHYS_STATE_DISABLED;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = iboe_get_mtu(mtu);
	attr->ip_gids = true;
	attr->active_width = IB_WIDTH_1X;
	attr->active_speed = IB_SPEED_SDR;
	if (!mtu)
		return 0;
	return ib_get_eth_speed(ib, p->number, &attr->active_speed,
				&attr->active_width);
}

/* The core keeps the table itself; an adapter would write it to hardware. */
static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	return labhca_refuse_gids ? -EIO : 0;
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	return 0;
}

const struct ib_device_ops labhca_roce_ops = {
	.add_gid = add_gid,
	.del_gid = del_gid,
};

/* Imitates mlx5_netdev_event: a change of the netdev's state is the port's. */
static void changed(struct labhca *hca, bool up)
{
	struct labhca_port *p = &hca->port[0];

	if (p->netdev_active == up)
		return;
	p->netdev_active = up;
	labhca_port_counting(p);
	labhca_event(hca, 1, up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

static void set_netdev(struct labhca *hca, struct net_device *dev)
{
	struct ib_device *ib = labhca_get(hca);

	if (!ib)
		return;
	ib_device_set_netdev(ib, dev, 1);
	ib_device_put(ib);
}

/* The netdev goes, for good or to another namespace: the device stays. */
static void gone(struct labhca *hca, struct net_device *dev)
{
	struct labhca_port *p = &hca->port[0];

	changed(hca, false);
	p->moving = dev;
	RCU_INIT_POINTER(p->netdev, NULL);
	set_netdev(hca, NULL);
	/* Readers are waited for before the netdev is freed. */
	dev_put(dev);
}

static void back(struct labhca *hca, struct net_device *dev)
{
	struct labhca_port *p = &hca->port[0];

	p->moving = NULL;
	dev_hold(dev);
	rcu_assign_pointer(p->netdev, dev);
	set_netdev(hca, dev);
	changed(hca, active(dev));
}

static int netdev_event(struct notifier_block *nb, unsigned long event,
			void *arg)
{
	struct net_device *dev = netdev_notifier_info_to_dev(arg);
	int i;

	for (i = 0; i < LABHCA_DEVICES; i++) {
		struct labhca *hca = labhca_all[i];

		if (!hca || !hca->port[0].roce)
			continue;
		if (event == NETDEV_REGISTER && hca->port[0].moving == dev)
			back(hca, dev);
		if (rcu_access_pointer(hca->port[0].netdev) != dev)
			continue;
		if (event == NETDEV_UP || event == NETDEV_DOWN ||
		    event == NETDEV_CHANGE)
			changed(hca, active(dev));
		if (event == NETDEV_UNREGISTER)
			gone(hca, dev);
	}
	return NOTIFY_DONE;
}

struct notifier_block labhca_netdev_notifier = {
	.notifier_call = netdev_event,
};
