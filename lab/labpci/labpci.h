/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labpci: a PCI Express hierarchy without hardware, in a domain of its own,
 * whose configuration space lies in memory. A test-only module: what hardware
 * would decide (link, errors, silence) is set through debugfs (see README.md),
 * all else by the kernel and setpci(8).
 */
#ifndef LABPCI_H
#define LABPCI_H

#include <linux/debugfs.h>
#include <linux/pci.h>

#define LABPCI_NICS 8
/* Virtual functions of each NIC at most. */
#define LABPCI_VFS 4
/* For each NIC: a root port, a switch of three ports, NIC, GPU and VFs. */
#define LABPCI_FUNCTIONS (LABPCI_NICS * (6 + LABPCI_VFS))

/* Where the capabilities lie. */
#define LABPCI_EXP 0x40
#define LABPCI_AER 0x100
#define LABPCI_ACS 0x148
#define LABPCI_SRIOV 0x160

/* One function. */
struct labpci_fn {
	u8 bus, devfn;
	struct labpci_fn *above;         /* the port it hangs below */
	bool lost;                       /* reads as ones */
	u8 *space;                       /* PCI_CFG_SPACE_EXP_SIZE bytes */
	u8 *mask;                        /* bits that a write changes */
};

extern struct labpci_fn labpci_all[LABPCI_FUNCTIONS];
extern int labpci_count;
extern int labpci_domain;

/* space.c */
u32 labpci_get(const struct labpci_fn *f, int at, int size);
void labpci_put(struct labpci_fn *f, int at, int size, u32 value);
struct labpci_fn *labpci_find(int bus, int devfn);
struct labpci_fn *labpci_port(struct labpci_fn *above, int bus, int devfn,
			      int type, u32 ids, int secondary, int last);
struct labpci_fn *labpci_endpoint(struct labpci_fn *above, int bus, u32 ids,
				  u32 class, u32 subsystem);
int labpci_sriov(struct labpci_fn *f, int total, u16 device);
void labpci_link(struct labpci_fn *f, int speed, int width);
void labpci_free(void);
extern struct pci_ops labpci_ops;

/* knobs.c */
void labpci_knobs_add(struct dentry *root);

/* main.c */
struct pci_dev *labpci_device(const struct labpci_fn *f);

#endif
