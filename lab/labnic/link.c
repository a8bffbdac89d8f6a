// SPDX-License-Identifier: GPL-2.0
/*
 * The link between the two ends: it comes up when both are open, the cable is
 * in at both, a speed is common to both, and both use the same FEC. Everything
 * here runs under RTNL.
 */
#include <linux/rtnetlink.h>

#include "labnic.h"

/* The speeds of a port, slowest first, and the mode that stands for each. */
static const struct {
	u32 mbps;
	u32 mode;
} modes[] = {
	{ 10000, ETHTOOL_LINK_MODE_10000baseCR_Full_BIT },
	{ 25000, ETHTOOL_LINK_MODE_25000baseCR_Full_BIT },
	{ 40000, ETHTOOL_LINK_MODE_40000baseCR4_Full_BIT },
	{ 50000, ETHTOOL_LINK_MODE_50000baseCR2_Full_BIT },
	{ 100000, ETHTOOL_LINK_MODE_100000baseCR4_Full_BIT },
	{ 200000, ETHTOOL_LINK_MODE_200000baseCR4_Full_BIT },
	{ 400000, ETHTOOL_LINK_MODE_400000baseCR8_Full_BIT },
};

bool labnic_speed_known(u32 mbps)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (modes[i].mbps == mbps)
			return true;
	return false;
}

/* What a port could do: a bitmap of modes[]. */
static u32 supported(void)
{
	u32 map = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (modes[i].mbps <= labnic_speed)
			map |= BIT(i);
	return map;
}

void labnic_link_init(struct labnic_port *p)
{
	struct labnic_link *l = &p->link;

	l->cable = true;
	l->autoneg = true;
	l->advertised = supported();
	l->ext_state = U32_MAX;
	l->fec = ETHTOOL_FEC_AUTO;
	l->fec_active = ETHTOOL_FEC_RS;
	/* Factory state of mlx5: 802.3x pause both ways. */
	l->rx_pause = true;
	l->tx_pause = true;
	l->rx_ring = 1024;
	l->tx_ring = 1024;
	l->pfc_toggles_link = true;
	l->reset_clears_pause = true;
}

/* The fastest speed common to both ends that the cable carries, 0 if none. */
static u32 common_speed(const struct labnic_link *a, const struct labnic_link *b)
{
	u32 map = a->advertised & b->advertised;
	int i;

	for (i = ARRAY_SIZE(modes) - 1; i >= 0; i--) {
		if (!(map & BIT(i)))
			continue;
		if (a->cable_speed && modes[i].mbps > a->cable_speed)
			continue;
		if (b->cable_speed && modes[i].mbps > b->cable_speed)
			continue;
		return modes[i].mbps;
	}
	return 0;
}

/* The FEC that an end uses: "auto" takes what the other end insists on. */
static u32 resolved_fec(const struct labnic_link *own,
			const struct labnic_link *other)
{
	if (own->fec != ETHTOOL_FEC_AUTO)
		return own->fec;
	return other->fec != ETHTOOL_FEC_AUTO ? other->fec : ETHTOOL_FEC_RS;
}

static void carrier(struct labnic_port *p, bool on)
{
	if (netif_carrier_ok(p->dev) == on)
		return;
	labnic_lock(p->pair);
	if (!on)
		labnic_count_add(p, LN_LINK_DOWN_EVENTS_PHY, 1);
	labnic_counting(p, on);
	labnic_unlock(p->pair);
	if (on)
		netif_carrier_on(p->dev);
	else
		netif_carrier_off(p->dev);
}

void labnic_link_update(struct labnic_pair *pair)
{
	struct labnic_port *a = pair->end[0], *b = pair->end[1];
	u32 speed = common_speed(&a->link, &b->link);
	bool up;

	ASSERT_RTNL();
	a->link.fec_active = resolved_fec(&a->link, &b->link);
	b->link.fec_active = resolved_fec(&b->link, &a->link);
	up = netif_running(a->dev) && netif_running(b->dev) &&
	     a->link.cable && b->link.cable && speed &&
	     a->link.fec_active == b->link.fec_active;
	/* Another speed is another link. */
	if (up && netif_carrier_ok(a->dev) && a->link.speed != speed) {
		carrier(a, false);
		carrier(b, false);
	}
	a->link.speed = speed;
	b->link.speed = speed;
	carrier(a, up);
	carrier(b, up);
}

/* A reset of the port, as closing it or a change of PFC makes: the link goes
 * down, and comes up again if it can.
 */
