// SPDX-License-Identifier: GPL-2.0
/*
 * The counters of ethtool -S, with the names and in the order of mlx5e. A
 * test compares every name here with the strings of en_stats.c in the source
 * of the kernel that the module is built for.
 */
#include <linux/math64.h>

#include "labnic.h"

static const char *const plain_names[LN_PLAIN] = {
	/* mlx5e_stats_grp_sw */
	[LN_RX_PACKETS] = "rx_packets",
	[LN_RX_BYTES] = "rx_bytes",
	[LN_TX_PACKETS] = "tx_packets",
	[LN_TX_BYTES] = "tx_bytes",
	/* mlx5e_stats_grp_qcnt */
	[LN_RX_OUT_OF_BUFFER] = "rx_out_of_buffer",
	/* mlx5e_stats_grp_vnic_env */
	[LN_RX_STEER_MISSED] = "rx_steer_missed_packets",
	[LN_DEV_INTERNAL_OOB] = "dev_internal_queue_oob",
	[LN_RX_OVERSIZE_BUFFER] = "rx_oversize_pkts_buffer",
	/* mlx5e_stats_grp_vport */
	[LN_RX_VPORT_UC_PACKETS] = "rx_vport_unicast_packets",
	[LN_RX_VPORT_UC_BYTES] = "rx_vport_unicast_bytes",
	[LN_TX_VPORT_UC_PACKETS] = "tx_vport_unicast_packets",
	[LN_TX_VPORT_UC_BYTES] = "tx_vport_unicast_bytes",
	[LN_RX_VPORT_MC_PACKETS] = "rx_vport_multicast_packets",
	[LN_RX_VPORT_MC_BYTES] = "rx_vport_multicast_bytes",
	[LN_TX_VPORT_MC_PACKETS] = "tx_vport_multicast_packets",
	[LN_TX_VPORT_MC_BYTES] = "tx_vport_multicast_bytes",
	[LN_RX_VPORT_BC_PACKETS] = "rx_vport_broadcast_packets",
	[LN_RX_VPORT_BC_BYTES] = "rx_vport_broadcast_bytes",
	[LN_TX_VPORT_BC_PACKETS] = "tx_vport_broadcast_packets",
	[LN_TX_VPORT_BC_BYTES] = "tx_vport_broadcast_bytes",
	[LN_RX_VPORT_RDMA_PACKETS] = "rx_vport_rdma_unicast_packets",
	[LN_RX_VPORT_RDMA_BYTES] = "rx_vport_rdma_unicast_bytes",
	[LN_TX_VPORT_RDMA_PACKETS] = "tx_vport_rdma_unicast_packets",
	[LN_TX_VPORT_RDMA_BYTES] = "tx_vport_rdma_unicast_bytes",
	/* mlx5e_stats_grp_802_3 */
	[LN_TX_PACKETS_PHY] = "tx_packets_phy",
	[LN_RX_PACKETS_PHY] = "rx_packets_phy",
	[LN_RX_CRC_ERRORS_PHY] = "rx_crc_errors_phy",
	[LN_TX_BYTES_PHY] = "tx_bytes_phy",
	[LN_RX_BYTES_PHY] = "rx_bytes_phy",
	[LN_RX_IN_RANGE_LEN_PHY] = "rx_in_range_len_errors_phy",
	[LN_RX_OUT_OF_RANGE_LEN_PHY] = "rx_out_of_range_len_phy",
	[LN_RX_OVERSIZE_PHY] = "rx_oversize_pkts_phy",
	[LN_RX_SYMBOL_ERR_PHY] = "rx_symbol_err_phy",
	[LN_RX_PAUSE_CTRL_PHY] = "rx_pause_ctrl_phy",
	[LN_TX_PAUSE_CTRL_PHY] = "tx_pause_ctrl_phy",
	/* mlx5e_stats_grp_2863 */
	[LN_RX_DISCARDS_PHY] = "rx_discards_phy",
	[LN_TX_DISCARDS_PHY] = "tx_discards_phy",
	[LN_TX_ERRORS_PHY] = "tx_errors_phy",
	/* mlx5e_stats_grp_2819 */
	[LN_RX_UNDERSIZE_PHY] = "rx_undersize_pkts_phy",
	[LN_RX_FRAGMENTS_PHY] = "rx_fragments_phy",
	[LN_RX_JABBERS_PHY] = "rx_jabbers_phy",
	/* mlx5e_stats_grp_phy */
	[LN_LINK_DOWN_EVENTS_PHY] = "link_down_events_phy",
	[LN_RX_PCS_SYMBOL_ERR_PHY] = "rx_pcs_symbol_err_phy",
	[LN_RX_CORRECTED_BITS_PHY] = "rx_corrected_bits_phy",
	[LN_RX_ERR_LANE_0_PHY] = "rx_err_lane_0_phy",
	[LN_RX_ERR_LANE_1_PHY] = "rx_err_lane_1_phy",
	[LN_RX_ERR_LANE_2_PHY] = "rx_err_lane_2_phy",
	[LN_RX_ERR_LANE_3_PHY] = "rx_err_lane_3_phy",
	/* mlx5e_stats_grp_eth_ext */
	[LN_RX_BUFFER_PASSED_THRES_PHY] = "rx_buffer_passed_thres_phy",
	/* mlx5e_stats_grp_pcie */
	[LN_RX_PCI_SIGNAL_INTEGRITY] = "rx_pci_signal_integrity",
	[LN_TX_PCI_SIGNAL_INTEGRITY] = "tx_pci_signal_integrity",
	[LN_OUT_PCI_BUFFER_OVERFLOW] = "outbound_pci_buffer_overflow",
	[LN_OUT_PCI_STALLED_RD] = "outbound_pci_stalled_rd",
	[LN_OUT_PCI_STALLED_WR] = "outbound_pci_stalled_wr",
	[LN_OUT_PCI_STALLED_RD_EVENTS] = "outbound_pci_stalled_rd_events",
	[LN_OUT_PCI_STALLED_WR_EVENTS] = "outbound_pci_stalled_wr_events",
	/* mlx5e_stats_grp_per_prio: pport_pfc_stall_stats_desc */
	[LN_PAUSE_STORM_WARNING] = "tx_pause_storm_warning_events",
	[LN_PAUSE_STORM_ERROR] = "tx_pause_storm_error_events",
	/* mlx5e_stats_grp_pme */
	[LN_MODULE_UNPLUG] = "module_unplug",
	[LN_MODULE_BUS_STUCK] = "module_bus_stuck",
	[LN_MODULE_HIGH_TEMP] = "module_high_temp",
	[LN_MODULE_BAD_SHORTED] = "module_bad_shorted",
	/* struct ethtool_fec_stats, mlx5e_stats_fec_get */
	[LN_FEC_CORRECTED_BLOCKS] = "corrected_blocks",
	[LN_FEC_UNCORRECTABLE_BLOCKS] = "uncorrectable_blocks",
};

