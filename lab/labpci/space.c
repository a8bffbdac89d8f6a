// SPDX-License-Identifier: GPL-2.0
/*
 * Configuration space: what a read returns and which bits a write changes.
 * Offsets and bits are those of pci_regs.h. No function has a BAR and no
 * bridge a window, so that nothing of the machine's memory is taken.
 */
#include <linux/slab.h>

#include "labpci.h"

struct labpci_fn labpci_all[LABPCI_FUNCTIONS];
int labpci_count;

u32 labpci_get(const struct labpci_fn *f, int at, int size)
{
	u32 v = 0;

	while (size--)
		v = v << 8 | f->space[at + size];
	return v;
}

void labpci_put(struct labpci_fn *f, int at, int size, u32 value)
{
	for (; size--; value >>= 8)
		f->space[at++] = value;
}

static void writable(struct labpci_fn *f, int at, int size, u32 bits)
{
	for (; size--; bits >>= 8)
		f->mask[at++] = bits;
}

struct labpci_fn *labpci_find(int bus, int devfn)
{
	int i;

	for (i = 0; i < labpci_count; i++)
		if (labpci_all[i].bus == bus && labpci_all[i].devfn == devfn)
			return &labpci_all[i];
	return NULL;
}

/* A function that is lost takes with it all that hangs below. */
static bool silent(const struct labpci_fn *f)
{
	for (; f; f = f->above)
		if (READ_ONCE(f->lost))
			return true;
	return false;
}

static int read_config(struct pci_bus *bus, unsigned int devfn, int at,
		       int size, u32 *value)
{
	struct labpci_fn *f = labpci_find(bus->number, devfn);

	if (!f || silent(f) || at + size > PCI_CFG_SPACE_EXP_SIZE) {
		*value = ~0;
		return f ? PCIBIOS_SUCCESSFUL : PCIBIOS_DEVICE_NOT_FOUND;
	}
	*value = labpci_get(f, at, size);
	return PCIBIOS_SUCCESSFUL;
}

static int write_config(struct pci_bus *bus, unsigned int devfn, int at,
			int size, u32 value)
{
	struct labpci_fn *f = labpci_find(bus->number, devfn);

	if (!f)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (silent(f))
		return PCIBIOS_SUCCESSFUL;
	for (; size-- && at < PCI_CFG_SPACE_EXP_SIZE; at++, value >>= 8)
		f->space[at] = (f->space[at] & ~f->mask[at]) |
			       (value & f->mask[at]);
	return PCIBIOS_SUCCESSFUL;
}

struct pci_ops labpci_ops = {
	.read = read_config,
	.write = write_config,
};

/* Sets the link between a function and the port above, both ends of it:
 * speed as in Link Capabilities (1: 2.5 GT/s, 4: 16 GT/s) and lanes. 0 leaves
 * the value.
 */
void labpci_link(struct labpci_fn *f, int speed, int width)
{
	struct labpci_fn *ends[] = { f, f->above };
	int i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		int at = LABPCI_EXP + PCI_EXP_LNKSTA;
		u32 v;

		if (!ends[i])
			continue;
		v = labpci_get(ends[i], at, 2);
		if (speed)
			v = (v & ~PCI_EXP_LNKSTA_CLS) | speed;
		if (width)
			v = (v & ~PCI_EXP_LNKSTA_NLW) |
			    width << PCI_EXP_LNKSTA_NLW_SHIFT;
		labpci_put(ends[i], at, 2, v);
	}
}

/* A 16 GT/s x16 port, MaxPayload 512 (256 set), MaxReadReq 512, relaxed
 * ordering on, as firmware leaves them.
 */
static void add_express(struct labpci_fn *f, int type)
{
	int at = LABPCI_EXP;
	u32 speeds = PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
		     PCI_EXP_LNKCAP2_SLS_8_0GB | PCI_EXP_LNKCAP2_SLS_16_0GB;

	labpci_put(f, PCI_STATUS, 2, PCI_STATUS_CAP_LIST);
	labpci_put(f, PCI_CAPABILITY_LIST, 1, at);
	labpci_put(f, at, 2, PCI_CAP_ID_EXP);
	labpci_put(f, at + PCI_EXP_FLAGS, 2, 2 | type << 4);
	labpci_put(f, at + PCI_EXP_DEVCAP, 4, 2 | PCI_EXP_DEVCAP_RBER);
	labpci_put(f, at + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_PAYLOAD_256B |
		   PCI_EXP_DEVCTL_READRQ_512B | PCI_EXP_DEVCTL_RELAX_EN |
		   PCI_EXP_DEVCTL_NOSNOOP_EN);
	writable(f, at + PCI_EXP_DEVCTL, 2, 0x7fff);
	labpci_put(f, at + PCI_EXP_LNKCAP, 4, PCI_EXP_LNKCAP_SLS_16_0GB |
		   16 << 4);
	writable(f, at + PCI_EXP_LNKCTL, 2, 0x0fd3);
	labpci_put(f, at + PCI_EXP_LNKSTA, 2, PCI_EXP_LNKSTA_CLS_16_0GB |
		   16 << PCI_EXP_LNKSTA_NLW_SHIFT);
	writable(f, at + PCI_EXP_DEVCTL2, 2, 0xffff);
	labpci_put(f, at + PCI_EXP_LNKCAP2, 4, speeds);
	writable(f, at + PCI_EXP_LNKCTL2, 2, 0xffff);
}

static void extended(struct labpci_fn *f, int at, int id, int next)
{
	labpci_put(f, at, 4, id | 1 << 16 | next << 20);
}