void labnic_port_reset(struct labnic_port *p)
{
	if (p->link.reset_clears_pause) {
		labnic_lock(p->pair);
		labnic_count_pause_rates_clear(p);
		labnic_unlock(p->pair);
	}
	carrier(p, false);
	carrier(p->peer, false);
	labnic_link_update(p->pair);
}

static void set_modes(unsigned long *dst, u32 map)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (map & BIT(i))
			__set_bit(modes[i].mode, dst);
}

/* Imitates mlx5e_get_link_ksettings: no speed without carrier; what the
 * partner advertises is known while both negotiate.
 */
int labnic_get_link_ksettings(struct net_device *dev,
			      struct ethtool_link_ksettings *ks)
{
	struct labnic_port *p = netdev_priv(dev);
	bool up = netif_carrier_ok(dev);

	ethtool_link_ksettings_zero_link_mode(ks, supported);
	ethtool_link_ksettings_zero_link_mode(ks, advertising);
	ethtool_link_ksettings_zero_link_mode(ks, lp_advertising);
	set_modes(ks->link_modes.supported, supported());
	set_modes(ks->link_modes.advertising, p->link.advertised);
	ethtool_link_ksettings_add_link_mode(ks, supported, FIBRE);
	ethtool_link_ksettings_add_link_mode(ks, supported, Pause);
	ethtool_link_ksettings_add_link_mode(ks, supported, Autoneg);
	ethtool_link_ksettings_add_link_mode(ks, supported, FEC_NONE);
	ethtool_link_ksettings_add_link_mode(ks, supported, FEC_BASER);
	ethtool_link_ksettings_add_link_mode(ks, supported, FEC_RS);
	if (p->link.rx_pause && p->link.tx_pause)
		ethtool_link_ksettings_add_link_mode(ks, advertising, Pause);
	if (p->link.autoneg)
		ethtool_link_ksettings_add_link_mode(ks, advertising, Autoneg);
	if (up && p->link.autoneg && p->peer->link.autoneg) {
		set_modes(ks->link_modes.lp_advertising,
			  p->peer->link.advertised);
		ethtool_link_ksettings_add_link_mode(ks, lp_advertising,
						     Autoneg);
	}
	ks->base.speed = up ? p->link.speed : SPEED_UNKNOWN;
	ks->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	ks->base.autoneg = p->link.autoneg;
	ks->base.port = PORT_DA;
	return 0;
}

/* Imitates mlx5e_set_link_ksettings: advertised modes with autonegotiation,
 * one speed without. A change resets the port.
 */
int labnic_set_link_ksettings(struct net_device *dev,
			      const struct ethtool_link_ksettings *ks)
{
	struct labnic_port *p = netdev_priv(dev);
	bool autoneg = ks->base.autoneg == AUTONEG_ENABLE;
	u32 map = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++)
		if (autoneg ? test_bit(modes[i].mode, ks->link_modes.advertising)
			    : modes[i].mbps == ks->base.speed)
			map |= BIT(i);
	map &= supported();
	if (!map)
		return -EINVAL;
	if (map == p->link.advertised && autoneg == p->link.autoneg)
		return 0;
	p->link.advertised = map;
	p->link.autoneg = autoneg;
	labnic_port_reset(p);
	return 0;
}

/* Imitates mlx5e_get_link_ext_state: nothing to tell while there is carrier,
 * else the knob's reason, or the true one.
 */
int labnic_get_link_ext_state(struct net_device *dev,
			      struct ethtool_link_ext_state_info *info)
{
	struct labnic_port *p = netdev_priv(dev);
	const struct labnic_link *l = &p->link, *o = &p->peer->link;

	if (netif_carrier_ok(dev))
		return -ENODATA;
	if (l->ext_state != U32_MAX) {
		info->link_ext_state = l->ext_state;
		info->__link_ext_substate = l->ext_substate;
		return 0;
	}
	if (!l->cable) {
		info->link_ext_state = ETHTOOL_LINK_EXT_STATE_NO_CABLE;
		return 0;
	}
	info->link_ext_state = ETHTOOL_LINK_EXT_STATE_AUTONEG;
	if (!o->cable || !netif_running(p->peer->dev))
		info->autoneg = ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_PARTNER_DETECTED;
	else if (l->fec_active != o->fec_active)
		info->autoneg =
		ETHTOOL_LINK_EXT_SUBSTATE_AN_FEC_MISMATCH_DURING_OVERRIDE;
	else
		info->autoneg = ETHTOOL_LINK_EXT_SUBSTATE_AN_NO_HCD;
	return 0;
}
