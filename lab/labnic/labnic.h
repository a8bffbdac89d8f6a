/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labnic: pairs of Ethernet ports that are joined by a cable in memory and
 * answer like an mlx5 port does: DCB, ethtool, counters. A test-only module:
 * faults are set through debugfs (see README.md). It holds facts about mlx5e,
 * none of its code.
 */
#ifndef LABNIC_H
#define LABNIC_H

#include <linux/dcbnl.h>
#include <linux/debugfs.h>
#include <linux/ethtool.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>
#include <net/dcbnl.h>

#include "counters.h"

#define LABNIC_PRIOS IEEE_8021QAZ_MAX_TCS
#define LABNIC_DSCPS 64
/* mlx5 reports eight buffers, sizes in bytes. */
#define LABNIC_BUFFERS DCBX_MAX_BUFFERS

/* What is joined: both ends, and the lock of all that data path, counters
 * and the congestion model change. Settings are changed under RTNL. Whatever
 * is read or changed under the lock once taken is of one instant, "now".
 */
struct labnic_pair {
	spinlock_t lock;
	u64 now;                         /* ns of CLOCK_BOOTTIME */
	struct labnic_port *end[2];
};

static inline void labnic_lock(struct labnic_pair *pair)
{
	spin_lock_bh(&pair->lock);
	pair->now = ktime_get_boottime_ns();
}

static inline void labnic_unlock(struct labnic_pair *pair)
{
	spin_unlock_bh(&pair->lock);
}

/* Knobs of the congestion model, see congestion.c. */
struct labnic_congestion {
	u32 prios;       /* bitmap of congested priorities */
	u64 discards;    /* frames lost a second where nothing protects them */
	u64 pauses;      /* pause frames a second where something does */
	u64 pause_us;    /* microseconds of pause a second, likewise */
	u32 drop_every;  /* real frames: every nth is lost, 0: none */
	u32 drop_prios;  /* bitmap: lost whatever the protection */
	u64 seen;        /* frames that were candidates */
};

struct labnic_dcb {
	u8 pfc_en;
	u8 cable_len;                    /* metres, as mlx5 uses the PFC delay */
	u8 dcbx;                         /* DCB_CAP_DCBX_* */
	struct ieee_ets ets;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buffer;
	bool manual_buffer;              /* user set buffers, firmware leaves them */
	u8 dscp2prio[LABNIC_DSCPS];
	unsigned int dscp_apps;          /* entries; none: PCP is trusted */
	u8 trust[2];                     /* apptrust selectors, if enabled */
	int ntrust;
};

struct labnic_link {
	bool cable;                      /* knob "carrier": the cable is in */
	u32 cable_speed;                 /* knob: Mb/s that it carries, 0 any */
	u32 speed;                       /* Mb/s, while there is carrier */
	bool autoneg;
	u32 advertised;                  /* bitmap of labnic_modes[] */
	u32 ext_state, ext_substate;     /* told while there is no carrier */
	u32 fec, fec_active;             /* ETHTOOL_FEC_* */
	bool rx_pause, tx_pause;
	u32 rx_ring, tx_ring;
	bool pfc_toggles_link;
	bool reset_clears_pause;
};

#define LABNIC_VFS 4

/* The PCI function that a port sits on, and what is set for its VFs. */
struct labnic_pci {
	struct pci_dev *dev;             /* NULL: a platform device instead */
	struct module *owner;            /* of the driver that holds it */
	struct {
		int link_state;          /* IFLA_VF_LINK_STATE_* */
		u32 min_rate, max_rate;  /* Mb/s */
	} vf[LABNIC_VFS];
};

/* Congestion control of RoCE, by role (notification and reaction point) and
 * priority.
 */
struct labnic_ecn {
	struct kobject *dir, *role[2], *enable[2];
	bool on[2][8];
};

struct labnic_port {
	struct net_device *dev;
	struct labnic_pair *pair;
	struct labnic_port *peer;
	struct platform_device *parent;
	struct labnic_pci pci;
	struct labnic_ecn ecn;
	struct dentry *dir;
	struct labnic_link link;
	struct labnic_dcb dcb;
	struct labnic_congestion congestion;
	bool counting;                   /* time counts: up and with carrier */
	struct labnic_count count[LABNIC_COUNTERS];
};

extern char *labnic_driver;
extern char *labnic_firmware;
extern bool labnic_apptrust;
extern bool labnic_ecn;
extern u32 labnic_speed;

extern const struct ethtool_ops labnic_ethtool_ops;

/* ecn.c */
int labnic_ecn_add(struct labnic_port *p);
void labnic_ecn_remove(struct labnic_port *p);

/* pci.c */
int labnic_pci_bind(struct labnic_port *p, const char *address);
void labnic_pci_release(struct labnic_pci *pci);
struct device *labnic_parent(struct labnic_port *p);
int labnic_get_vf_config(struct net_device *dev, int vf,
			 struct ifla_vf_info *info);
int labnic_set_vf_link_state(struct net_device *dev, int vf, int state);
int labnic_set_vf_rate(struct net_device *dev, int vf, int min, int max);

/* link.c */
void labnic_link_init(struct labnic_port *p);
void labnic_link_update(struct labnic_pair *pair);
void labnic_port_reset(struct labnic_port *p);
int labnic_get_link_ksettings(struct net_device *dev,
			      struct ethtool_link_ksettings *ks);
int labnic_set_link_ksettings(struct net_device *dev,
			      const struct ethtool_link_ksettings *ks);
int labnic_get_link_ext_state(struct net_device *dev,
			      struct ethtool_link_ext_state_info *info);
bool labnic_speed_known(u32 mbps);

/* dcb.c */
void labnic_dcb_init(struct labnic_port *p);
void labnic_buffers_follow_pfc(struct labnic_port *p);

/* trust.c */
int labnic_setapp(struct net_device *dev, struct dcb_app *app);
int labnic_delapp(struct net_device *dev, struct dcb_app *app);
int labnic_setapptrust(struct net_device *dev, u8 *selectors, int n);
int labnic_getapptrust(struct net_device *dev, u8 *selectors, int *n);
int labnic_prio(struct labnic_port *p, const struct sk_buff *skb);

/* congestion.c: all under pair->lock */
void labnic_congestion_init(struct labnic_port *p);
void labnic_congestion_update(struct labnic_pair *pair);
bool labnic_congestion_drops(struct labnic_port *p, int prio);

/* xmit.c */
netdev_tx_t labnic_xmit(struct sk_buff *skb, struct net_device *dev);

/* knobs.c */
int labnic_knobs_add(struct labnic_port *p, struct dentry *root,
		     const char *name);

#endif
