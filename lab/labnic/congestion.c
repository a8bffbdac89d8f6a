// SPDX-License-Identifier: GPL-2.0
/*
 * A receiver that cannot keep up. A priority listed in congestion/prios loses
 * frames for as long as nothing tells the sender to wait, and pauses the
 * sender once something does: so "dcb pfc set ... prio-pfc 3:on" ends the
 * discards of priority 3 here for the reason that it ends them on hardware.
 */
#include "labnic.h"

void labnic_congestion_init(struct labnic_port *p)
{
	p->congestion.discards = 1000;
	/* 0.1 % of the time: pause at work, no storm. */
	p->congestion.pauses = 50;
	p->congestion.pause_us = 1000;
}

/* The pause class that protects a priority, -1 if none does. Where PFC is on
 * for any priority it wins over 802.3x pause, as on mlx5.
 */
static int protection(const struct labnic_port *p, int prio)
{
	if (p->dcb.pfc_en)
		return p->dcb.pfc_en & BIT(prio) ? prio : -1;
	return p->link.tx_pause ? LABNIC_GLOBAL : -1;
}

/* What this receiver's congestion adds: discards, or pause that it
 * sends and the other end receives.
 */
static void receiver(struct labnic_port *p)
{
	const struct labnic_congestion *c = &p->congestion;
	u64 lost[LABNIC_PRIOS] = {}, paused[LABNIC_GLOBAL + 1] = {}, sum = 0;
	int prio, class;

	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		if (!(c->prios & BIT(prio)))
			continue;
		class = protection(p, prio);
		if (class < 0)
			lost[prio] = c->discards;
		else
			paused[class] = 1;
		sum += lost[prio];
	}
	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		labnic_count_set_extra(p, labnic_prio_index(prio,
				       LN_PRIO_RX_DISCARDS), lost[prio]);
	labnic_count_set_extra(p, LN_RX_DISCARDS_PHY, sum);
	for (class = 0; class <= LABNIC_GLOBAL; class++) {
		u64 n = paused[class] * c->pauses;
		u64 us = paused[class] * c->pause_us;

		labnic_count_set_extra(p, labnic_pause_index(class,
				       LN_PAUSE_TX), n);
		labnic_count_set_extra(p, labnic_pause_index(class,
				       LN_PAUSE_TX_DURATION), us);
		/* The other end receives what this one sends. */
		labnic_count_set_extra(p->peer, labnic_pause_index(class,
				       LN_PAUSE_RX), n);
		labnic_count_set_extra(p->peer, labnic_pause_index(class,
				       LN_PAUSE_RX_DURATION), us);
		labnic_count_set_extra(p->peer, labnic_pause_index(class,
				       LN_PAUSE_RX_TRANSITION), n);
	}
	labnic_count_set_extra(p, LN_TX_PAUSE_CTRL_PHY,
			       paused[LABNIC_GLOBAL] * c->pauses);
	labnic_count_set_extra(p->peer, LN_RX_PAUSE_CTRL_PHY,
			       paused[LABNIC_GLOBAL] * c->pauses);
}

void labnic_congestion_update(struct labnic_pair *pair)
{
	receiver(pair->end[0]);
	receiver(pair->end[1]);
}

/* Whether this receiver loses a real frame of a priority. */
bool labnic_congestion_drops(struct labnic_port *p, int prio)
{
	struct labnic_congestion *c = &p->congestion;
	bool hit = c->drop_prios & BIT(prio);

	if (!c->drop_every)
		return false;
	if (c->prios & BIT(prio) && protection(p, prio) < 0)
		hit = true;
	return hit && ++c->seen % c->drop_every == 0;
}
