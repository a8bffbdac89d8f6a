// SPDX-License-Identifier: GPL-2.0
/*
 * ethtool: driver, pause, FEC, rings. Link settings are in link.c, counters
 * in counters.c. Each function names the one of mlx5e that it imitates.
 */
#include "labnic.h"

#define MAX_RING 8192

/* Imitates mlx5e_get_drvinfo, with the names of the module parameters. */
static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	struct labnic_port *p = netdev_priv(dev);

	strscpy(info->driver, labnic_driver, sizeof(info->driver));
	strscpy(info->fw_version, labnic_firmware, sizeof(info->fw_version));
	strscpy(info->bus_info, dev_name(labnic_parent(p)),
		sizeof(info->bus_info));
}

/* Imitates mlx5e_get_pauseparam. */
static void get_pauseparam(struct net_device *dev,
			   struct ethtool_pauseparam *pause)
{
	struct labnic_port *p = netdev_priv(dev);

	pause->rx_pause = p->link.rx_pause;
	pause->tx_pause = p->link.tx_pause;
}

/* Imitates mlx5e_set_pauseparam: pause is never negotiated. */
static int set_pauseparam(struct net_device *dev,
			  struct ethtool_pauseparam *pause)
{
	struct labnic_port *p = netdev_priv(dev);

	if (pause->autoneg)
		return -EINVAL;
	labnic_lock(p->pair);
	p->link.rx_pause = pause->rx_pause;
	p->link.tx_pause = pause->tx_pause;
	labnic_congestion_update(p->pair);
	labnic_unlock(p->pair);
	return 0;
}

/* Imitates mlx5e_get_pause_stats: the MAC's pause frames. */
static void get_pause_stats(struct net_device *dev,
			    struct ethtool_pause_stats *stats)
{
	struct labnic_port *p = netdev_priv(dev);

	labnic_lock(p->pair);
	stats->tx_pause_frames = labnic_count_value(p, LN_TX_PAUSE_CTRL_PHY);
	stats->rx_pause_frames = labnic_count_value(p, LN_RX_PAUSE_CTRL_PHY);
	labnic_unlock(p->pair);
}

/* Imitates mlx5e_get_fecparam: configured and, while up, active mode. */
static int get_fecparam(struct net_device *dev, struct ethtool_fecparam *fec)
{
	struct labnic_port *p = netdev_priv(dev);

	fec->fec = p->link.fec;
	fec->active_fec = netif_carrier_ok(dev) ? p->link.fec_active :
						  ETHTOOL_FEC_NONE;
	return 0;
}

/* Imitates mlx5e_set_fecparam: one mode, and the link starts anew. */
static int set_fecparam(struct net_device *dev, struct ethtool_fecparam *fec)
{
	struct labnic_port *p = netdev_priv(dev);

	switch (fec->fec) {
	case ETHTOOL_FEC_AUTO:
	case ETHTOOL_FEC_OFF:
	case ETHTOOL_FEC_RS:
	case ETHTOOL_FEC_BASER:
		break;
	default:
		return -EOPNOTSUPP;
	}
	p->link.fec = fec->fec;
	labnic_port_reset(p);
	return 0;
}

/* Imitates mlx5e_stats_fec_get. */
static void get_fec_stats(struct net_device *dev,
			  struct ethtool_fec_stats *stats)
{
	struct labnic_port *p = netdev_priv(dev);

	if (p->link.fec_active == ETHTOOL_FEC_OFF)
		return;
	labnic_lock(p->pair);
	stats->corrected_bits.total =
		labnic_count_value(p, LN_RX_CORRECTED_BITS_PHY);
	stats->corrected_blocks.total =
		labnic_count_value(p, LN_FEC_CORRECTED_BLOCKS);
	stats->uncorrectable_blocks.total =
		labnic_count_value(p, LN_FEC_UNCORRECTABLE_BLOCKS);
	labnic_unlock(p->pair);
}

/* Imitates mlx5e_get_ringparam. */
static void get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
			  struct kernel_ethtool_ringparam *kernel,
			  struct netlink_ext_ack *extack)
{
	struct labnic_port *p = netdev_priv(dev);

	ring->rx_max_pending = MAX_RING;
	ring->tx_max_pending = MAX_RING;
	ring->rx_pending = p->link.rx_ring;
	ring->tx_pending = p->link.tx_ring;
}

/* Imitates mlx5e_set_ringparam. */
static int set_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
			 struct kernel_ethtool_ringparam *kernel,
			 struct netlink_ext_ack *extack)
{
	struct labnic_port *p = netdev_priv(dev);

	if (!ring->rx_pending || !ring->tx_pending)
		return -EINVAL;
	p->link.rx_ring = ring->rx_pending;
	p->link.tx_ring = ring->tx_pending;
	return 0;
}

const struct ethtool_ops labnic_ethtool_ops = {
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ext_state = labnic_get_link_ext_state,
	.get_link_ksettings = labnic_get_link_ksettings,
	.set_link_ksettings = labnic_set_link_ksettings,
	.get_sset_count = labnic_get_sset_count,
	.get_strings = labnic_get_strings,
	.get_ethtool_stats = labnic_get_ethtool_stats,
	.get_pauseparam = get_pauseparam,
	.set_pauseparam = set_pauseparam,
	.get_pause_stats = get_pause_stats,
	.get_fecparam = get_fecparam,
	.set_fecparam = set_fecparam,
	.get_fec_stats = get_fec_stats,
	.get_ringparam = get_ringparam,
	.set_ringparam = set_ringparam,
};