static struct labpci_fn *add(struct labpci_fn *above, int bus, int devfn,
			     u32 ids, u32 class)
{
	struct labpci_fn *f = &labpci_all[labpci_count];

	if (WARN_ON(labpci_count == LABPCI_FUNCTIONS))
		return NULL;
	f->space = kzalloc(2 * PCI_CFG_SPACE_EXP_SIZE, GFP_KERNEL);
	if (!f->space)
		return NULL;
	f->mask = f->space + PCI_CFG_SPACE_EXP_SIZE;
	f->bus = bus;
	f->devfn = devfn;
	f->above = above;
	labpci_put(f, PCI_VENDOR_ID, 4, ids);
	labpci_put(f, PCI_CLASS_REVISION, 4, class << 8);
	writable(f, PCI_COMMAND, 2, 0x0547);
	labpci_count++;
	return f;
}

/* A bridge. With secondary 0 it leads nowhere. */
struct labpci_fn *labpci_port(struct labpci_fn *above, int bus, int devfn,
			      int type, u32 ids, int secondary, int last)
{
	struct labpci_fn *f = add(above, bus, devfn, ids,
				  PCI_CLASS_BRIDGE_PCI_NORMAL);

	if (!f)
		return NULL;
	labpci_put(f, PCI_HEADER_TYPE, 1, PCI_HEADER_TYPE_BRIDGE);
	labpci_put(f, PCI_PRIMARY_BUS, 1, bus);
	labpci_put(f, PCI_SECONDARY_BUS, 1, secondary);
	labpci_put(f, PCI_SUBORDINATE_BUS, 1, last);
	writable(f, PCI_PRIMARY_BUS, 3, 0xffffff);
	writable(f, PCI_BRIDGE_CONTROL, 2, 0x003f);
	/* Windows that end before they begin: there is none. */
	labpci_put(f, PCI_IO_BASE, 2, 0x00f0);
	labpci_put(f, PCI_MEMORY_BASE, 4, 0x0000fff0);
	labpci_put(f, PCI_PREF_MEMORY_BASE, 4, 0x0000fff0);
	add_express(f, type);
	extended(f, LABPCI_AER, PCI_EXT_CAP_ID_ERR,
		 type == PCI_EXP_TYPE_UPSTREAM ? 0 : LABPCI_ACS);
	if (type == PCI_EXP_TYPE_UPSTREAM)
		return f;
	extended(f, LABPCI_ACS, PCI_EXT_CAP_ID_ACS, 0);
	labpci_put(f, LABPCI_ACS + PCI_ACS_CAP, 2, 0x005f);
	writable(f, LABPCI_ACS + PCI_ACS_CTRL, 2, 0x005f);
	return f;
}

/* An adapter, the only one of its bus. */
struct labpci_fn *labpci_endpoint(struct labpci_fn *above, int bus, u32 ids,
				  u32 class, u32 subsystem)
{
	struct labpci_fn *f = add(above, bus, 0, ids, class);

	if (!f)
		return NULL;
	labpci_put(f, PCI_SUBSYSTEM_VENDOR_ID, 4, subsystem);
	add_express(f, PCI_EXP_TYPE_ENDPOINT);
	extended(f, LABPCI_AER, PCI_EXT_CAP_ID_ERR, 0);
	return f;
}

/* Gives an adapter virtual functions. Who they are the kernel takes from their
 * parent.
 */
int labpci_sriov(struct labpci_fn *f, int total, u16 device)
{
	int at = LABPCI_SRIOV, i;

	extended(f, LABPCI_AER, PCI_EXT_CAP_ID_ERR, at);
	extended(f, at, PCI_EXT_CAP_ID_SRIOV, 0);
	writable(f, at + PCI_SRIOV_CTRL, 2, PCI_SRIOV_CTRL_VFE |
		 PCI_SRIOV_CTRL_MSE | PCI_SRIOV_CTRL_ARI);
	labpci_put(f, at + PCI_SRIOV_INITIAL_VF, 2, total);
	labpci_put(f, at + PCI_SRIOV_TOTAL_VF, 2, total);
	writable(f, at + PCI_SRIOV_NUM_VF, 2, 0xffff);
	labpci_put(f, at + PCI_SRIOV_VF_OFFSET, 2, 8);
	labpci_put(f, at + PCI_SRIOV_VF_STRIDE, 2, 1);
	labpci_put(f, at + PCI_SRIOV_VF_DID, 2, device);
	labpci_put(f, at + PCI_SRIOV_SUP_PGSIZE, 4, 0x553);
	labpci_put(f, at + PCI_SRIOV_SYS_PGSIZE, 4, 1);
	writable(f, at + PCI_SRIOV_SYS_PGSIZE, 4, ~0);
	for (i = 0; i < total; i++) {
		struct labpci_fn *vf = add(f->above, f->bus, 8 + i, ~0,
					   PCI_CLASS_NETWORK_ETHERNET << 8);

		if (!vf)
			return -ENOMEM;
		add_express(vf, PCI_EXP_TYPE_ENDPOINT);
		/* A virtual function tells nothing of its link. */
		labpci_put(vf, LABPCI_EXP + PCI_EXP_LNKCAP, 4, 0);
		labpci_put(vf, LABPCI_EXP + PCI_EXP_LNKSTA, 2, 0);
		labpci_put(vf, LABPCI_EXP + PCI_EXP_LNKCAP2, 4, 0);
	}
	return 0;
}

void labpci_free(void)
{
	while (labpci_count)
		kfree(labpci_all[--labpci_count].space);
}