/* pport_per_prio_traffic_stats_desc, then pport_per_tc_prio_stats_desc and
 * pport_per_tc_congest_prio_stats_desc.
 */
static const char *const prio_names[LN_PRIO] = {
	[LN_PRIO_RX_BYTES] = "rx_prio%d_bytes",
	[LN_PRIO_RX_PACKETS] = "rx_prio%d_packets",
	[LN_PRIO_RX_DISCARDS] = "rx_prio%d_discards",
	[LN_PRIO_TX_BYTES] = "tx_prio%d_bytes",
	[LN_PRIO_TX_PACKETS] = "tx_prio%d_packets",
	[LN_PRIO_RX_BUF_DISCARD] = "rx_prio%d_buf_discard",
	[LN_PRIO_RX_CONG_DISCARD] = "rx_prio%d_cong_discard",
	[LN_PRIO_RX_MARKED] = "rx_prio%d_marked",
};

/* pport_per_prio_pfc_stats_desc: %s is "global" or "prio" and the number. */
static const char *const pause_names[LN_PAUSE] = {
	[LN_PAUSE_RX] = "rx_%s_pause",
	[LN_PAUSE_RX_DURATION] = "rx_%s_pause_duration",
	[LN_PAUSE_TX] = "tx_%s_pause",
	[LN_PAUSE_TX_DURATION] = "tx_%s_pause_duration",
	[LN_PAUSE_RX_TRANSITION] = "rx_%s_pause_transition",
};

void labnic_count_name(int i, char *name)
{
	char class[8] = "global";
	int prio;

	if (i < LN_PLAIN) {
		strscpy(name, plain_names[i], ETH_GSTRING_LEN);
		return;
	}
	i -= LN_PLAIN;
	if (i < 8 * LN_PRIO) {
		snprintf(name, ETH_GSTRING_LEN, prio_names[i % LN_PRIO],
			 i / LN_PRIO);
		return;
	}
	i -= 8 * LN_PRIO;
	prio = i / LN_PAUSE;
	if (prio < LABNIC_GLOBAL)
		snprintf(class, sizeof(class), "prio%d", prio);
	snprintf(name, ETH_GSTRING_LEN, pause_names[i % LN_PAUSE], class);
}

static u64 grown(const struct labnic_port *p, const struct labnic_count *c)
{
	return mul_u64_u64_div_u64(c->rate + c->extra, p->pair->now - c->since,
				   NSEC_PER_SEC);
}

