// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading: makes the pairs, each end with a platform device as
 * parent, so that /sys/class/net/X/device/driver exists as for hardware.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "labnic.h"

#define MAX_PAIRS 8
#define MAX_MTU 9216

static unsigned int pairs = 1;
module_param(pairs, uint, 0444);
MODULE_PARM_DESC(pairs, "number of pairs: labnic0-labnic1, labnic2-labnic3, ...");

char *labnic_driver = "labnic";
module_param_named(driver, labnic_driver, charp, 0444);
MODULE_PARM_DESC(driver, "driver name to show in ethtool -i and sysfs");

char *labnic_firmware = "0.0.0000 (LAB0000000001)";
module_param_named(firmware, labnic_firmware, charp, 0444);
MODULE_PARM_DESC(firmware, "firmware version to show in ethtool -i");

bool labnic_apptrust;
module_param_named(apptrust, labnic_apptrust, bool, 0444);
MODULE_PARM_DESC(apptrust, "answer DCB apptrust requests (mlx5 does not)");

bool labnic_ecn;
module_param_named(ecn, labnic_ecn, bool, 0444);
MODULE_PARM_DESC(ecn, "/sys/class/net/X/ecn, as drivers of vendor packages have it");

u32 labnic_speed = 100000;
module_param_named(speed, labnic_speed, uint, 0444);
MODULE_PARM_DESC(speed, "fastest speed of the ports in Mb/s");

static char *parents[MAX_PAIRS];
static unsigned int nparents;
module_param_array(parents, charp, &nparents, 0444);
MODULE_PARM_DESC(parents, "the PCI function that the first port of each pair sits on");

static struct labnic_pair *all;
static struct dentry *root;
static struct platform_driver parent_driver;

static int labnic_open(struct net_device *dev)
{
	struct labnic_port *p = netdev_priv(dev);

	netif_start_queue(dev);
	labnic_link_update(p->pair);
	return 0;
}

/* Imitates mlx5e_close: the port is down at the peer too. */
static int labnic_stop(struct net_device *dev)
{
	struct labnic_port *p = netdev_priv(dev);

	netif_stop_queue(dev);
	labnic_port_reset(p);
	return 0;
}

/* Imitates mlx5e_get_stats. */
static void labnic_get_stats64(struct net_device *dev,
			       struct rtnl_link_stats64 *s)
{
	struct labnic_port *p = netdev_priv(dev);

	labnic_lock(p->pair);
	s->rx_packets = labnic_count_value(p, LN_RX_PACKETS);
	s->rx_bytes = labnic_count_value(p, LN_RX_BYTES);
	s->tx_packets = labnic_count_value(p, LN_TX_PACKETS);
	s->tx_bytes = labnic_count_value(p, LN_TX_BYTES);
	s->rx_dropped = labnic_count_value(p, LN_RX_OUT_OF_BUFFER);
	s->rx_crc_errors = labnic_count_value(p, LN_RX_CRC_ERRORS_PHY);
	s->rx_errors = s->rx_crc_errors;
	labnic_unlock(p->pair);
}

static const struct net_device_ops netdev_ops = {
	.ndo_open = labnic_open,
	.ndo_stop = labnic_stop,
	.ndo_start_xmit = labnic_xmit,
	.ndo_get_stats64 = labnic_get_stats64,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_vf_config = labnic_get_vf_config,
	.ndo_set_vf_link_state = labnic_set_vf_link_state,
	.ndo_set_vf_rate = labnic_set_vf_rate,
};

static void setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &netdev_ops;
	dev->ethtool_ops = &labnic_ethtool_ops;
	dev->max_mtu = MAX_MTU;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	eth_hw_addr_random(dev);
}

static void free_port(struct labnic_port *p)
{
	struct platform_device *parent = p->parent;
	struct labnic_pci pci = p->pci;

	free_netdev(p->dev);
	labnic_pci_release(&pci);
	platform_device_unregister(parent);
}

static struct labnic_port *new_port(struct labnic_pair *pair, int id)
{
	struct platform_device *parent;
	struct net_device *dev;
	struct labnic_port *p;

	parent = platform_device_register_simple(labnic_driver, id, NULL, 0);
	if (IS_ERR(parent))
		return ERR_CAST(parent);
	dev = alloc_netdev(sizeof(*p), "labnic%d", NET_NAME_ENUM, setup);
	if (!dev) {
		platform_device_unregister(parent);
		return ERR_PTR(-ENOMEM);
	}
	p = netdev_priv(dev);
	p->dev = dev;
	p->pair = pair;
	p->parent = parent;
	if (id % 2 == 0 && id / 2 < nparents) {
		int err = labnic_pci_bind(p, parents[id / 2]);

		if (err) {
			free_port(p);
			return ERR_PTR(err);
		}
	}
	SET_NETDEV_DEV(dev, labnic_parent(p));
	labnic_link_init(p);
	labnic_dcb_init(p);
	labnic_congestion_init(p);
	netif_carrier_off(dev);
	return p;
}

/* Neither end may be opened before both exist, so both are made first. */
static int add_pair(struct labnic_pair *pair, int id)
{
	struct labnic_port *a, *b;
	int err;

	spin_lock_init(&pair->lock);
	a = new_port(pair, id);
	if (IS_ERR(a))
		return PTR_ERR(a);
	b = new_port(pair, id + 1);
	if (IS_ERR(b)) {
		free_port(a);
		return PTR_ERR(b);
	}
	a->peer = b;
	b->peer = a;
	pair->end[0] = a;
	pair->end[1] = b;
	err = register_netdev(a->dev);
	if (err)
		goto free;
	err = register_netdev(b->dev);
	if (err)
		goto unregister;
	err = labnic_ecn_add(a);
	if (!err)
		err = labnic_ecn_add(b);
	if (!err)
		err = labnic_knobs_add(a, root, a->dev->name);
	if (!err)
		err = labnic_knobs_add(b, root, b->dev->name);
	if (!err)
		return 0;
	labnic_ecn_remove(b);
	unregister_netdev(b->dev);
unregister:
	labnic_ecn_remove(a);
	unregister_netdev(a->dev);
free:
	free_port(a);
	free_port(b);
	pair->end[0] = NULL;
	return err;
}

static void remove_all(void)
{
	int i;

	/* Waits for open files: no knob is turned from here on. */
	debugfs_remove_recursive(root);
	for (i = 0; i < pairs && all[i].end[0]; i++) {
		labnic_ecn_remove(all[i].end[0]);
		labnic_ecn_remove(all[i].end[1]);
		unregister_netdev(all[i].end[0]->dev);
		unregister_netdev(all[i].end[1]->dev);
		free_port(all[i].end[0]);
		free_port(all[i].end[1]);
	}
	platform_driver_unregister(&parent_driver);
	kfree(all);
}

static int __init labnic_init(void)
{
	int i, err;

	if (!pairs || pairs > MAX_PAIRS || !labnic_speed_known(labnic_speed))
		return -EINVAL;
	all = kcalloc(pairs, sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	parent_driver.driver.name = labnic_driver;
	err = platform_driver_register(&parent_driver);
	if (err) {
		kfree(all);
		return err;
	}
	root = debugfs_create_dir("labnic", NULL);
	for (i = 0; i < pairs; i++) {
		err = add_pair(&all[i], 2 * i);
		if (err) {
			remove_all();
			return err;
		}
	}
	return 0;
}
module_init(labnic_init);

static void __exit labnic_exit(void)
{
	remove_all();
}
module_exit(labnic_exit);

MODULE_DESCRIPTION("Ethernet pairs that answer like mlx5, for tests");
MODULE_LICENSE("GPL");
