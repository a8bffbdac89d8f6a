// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading: builds the hierarchy, has the kernel scan it, and is
 * the driver of its adapters, which does nothing but hold them.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "labpci.h"

static unsigned int nics = 1;
module_param(nics, uint, 0444);
MODULE_PARM_DESC(nics, "number of RDMA NICs, each below its own root port, at most 8");

static bool gpus;
module_param(gpus, bool, 0444);
MODULE_PARM_DESC(gpus, "each NIC shares a PCIe switch with a GPU");

static unsigned int lonely;
module_param(lonely, uint, 0444);
MODULE_PARM_DESC(lonely, "so many of the GPUs, the last ones, have no NIC beside them");

static unsigned int vfs;
module_param(vfs, uint, 0444);
MODULE_PARM_DESC(vfs, "virtual functions that each NIC can have, at most 4");

static unsigned short device = 0x101d;
module_param(device, ushort, 0444);
MODULE_PARM_DESC(device, "PCI device ID of the NICs, of vendor 15b3");

static bool infiniband;
module_param(infiniband, bool, 0444);
MODULE_PARM_DESC(infiniband, "the NICs' class is InfiniBand");

static char *driver = "mlx5_core";
module_param(driver, charp, 0444);
MODULE_PARM_DESC(driver, "name of the NICs' driver");

static char *gpu_driver = "nvidia";
module_param(gpu_driver, charp, 0444);
MODULE_PARM_DESC(gpu_driver, "name of the GPUs' driver");

static char *nvidia;
module_param(nvidia, charp, 0444);
MODULE_PARM_DESC(nvidia, "text of /proc/driver/nvidia/version after \"NVRM version: \"");

static bool roce = true;

/* Ice Lake's root port, a PLX switch, ConnectX's virtual function, H100. */
#define IDS(vendor, device) ((device) << 16 | (vendor))
#define ROOT_PORT IDS(PCI_VENDOR_ID_INTEL, 0x347a)
#define SWITCH IDS(PCI_VENDOR_ID_PLX, 0xc010)
#define VF_DEVICE 0x101e
#define GPU IDS(PCI_VENDOR_ID_NVIDIA, 0x2330)
#define GPU_CLASS 0x030200

int labpci_domain = 1;
static struct pci_sysdata sysdata = { .node = NUMA_NO_NODE };
static struct resource buses = {
	.name = "labpci", .start = 0, .end = 0xff, .flags = IORESOURCE_BUS,
};
static struct pci_bus *bus;
static struct dentry *root;
static struct proc_dir_entry *nvidia_dir;

struct pci_dev *labpci_device(const struct labpci_fn *f)
{
	return pci_get_domain_bus_and_slot(labpci_domain, f->bus, f->devfn);
}

static int probe(struct pci_dev *dev, const struct pci_device_id *id)
{
	return dev->bus->sysdata == &sysdata ? 0 : -ENODEV;
}

static void remove(struct pci_dev *dev)
{
	pci_disable_sriov(dev);
}

static int sriov_configure(struct pci_dev *dev, int n)
{
	int err;

	if (n) {
		err = pci_enable_sriov(dev, n);
		return err ? err : n;
	}
	pci_disable_sriov(dev);
	return 0;
}

/* The switch that NVIDIA's own drivers have on Ethernet functions. */
static ssize_t roce_enable_show(struct device *dev,
				struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", dev_get_drvdata(dev) == NULL);
}

static ssize_t roce_enable_store(struct device *dev,
				 struct device_attribute *attr,
				 const char *buf, size_t n)
{
	bool on;
	int err = kstrtobool(buf, &on);

	if (err)
		return err;
	dev_set_drvdata(dev, on ? NULL : &roce);
	return n;
}
static DEVICE_ATTR_RW(roce_enable);

static struct attribute *nic_attrs[] = {
	&dev_attr_roce_enable.attr,
	NULL
};
ATTRIBUTE_GROUPS(nic);

static const struct pci_device_id nic_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_MELLANOX, PCI_ANY_ID) }, {}
};

static const struct pci_device_id gpu_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, PCI_ANY_ID) }, {}
};

static struct pci_driver nic = {
	.id_table = nic_ids,
	.probe = probe,
	.remove = remove,
	.sriov_configure = sriov_configure,
};

static struct pci_driver gpu = {
	.id_table = gpu_ids,
	.probe = probe,
	.remove = remove,
};

