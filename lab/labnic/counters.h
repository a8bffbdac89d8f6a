/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters: what they are called, what they hold, how they grow by the clock.
 */
#ifndef LABNIC_COUNTERS_H
#define LABNIC_COUNTERS_H

#include <linux/types.h>

/* Counters of the port as a whole. The names are in counters.c. */
enum labnic_plain {
	LN_RX_PACKETS, LN_RX_BYTES, LN_TX_PACKETS, LN_TX_BYTES,
	LN_RX_OUT_OF_BUFFER, LN_RX_STEER_MISSED, LN_DEV_INTERNAL_OOB,
	LN_RX_OVERSIZE_BUFFER,
	LN_RX_VPORT_UC_PACKETS, LN_RX_VPORT_UC_BYTES,
	LN_TX_VPORT_UC_PACKETS, LN_TX_VPORT_UC_BYTES,
	LN_RX_VPORT_MC_PACKETS, LN_RX_VPORT_MC_BYTES,
	LN_TX_VPORT_MC_PACKETS, LN_TX_VPORT_MC_BYTES,
	LN_RX_VPORT_BC_PACKETS, LN_RX_VPORT_BC_BYTES,
	LN_TX_VPORT_BC_PACKETS, LN_TX_VPORT_BC_BYTES,
	LN_RX_VPORT_RDMA_PACKETS, LN_RX_VPORT_RDMA_BYTES,
	LN_TX_VPORT_RDMA_PACKETS, LN_TX_VPORT_RDMA_BYTES,
	LN_TX_PACKETS_PHY, LN_RX_PACKETS_PHY, LN_RX_CRC_ERRORS_PHY,
	LN_TX_BYTES_PHY, LN_RX_BYTES_PHY, LN_RX_IN_RANGE_LEN_PHY,
	LN_RX_OUT_OF_RANGE_LEN_PHY, LN_RX_OVERSIZE_PHY, LN_RX_SYMBOL_ERR_PHY,
	LN_RX_PAUSE_CTRL_PHY, LN_TX_PAUSE_CTRL_PHY,
	LN_RX_DISCARDS_PHY, LN_TX_DISCARDS_PHY, LN_TX_ERRORS_PHY,
	LN_RX_UNDERSIZE_PHY, LN_RX_FRAGMENTS_PHY, LN_RX_JABBERS_PHY,
	LN_LINK_DOWN_EVENTS_PHY, LN_RX_PCS_SYMBOL_ERR_PHY,
	LN_RX_CORRECTED_BITS_PHY, LN_RX_ERR_LANE_0_PHY, LN_RX_ERR_LANE_1_PHY,
	LN_RX_ERR_LANE_2_PHY, LN_RX_ERR_LANE_3_PHY,
	LN_RX_BUFFER_PASSED_THRES_PHY,
	LN_RX_PCI_SIGNAL_INTEGRITY, LN_TX_PCI_SIGNAL_INTEGRITY,
	LN_OUT_PCI_BUFFER_OVERFLOW, LN_OUT_PCI_STALLED_RD,
	LN_OUT_PCI_STALLED_WR, LN_OUT_PCI_STALLED_RD_EVENTS,
	LN_OUT_PCI_STALLED_WR_EVENTS,
	LN_PAUSE_STORM_WARNING, LN_PAUSE_STORM_ERROR,
	LN_MODULE_UNPLUG, LN_MODULE_BUS_STUCK, LN_MODULE_HIGH_TEMP,
	LN_MODULE_BAD_SHORTED,
	/* Not in ethtool -S: the FEC statistics of ethtool -I --show-fec. */
	LN_FEC_CORRECTED_BLOCKS, LN_FEC_UNCORRECTABLE_BLOCKS,
	LN_PLAIN
};

/* Counters of each priority. */
enum labnic_prio_counter {
	LN_PRIO_RX_BYTES, LN_PRIO_RX_PACKETS, LN_PRIO_RX_DISCARDS,
	LN_PRIO_TX_BYTES, LN_PRIO_TX_PACKETS,
	LN_PRIO_RX_BUF_DISCARD, LN_PRIO_RX_CONG_DISCARD, LN_PRIO_RX_MARKED,
	LN_PRIO
};

/* Counters of pause, for each priority (PFC) and for the port (802.3x). */
enum labnic_pause_counter {
	LN_PAUSE_RX, LN_PAUSE_RX_DURATION, LN_PAUSE_TX, LN_PAUSE_TX_DURATION,
	LN_PAUSE_RX_TRANSITION,
	LN_PAUSE
};

/* The pause class of 802.3x pause; classes 0 to 7 are priorities. */
#define LABNIC_GLOBAL 8

#define LABNIC_COUNTERS (LN_PLAIN + 8 * LN_PRIO + 9 * LN_PAUSE)

static inline int labnic_prio_index(int prio, enum labnic_prio_counter c)
{
	return LN_PLAIN + prio * LN_PRIO + c;
}

static inline int labnic_pause_index(int class, enum labnic_pause_counter c)
{
	return LN_PLAIN + 8 * LN_PRIO + class * LN_PAUSE + c;
}

/*
 * One counter: base, plus rate and extra (units a second) for the time since
 * "since" (ns of CLOCK_BOOTTIME) during which its port counted. Reading never
 * changes it, so two readers a second apart see one second's growth exactly.
 */
struct labnic_count {
	u64 base;
	u64 rate;    /* by the knob */
	u64 extra;   /* by the congestion model */
	u64 since;
};

struct labnic_port;
struct net_device;
struct ethtool_stats;

/* All under the pair's lock. */
u64 labnic_count_value(const struct labnic_port *p, int i);
void labnic_count_set(struct labnic_port *p, int i, u64 value);
void labnic_count_set_rate(struct labnic_port *p, int i, u64 rate);
void labnic_count_set_extra(struct labnic_port *p, int i, u64 extra);
void labnic_count_pause_rates_clear(struct labnic_port *p);
void labnic_counting(struct labnic_port *p, bool on);
void labnic_count_add(struct labnic_port *p, int i, u64 n);

/* Writes the name of counter i into a buffer of ETH_GSTRING_LEN. */
void labnic_count_name(int i, char *name);

int labnic_get_sset_count(struct net_device *dev, int sset);
void labnic_get_strings(struct net_device *dev, u32 sset, u8 *data);
void labnic_get_ethtool_stats(struct net_device *dev,
			      struct ethtool_stats *stats, u64 *data);

#endif
