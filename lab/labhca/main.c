// SPDX-License-Identifier: GPL-2.0
/*
 * Loading and unloading.
 */
#include <linux/module.h>

#include "labhca.h"

static unsigned int devices = 1;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "number of devices, at most 8");

static unsigned int ports = 1;
module_param(ports, uint, 0444);
MODULE_PARM_DESC(ports, "ports of each device, at most 4");

static char *family = "mlx5";
module_param(family, charp, 0444);
MODULE_PARM_DESC(family, "whose counters: mlx5, bnxt_re, irdma, efa");

static char *netdevs[LABHCA_DEVICES];
static unsigned int nnetdevs;
module_param_array(netdevs, charp, &nnetdevs, 0444);
MODULE_PARM_DESC(netdevs, "RoCE: the netdev of each device, one port each");

static char *parents[LABHCA_DEVICES];
static unsigned int nparents;
module_param_array(parents, charp, &nparents, 0444);
MODULE_PARM_DESC(parents, "the PCI function that each device sits on");

static char *names[LABHCA_HW];
static unsigned int nnames;
module_param_array(names, charp, &nnames, 0444);
MODULE_PARM_DESC(names, "further names for hw_counters");

static char *driver = "labhca";
module_param(driver, charp, 0444);
MODULE_PARM_DESC(driver, "driver name to show in sysfs, e.g. mlx5_core");

char *labhca_name = "labhca%d";
module_param_named(name, labhca_name, charp, 0444);
MODULE_PARM_DESC(name, "name of the devices, with %d, e.g. mlx5_%d");

unsigned int labhca_driver_id = RDMA_DRIVER_UNKNOWN;
module_param_named(driver_id, labhca_driver_id, uint, 0444);
MODULE_PARM_DESC(driver_id, "enum rdma_driver_id; 0: user space has no provider");

bool labhca_ext_counters = true;
module_param_named(ext_counters, labhca_ext_counters, bool, 0444);
MODULE_PARM_DESC(ext_counters, "0: counters/ of 32 bits only");

unsigned int labhca_roce_gids = 255;
module_param_named(gids, labhca_roce_gids, uint, 0444);
MODULE_PARM_DESC(gids, "RoCE: entries of the GID table");

bool labhca_roce_v2 = true;
module_param_named(roce_v2, labhca_roce_v2, bool, 0444);
MODULE_PARM_DESC(roce_v2, "0: RoCE v1 only");

bool labhca_refuse_gids;
module_param_named(refuse_gids, labhca_refuse_gids, bool, 0444);
MODULE_PARM_DESC(refuse_gids, "1: RoCE: no entry of the GID table can be written");

const struct labhca_family *labhca_family;
struct labhca *labhca_all[LABHCA_DEVICES];
static struct dentry *root;
/* Not registered where another module, such as labnic, has that name. */
static bool own_driver;
static struct platform_driver parent_driver = {
	.driver = { .suppress_bind_attrs = true },
};

void labhca_hang(struct labhca *hca, const bool *flag)
{
	wait_event(hca->unhang, !READ_ONCE(*flag));
}

/* Writing a device's number to these files takes it away and brings it back.
 * They lie beside the devices' folders, which stay.
 */
static int by_number(u64 i, struct labhca **hca)
{
	if (i >= LABHCA_DEVICES || !labhca_all[i])
		return -ENODEV;
	*hca = labhca_all[i];
	return 0;
}

static int plug_set(void *data, u64 i)
{
	struct labhca *hca;
	int err = by_number(i, &hca);

	return err ? err : labhca_plug(hca);
}
DEFINE_DEBUGFS_ATTRIBUTE(plug_fops, NULL, plug_set, "%llu\n");

static int unplug_set(void *data, u64 i)
{
	struct labhca *hca;
	int err = by_number(i, &hca);

	if (!err)
		labhca_unplug(hca);
	return err;
}
DEFINE_DEBUGFS_ATTRIBUTE(unplug_fops, NULL, unplug_set, "%llu\n");

static void free_hca(struct labhca *hca)
{
	labhca_knobs_free(hca);
	labhca_netdev_release(hca);
	labhca_pci_release(hca);
	platform_device_unregister(hca->parent);
	kfree(hca);
}

