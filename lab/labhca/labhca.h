/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labhca: RDMA devices without hardware or data path, that answer sysfs and
 * RDMA netlink like a host channel adapter. A test-only module: states and
 * counters are set through debugfs (see README.md). It holds facts about real
 * drivers, none of their code.
 */
#ifndef LABHCA_H
#define LABHCA_H

#include <linux/debugfs.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/wait.h>
#include <rdma/ib_verbs.h>

#include "clock.h"

#define LABHCA_DEVICES 8
#define LABHCA_PORTS 4
#define LABHCA_PKEYS 8
/* As mlx5 on InfiniBand; on RoCE it is a parameter. */
#define LABHCA_IB_GIDS 8
#define LABHCA_TEXT 64
/* Names of hw_counters: the longest family and some of the user's own. */
#define LABHCA_HW 96
#define LABHCA_PMA 21

struct labhca;

struct labhca_port {
	struct labhca *hca;
	u32 number;                      /* from 1 */
	u8 state;                        /* enum ib_port_state */
	u8 phys_state;                   /* enum ib_port_phys_state */
	u8 width;                        /* enum ib_port_width */
	u16 speed;                       /* enum ib_port_speed */
	u8 max_mtu, active_mtu;          /* enum ib_mtu */
	u16 lid, sm_lid;
	u8 lmc, sm_sl;
	u32 cap_mask;                    /* IB_PORT_*_SUP */
	u16 pkeys[LABHCA_PKEYS];
	__be64 gid_prefix, guid;
	bool roce;                       /* stands on a netdev */
	struct net_device __rcu *netdev; /* NULL after it was unregistered */
	const void *moving;              /* that netdev, it may come back */
	bool netdev_active;              /* last state told of it */
	struct labhca_clock clock;
	struct labhca_count pma[LABHCA_PMA];
	struct labhca_count hw[LABHCA_HW];
};

/* One device. It outlives the ib_device that stands for it, which comes and
 * goes with plug and unplug.
 */
struct labhca {
	int index;
	struct mutex plugging;           /* never taken under RTNL */
	spinlock_t ib_lock;
	struct labhca_ib *ib;            /* NULL while unplugged */
	struct platform_device *parent;
	struct pci_dev *pci;             /* the parent instead, NULL: none */
	struct module *pci_owner;        /* of the driver that holds pci */
	char board_id[LABHCA_TEXT], hca_type[LABHCA_TEXT];
	char hw_rev[LABHCA_TEXT], fw_ver[LABHCA_TEXT];
	__be64 node_guid, sys_image_guid;
	/* Calls that sleep uninterruptibly while set. */
	bool hang_hw_counters, hang_counters, hang_query_port;
	wait_queue_head_t unhang;
	struct labhca_clock clock;       /* of hw: there is no link to wait for */
	struct labhca_count hw[LABHCA_HW];
	unsigned int ports;
	struct labhca_port port[LABHCA_PORTS];
	struct dentry *dir;
	struct labhca_file *files;
};

struct labhca_ib {
	struct ib_device ib;             /* first: ib_alloc_device wants it so */
	struct labhca *hca;
};

static inline struct labhca *labhca_of(struct ib_device *ib)
{
	return container_of(ib, struct labhca_ib, ib)->hca;
}

static inline struct labhca_port *labhca_port_of(struct ib_device *ib, u32 n)
{
	return &labhca_of(ib)->port[n - 1];
}

/* What a driver's devices look like, see families.c. */
struct labhca_family {
	const char *name;
	bool pma;                        /* has counters/ */
	bool efa;                        /* neither InfiniBand nor Ethernet */
	const char *const *port_names;
	const char *const *device_names; /* NULL: none */
};

extern const struct labhca_family *labhca_family;
extern const struct labhca_family labhca_families[];
extern char *labhca_name;
extern unsigned int labhca_driver_id;
extern bool labhca_ext_counters;
extern unsigned int labhca_roce_gids;
extern bool labhca_roce_v2, labhca_refuse_gids;

/* main.c: sleeps uninterruptibly while *flag is set. */
void labhca_hang(struct labhca *hca, const bool *flag);

/* device.c */
int labhca_plug(struct labhca *hca);
void labhca_unplug(struct labhca *hca);
struct ib_device *labhca_get(struct labhca *hca);
void labhca_event(struct labhca *hca, u32 port, enum ib_event_type event);

/* port.c */
void labhca_port_init(struct labhca_port *p);
void labhca_port_counting(struct labhca_port *p);
extern const struct ib_device_ops labhca_port_ops;

/* pma.c */
const char *labhca_pma_name(int i);
#define LABHCA_PMA_LINK_DOWNED 2
extern const struct ib_device_ops labhca_pma_ops;

/* hwstats.c */
extern const struct ib_device_ops labhca_hw_port_ops;
extern const struct ib_device_ops labhca_hw_device_ops;
int labhca_hw_init(char **extra, unsigned int n);
extern struct rdma_stat_desc labhca_port_descs[LABHCA_HW];
extern struct rdma_stat_desc labhca_device_descs[LABHCA_HW];
extern int labhca_port_ndescs, labhca_device_ndescs;

/* pci.c */
int labhca_pci_bind(struct labhca *hca, const char *address);
void labhca_pci_release(struct labhca *hca);

/* netdev.c */
int labhca_netdev_bind(struct labhca *hca, const char *name);
int labhca_netdev_attach(struct labhca *hca, struct ib_device *ib);
void labhca_netdev_release(struct labhca *hca);
int labhca_netdev_query(struct labhca_port *p, struct ib_device *ib,
			struct ib_port_attr *attr);
extern const struct ib_device_ops labhca_roce_ops;
extern struct notifier_block labhca_netdev_notifier;

/* knobs.c */
int labhca_knobs_add(struct labhca *hca, struct dentry *root,
		     const char *name);
void labhca_knobs_free(struct labhca *hca);

/* main.c */
extern struct labhca *labhca_all[LABHCA_DEVICES];

#endif
