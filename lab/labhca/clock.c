// SPDX-License-Identifier: GPL-2.0
#include <linux/ktime.h>
#include <linux/math64.h>

#include "clock.h"

void labhca_clock_init(struct labhca_clock *k)
{
	spin_lock_init(&k->lock);
}

void labhca_clock_lock(struct labhca_clock *k)
{
	spin_lock_bh(&k->lock);
	k->now = ktime_get_boottime_ns();
}

void labhca_clock_unlock(struct labhca_clock *k)
{
	spin_unlock_bh(&k->lock);
}

u64 labhca_count_value(const struct labhca_clock *k,
		       const struct labhca_count *c)
{
	if (!k->runs)
		return c->base;
	return c->base + mul_u64_u64_div_u64(c->rate, k->now - c->since,
					     NSEC_PER_SEC);
}

void labhca_count_settle(const struct labhca_clock *k, struct labhca_count *c)
{
	c->base = labhca_count_value(k, c);
	c->since = k->now;
}

void labhca_count_set(const struct labhca_clock *k, struct labhca_count *c,
		      u64 value)
{
	c->base = value;
	c->since = k->now;
}

void labhca_count_set_rate(const struct labhca_clock *k, struct labhca_count *c,
			   u64 rate)
{
	labhca_count_settle(k, c);
	c->rate = rate;
}
