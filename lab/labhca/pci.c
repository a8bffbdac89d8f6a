// SPDX-License-Identifier: GPL-2.0
/*
 * A PCI function as the parent of a device, such as one of labpci's.
 */
#include <linux/module.h>

#include "labhca.h"

/* Holds the function, and the module of its driver: it is not taken away
 * while a device sits on it.
 */
int labhca_pci_bind(struct labhca *hca, const char *address)
{
	unsigned int domain, bus, slot, function;
	struct device_driver *driver;

	if (sscanf(address, "%x:%x:%x.%u", &domain, &bus, &slot, &function) != 4)
		return -EINVAL;
	hca->pci = pci_get_domain_bus_and_slot(domain, bus,
					       PCI_DEVFN(slot, function));
	if (!hca->pci)
		return -ENODEV;
	device_lock(&hca->pci->dev);
	driver = hca->pci->dev.driver;
	if (driver && try_module_get(driver->owner))
		hca->pci_owner = driver->owner;
	device_unlock(&hca->pci->dev);
	return driver ? 0 : -ENXIO;
}

void labhca_pci_release(struct labhca *hca)
{
	pci_dev_put(hca->pci);
	module_put(hca->pci_owner);
}
