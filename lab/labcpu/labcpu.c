// SPDX-License-Identifier: GPL-2.0
/*
 * labcpu: a driver of processor frequency without hardware, so that
 * /sys/devices/system/cpu/cpufreq and the kernel's governors are there. A
 * test-only module, see README.md.
 */
#include <linux/cpufreq.h>
#include <linux/module.h>

static char *driver = "acpi-cpufreq";
module_param(driver, charp, 0444);
MODULE_PARM_DESC(driver, "name to show in scaling_driver, up to 15 letters");

/* In kHz, as cpufreq counts. */
static struct cpufreq_frequency_table table[] = {
	{ .frequency = 800000 }, { .frequency = 2000000 },
	{ .frequency = 3000000 }, { .frequency = CPUFREQ_TABLE_END },
};

static unsigned int now = 3000000;

static int init(struct cpufreq_policy *policy)
{
	policy->freq_table = table;
	policy->cpuinfo.transition_latency = 10000;
	return 0;
}

static int target(struct cpufreq_policy *policy, unsigned int index)
{
	now = table[index].frequency;
	return 0;
}

static unsigned int get(unsigned int cpu)
{
	return now;
}

static struct cpufreq_driver labcpu = {
	.verify = cpufreq_generic_frequency_table_verify,
	.target_index = target,
	.get = get,
	.init = init,
};

static int __init labcpu_init(void)
{
	strscpy(labcpu.name, driver, sizeof(labcpu.name));
	return cpufreq_register_driver(&labcpu);
}
module_init(labcpu_init);

static void __exit labcpu_exit(void)
{
	cpufreq_unregister_driver(&labcpu);
}
module_exit(labcpu_exit);

MODULE_DESCRIPTION("Processor frequency without hardware, for tests");
MODULE_LICENSE("GPL");