/* Texts as a ConnectX-6 HDR adapter shows them. */
static void describe(struct labhca *hca)
{
	strscpy(hca->board_id, "LAB0000000001", sizeof(hca->board_id));
	strscpy(hca->hca_type, "MT4123", sizeof(hca->hca_type));
	strscpy(hca->hw_rev, "0", sizeof(hca->hw_rev));
	strscpy(hca->fw_ver, "20.35.1012", sizeof(hca->fw_ver));
	hca->node_guid = cpu_to_be64(0x0002c90300100000ULL + 0x100 * hca->index);
	hca->sys_image_guid = hca->node_guid;
}

static struct labhca *new_hca(int index)
{
	struct labhca *hca = kzalloc(sizeof(*hca), GFP_KERNEL);
	unsigned int i;
	int err = 0;

	if (!hca)
		return ERR_PTR(-ENOMEM);
	hca->index = index;
	mutex_init(&hca->plugging);
	spin_lock_init(&hca->ib_lock);
	init_waitqueue_head(&hca->unhang);
	labhca_clock_init(&hca->clock);
	hca->clock.runs = true;
	describe(hca);
	hca->ports = nnetdevs ? 1 : ports;
	for (i = 0; i < hca->ports; i++) {
		hca->port[i].hca = hca;
		hca->port[i].number = i + 1;
		labhca_port_init(&hca->port[i]);
	}
	hca->parent = platform_device_register_simple(driver,
			own_driver ? index : PLATFORM_DEVID_AUTO, NULL, 0);
	if (IS_ERR(hca->parent)) {
		err = PTR_ERR(hca->parent);
		kfree(hca);
		return ERR_PTR(err);
	}
	if (index < nparents)
		err = labhca_pci_bind(hca, parents[index]);
	if (nnetdevs && !err)
		err = labhca_netdev_bind(hca, netdevs[index]);
	if (!err)
		return hca;
	free_hca(hca);
	return ERR_PTR(err);
}

static void remove_all(void)
{
	int i;

	unregister_netdevice_notifier(&labhca_netdev_notifier);
	/* Waits for open files: no knob is turned from here on. */
	debugfs_remove_recursive(root);
	for (i = 0; i < LABHCA_DEVICES; i++) {
		if (!labhca_all[i])
			continue;
		labhca_unplug(labhca_all[i]);
		free_hca(labhca_all[i]);
	}
	if (own_driver)
		platform_driver_unregister(&parent_driver);
}

static int add_all(void)
{
	char name[16];
	int i, err;

	for (i = 0; i < devices; i++) {
		struct labhca *hca = new_hca(i);

		if (IS_ERR(hca))
			return PTR_ERR(hca);
		labhca_all[i] = hca;
	}
	/* Only now, so that no event meets a device half made. */
	err = register_netdevice_notifier(&labhca_netdev_notifier);
	for (i = 0; i < devices && !err; i++) {
		err = labhca_plug(labhca_all[i]);
		snprintf(name, sizeof(name), "%d", i);
		if (!err)
			err = labhca_knobs_add(labhca_all[i], root, name);
	}
	return err;
}

static int __init labhca_init(void)
{
	const struct labhca_family *f = labhca_families;
	int err;

	while (f->name && strcmp(f->name, family))
		f++;
	if (nnetdevs)
		devices = nnetdevs;
	if (!f->name || !devices || devices > LABHCA_DEVICES || !ports ||
	    ports > LABHCA_PORTS || !strstr(labhca_name, "%d") ||
	    !labhca_roce_gids || labhca_roce_gids > 255)
		return -EINVAL;
	labhca_family = f;
	err = labhca_hw_init(names, nnames);
	if (err)
		return err;
	parent_driver.driver.name = driver;
	own_driver = !driver_find(driver, &platform_bus_type);
	err = own_driver ? platform_driver_register(&parent_driver) : 0;
	if (err)
		return err;
	root = debugfs_create_dir("labhca", NULL);
	debugfs_create_file_unsafe("plug", 0200, root, NULL, &plug_fops);
	debugfs_create_file_unsafe("unplug", 0200, root, NULL, &unplug_fops);
	err = add_all();
	if (err)
		remove_all();
	return err;
}
module_init(labhca_init);

static void __exit labhca_exit(void)
{
	remove_all();
}
module_exit(labhca_exit);

MODULE_DESCRIPTION("RDMA devices without hardware, for tests");
MODULE_LICENSE("GPL");