/* The value now: what a command to the firmware would return. */
u64 labnic_count_value(const struct labnic_port *p, int i)
{
	const struct labnic_count *c = &p->count[i];

	if (!p->counting)
		return c->base;
	return c->base + grown(p, c);
}

static void settle(struct labnic_port *p, int i)
{
	struct labnic_count *c = &p->count[i];

	if (p->counting)
		c->base += grown(p, c);
	c->since = p->pair->now;
}

void labnic_count_set(struct labnic_port *p, int i, u64 value)
{
	settle(p, i);
	p->count[i].base = value;
}

void labnic_count_set_rate(struct labnic_port *p, int i, u64 rate)
{
	settle(p, i);
	p->count[i].rate = rate;
}

void labnic_count_set_extra(struct labnic_port *p, int i, u64 extra)
{
	if (p->count[i].extra == extra)
		return;
	settle(p, i);
	p->count[i].extra = extra;
}

void labnic_count_add(struct labnic_port *p, int i, u64 n)
{
	p->count[i].base += n;
}

void labnic_counting(struct labnic_port *p, bool on)
{
	int i;

	if (p->counting == on)
		return;
	for (i = 0; i < LABNIC_COUNTERS; i++)
		settle(p, i);
	p->counting = on;
}

/*
 * A pause storm is most often a receive pipeline that stalled inside the NIC,
 * and closing and opening the port sets that pipeline up anew: the storm ends.
 * So what a reset of the port stops is the growth of all pause counters.
 */
void labnic_count_pause_rates_clear(struct labnic_port *p)
{
	int i;

	for (i = labnic_pause_index(0, 0); i < LABNIC_COUNTERS; i++)
		labnic_count_set_rate(p, i, 0);
	labnic_count_set_rate(p, LN_RX_PAUSE_CTRL_PHY, 0);
	labnic_count_set_rate(p, LN_TX_PAUSE_CTRL_PHY, 0);
	labnic_count_set_rate(p, LN_PAUSE_STORM_WARNING, 0);
	labnic_count_set_rate(p, LN_PAUSE_STORM_ERROR, 0);
}

/*
 * Lists the counters that ethtool -S shows now, in the order of
 * mlx5e_nic_stats_grps. As in mlx5e_grp_per_prio_pfc_fill_strings, a priority
 * has pause counters only while its PFC is on, and the port has the global ones
 * only while 802.3x pause is on in any direction.
 */
static int shown(const struct labnic_port *p, int *list)
{
	int n = 0, prio, i;

	for (i = 0; i < LN_PAUSE_STORM_WARNING; i++)
		list[n++] = i;
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		for (i = 0; i <= LN_PRIO_TX_PACKETS; i++)
			list[n++] = labnic_prio_index(prio, i);
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		for (i = 0; p->dcb.pfc_en & BIT(prio) && i < LN_PAUSE; i++)
			list[n++] = labnic_pause_index(prio, i);
	if (p->link.rx_pause || p->link.tx_pause)
		for (i = 0; i < LN_PAUSE; i++)
			list[n++] = labnic_pause_index(LABNIC_GLOBAL, i);
	for (i = LN_PAUSE_STORM_WARNING; i < LN_FEC_CORRECTED_BLOCKS; i++)
		list[n++] = i;
	/* mlx5e_stats_grp_per_port_buff_congest, later than pme. */
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		for (i = LN_PRIO_RX_BUF_DISCARD; i < LN_PRIO; i++)
			list[n++] = labnic_prio_index(prio, i);
	return n;
}

/* Imitates mlx5e_get_sset_count. */
int labnic_get_sset_count(struct net_device *dev, int sset)
{
	int list[LABNIC_COUNTERS];

	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return shown(netdev_priv(dev), list);
}

/* Imitates mlx5e_get_strings. */
void labnic_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	int list[LABNIC_COUNTERS], n, i;

	if (sset != ETH_SS_STATS)
		return;
	n = shown(netdev_priv(dev), list);
	for (i = 0; i < n; i++)
		labnic_count_name(list[i], data + i * ETH_GSTRING_LEN);
}

/* Imitates mlx5e_get_ethtool_stats. */
void labnic_get_ethtool_stats(struct net_device *dev,
			      struct ethtool_stats *stats, u64 *data)
{
	struct labnic_port *p = netdev_priv(dev);
	int list[LABNIC_COUNTERS], n, i;

	n = shown(p, list);
	labnic_lock(p->pair);
	for (i = 0; i < n; i++)
		data[i] = labnic_count_value(p, list[i]);
	labnic_unlock(p->pair);
}