/* One root port and what is below: an adapter, or a switch with NIC and GPU. */
static int add_slot(int i)
{
	int first = 1 + 8 * i, at = first;
	bool with_nic = !gpus || i < nics - lonely;
	u32 class = infiniband ? 0x020700 : PCI_CLASS_NETWORK_ETHERNET << 8;
	u32 ids = IDS(PCI_VENDOR_ID_MELLANOX, device);
	struct labpci_fn *up, *down, *f;

	up = labpci_port(NULL, 0, PCI_DEVFN(i, 0), PCI_EXP_TYPE_ROOT_PORT,
			 ROOT_PORT, first, gpus ? first + 3 : first);
	if (!up)
		return -ENOMEM;
	if (gpus) {
		up = labpci_port(up, first, 0, PCI_EXP_TYPE_UPSTREAM, SWITCH,
				 first + 1, first + 3);
		down = up ? labpci_port(up, first + 1, PCI_DEVFN(1, 0),
					PCI_EXP_TYPE_DOWNSTREAM, SWITCH,
					first + 3, first + 3) : NULL;
		if (!down || !labpci_endpoint(down, first + 3, GPU, GPU_CLASS,
					      IDS(PCI_VENDOR_ID_NVIDIA, 0x16c1)))
			return -ENOMEM;
		at = first + 2;
		up = labpci_port(up, first + 1, PCI_DEVFN(0, 0),
				 PCI_EXP_TYPE_DOWNSTREAM, SWITCH, at, at);
		if (!up)
			return -ENOMEM;
	}
	if (!with_nic)
		return 0;
	f = labpci_endpoint(up, at, ids, class,
			    IDS(PCI_VENDOR_ID_MELLANOX, 0x0016));
	if (!f)
		return -ENOMEM;
	return vfs ? labpci_sriov(f, vfs, VF_DEVICE) : 0;
}

static int version_show(struct seq_file *m, void *v)
{
	seq_printf(m, "NVRM version: %s\n", nvidia);
	return 0;
}

/* What NVIDIA's driver tells of itself. */
static void add_version(void)
{
	nvidia_dir = nvidia ? proc_mkdir("driver/nvidia", NULL) : NULL;
	if (nvidia_dir)
		proc_create_single("version", 0444, nvidia_dir, version_show);
}

static int scan(void)
{
	LIST_HEAD(resources);

	while (pci_find_bus(labpci_domain, 0))
		labpci_domain++;
	sysdata.domain = labpci_domain;
	pci_add_resource(&resources, &buses);
	bus = pci_create_root_bus(NULL, 0, &labpci_ops, &sysdata, &resources);
	if (!bus) {
		pci_free_resource_list(&resources);
		return -ENOMEM;
	}
	pci_scan_child_bus(bus);
	pci_lock_rescan_remove();
	pci_bus_add_devices(bus);
	pci_unlock_rescan_remove();
	return 0;
}

static int __init labpci_init(void)
{
	int i, err;

	if (!nics || nics > LABPCI_NICS || lonely > nics || vfs > LABPCI_VFS)
		return -EINVAL;
	for (i = 0; i < nics; i++) {
		err = add_slot(i);
		if (err)
			goto free;
	}
	if (!infiniband)
		nic.dev_groups = nic_groups;
	nic.name = driver;
	err = pci_register_driver(&nic);
	if (err)
		goto free;
	gpu.name = gpu_driver;
	err = gpus ? pci_register_driver(&gpu) : 0;
	if (err)
		goto unregister;
	err = scan();
	if (err)
		goto unregister_gpu;
	root = debugfs_create_dir("labpci", NULL);
	labpci_knobs_add(root);
	add_version();
	return 0;
unregister_gpu:
	if (gpus)
		pci_unregister_driver(&gpu);
unregister:
	pci_unregister_driver(&nic);
free:
	labpci_free();
	return err;
}
module_init(labpci_init);

static void __exit labpci_exit(void)
{
	/* Waits for open files: no knob is turned from here on. */
	debugfs_remove_recursive(root);
	proc_remove(nvidia_dir);
	pci_lock_rescan_remove();
	pci_stop_root_bus(bus);
	pci_remove_root_bus(bus);
	pci_unlock_rescan_remove();
	if (gpus)
		pci_unregister_driver(&gpu);
	pci_unregister_driver(&nic);
	labpci_free();
}
module_exit(labpci_exit);

MODULE_DESCRIPTION("A PCI Express hierarchy without hardware, for tests");
MODULE_LICENSE("GPL");
