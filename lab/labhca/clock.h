/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters that grow by the clock: base, plus rate (units a second) for the
 * time since "since" during which the clock ran. Reading never changes one.
 */
#ifndef LABHCA_CLOCK_H
#define LABHCA_CLOCK_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct labhca_count {
	u64 base;
	u64 rate;
	u64 since;   /* ns of CLOCK_BOOTTIME */
};

/* Whatever is read or changed under the lock once taken is of one instant. */
struct labhca_clock {
	spinlock_t lock;
	u64 now;
	bool runs;
};

void labhca_clock_init(struct labhca_clock *k);
void labhca_clock_lock(struct labhca_clock *k);
void labhca_clock_unlock(struct labhca_clock *k);

/* All under the lock. */
u64 labhca_count_value(const struct labhca_clock *k,
		       const struct labhca_count *c);
void labhca_count_set(const struct labhca_clock *k, struct labhca_count *c,
		      u64 value);
void labhca_count_set_rate(const struct labhca_clock *k, struct labhca_count *c,
			   u64 rate);
/* Settles a counter before the clock starts or stops. */
void labhca_count_settle(const struct labhca_clock *k, struct labhca_count *c);

#endif
