// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI function as the parent of a port, such as one of labpci's, and what is
 * set for its virtual functions. Each function names the one of mlx5 that it
 * imitates.
 */
#include <linux/module.h>

#include "labnic.h"

/* Holds the function, and the module of its driver: it is not taken away
 * while a port sits on it.
 */
int labnic_pci_bind(struct labnic_port *p, const char *address)
{
	unsigned int domain, bus, slot, function;
	struct labnic_pci *pci = &p->pci;
	struct device_driver *driver;

	if (sscanf(address, "%x:%x:%x.%u", &domain, &bus, &slot, &function) != 4)
		return -EINVAL;
	pci->dev = pci_get_domain_bus_and_slot(domain, bus,
					       PCI_DEVFN(slot, function));
	if (!pci->dev)
		return -ENODEV;
	device_lock(&pci->dev->dev);
	driver = pci->dev->dev.driver;
	if (driver && try_module_get(driver->owner))
		pci->owner = driver->owner;
	device_unlock(&pci->dev->dev);
	return driver ? 0 : -ENXIO;
}

void labnic_pci_release(struct labnic_pci *pci)
{
	pci_dev_put(pci->dev);
	module_put(pci->owner);
}

struct device *labnic_parent(struct labnic_port *p)
{
	return p->pci.dev ? &p->pci.dev->dev : &p->parent->dev;
}

static bool valid(struct labnic_port *p, int vf)
{
	return p->pci.dev && vf < LABNIC_VFS && vf < pci_num_vf(p->pci.dev);
}

/* Imitates mlx5e_get_vf_config. */
int labnic_get_vf_config(struct net_device *dev, int vf,
			 struct ifla_vf_info *info)
{
	struct labnic_port *p = netdev_priv(dev);

	if (!valid(p, vf))
		return -EINVAL;
	memset(info, 0, sizeof(*info));
	info->vf = vf;
	info->linkstate = p->pci.vf[vf].link_state;
	info->min_tx_rate = p->pci.vf[vf].min_rate;
	info->max_tx_rate = p->pci.vf[vf].max_rate;
	return 0;
}

/* Imitates mlx5e_set_vf_link_state. */
int labnic_set_vf_link_state(struct net_device *dev, int vf, int state)
{
	struct labnic_port *p = netdev_priv(dev);

	if (!valid(p, vf))
		return -EINVAL;
	p->pci.vf[vf].link_state = state;
	return 0;
}

/* Imitates mlx5e_set_vf_rate. */
int labnic_set_vf_rate(struct net_device *dev, int vf, int min, int max)
{
	struct labnic_port *p = netdev_priv(dev);

	if (!valid(p, vf))
		return -EINVAL;
	p->pci.vf[vf].min_rate = min;
	p->pci.vf[vf].max_rate = max;
	return 0;
}
