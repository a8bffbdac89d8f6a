// SPDX-License-Identifier: GPL-2.0
/*
 * The knobs: debugfs files below labpci/<address>/, described in README.md.
 */
#include <linux/aer.h>
#include <linux/module.h>
#include <linux/version.h>

#include "labpci.h"

#define STATUS (LABPCI_EXP + PCI_EXP_LNKSTA)
#define CAPABLE (LABPCI_EXP + PCI_EXP_LNKCAP)

static int width_get(void *data, u64 *v)
{
	*v = (labpci_get(data, STATUS, 2) & PCI_EXP_LNKSTA_NLW) >>
	     PCI_EXP_LNKSTA_NLW_SHIFT;
	return 0;
}

static int width_set(void *data, u64 v)
{
	if (!v || v > 32)
		return -ERANGE;
	labpci_link(data, 0, v);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(width_fops, width_get, width_set, "%llu\n");

static int speed_get(void *data, u64 *v)
{
	*v = labpci_get(data, STATUS, 2) & PCI_EXP_LNKSTA_CLS;
	return 0;
}

static int speed_set(void *data, u64 v)
{
	if (!v || v > PCI_EXP_LNKSTA_CLS_64_0GB)
		return -ERANGE;
	labpci_link(data, v, 0);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(speed_fops, speed_get, speed_set, "%llu\n");

static int max_width_get(void *data, u64 *v)
{
	*v = (labpci_get(data, CAPABLE, 4) & PCI_EXP_LNKCAP_MLW) >> 4;
	return 0;
}

static int max_width_set(void *data, u64 v)
{
	struct labpci_fn *f = data;

	if (!v || v > 32)
		return -ERANGE;
	labpci_put(f, CAPABLE, 4, (labpci_get(f, CAPABLE, 4) &
				   ~PCI_EXP_LNKCAP_MLW) | v << 4);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(max_width_fops, max_width_get, max_width_set, "%llu\n");

static int lost_get(void *data, u64 *v)
{
	*v = ((struct labpci_fn *)data)->lost;
	return 0;
}

static int lost_set(void *data, u64 v)
{
	if (v > 1)
		return -ERANGE;
	WRITE_ONCE(((struct labpci_fn *)data)->lost, v);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(lost_fops, lost_get, lost_set, "%llu\n");

static struct aer_capability_regs errors;

/* Has the kernel take note of correctable errors, as firmware that handles
 * errors first reports them.
 */
static int errors_set(void *data, u64 v)
{
	struct labpci_fn *f = data;
	struct pci_dev *dev = labpci_device(f);

	if (!dev)
		return -ENODEV;
	errors.cor_status = v;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	pci_print_aer(dev, AER_CORRECTABLE, &errors);
#else
	aer_recover_queue(labpci_domain, f->bus, f->devfn, AER_CORRECTABLE,
			  &errors);
#endif
	pci_dev_put(dev);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(errors_fops, NULL, errors_set, "%llu\n");

void labpci_knobs_add(struct dentry *root)
{
	int i;

	for (i = 0; i < labpci_count; i++) {
		struct labpci_fn *f = &labpci_all[i];
		char name[16];
		struct dentry *dir;

		snprintf(name, sizeof(name), "%04x:%02x:%02x.%x", labpci_domain,
			 f->bus, PCI_SLOT(f->devfn), PCI_FUNC(f->devfn));
		dir = debugfs_create_dir(name, root);
		debugfs_create_file_unsafe("width", 0644, dir, f, &width_fops);
		debugfs_create_file_unsafe("speed", 0644, dir, f, &speed_fops);
		debugfs_create_file_unsafe("max_width", 0644, dir, f,
					   &max_width_fops);
		debugfs_create_file_unsafe("lost", 0644, dir, f, &lost_fops);
		debugfs_create_file_unsafe("correctable", 0200, dir, f,
					   &errors_fops);
	}
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("CXL");
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
MODULE_IMPORT_NS(CXL);
#endif
