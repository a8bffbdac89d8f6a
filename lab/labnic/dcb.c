// SPDX-License-Identifier: GPL-2.0
/*
 * DCB netlink, IEEE part: PFC, ETS, rates, buffers, DCBX mode. Each function
 * names the one of mlx5e (en_dcbnl.c) whose answers it gives.
 */
#include <linux/version.h>

#include "labnic.h"

/* Two buffers of the size that a ConnectX port has after boot, in bytes. */
#define BUFFER_SIZE 130944
#define CABLE_LEN 7          /* MLX5E_DEFAULT_CABLE_LEN, metres */
#define MAX_CABLE_LEN 1000   /* MLX5E_MAX_CABLE_LENGTH */

/* Imitates mlx5e_dcbnl_ieee_getpfc: the requests are the pause frames sent,
 * the indications those received, the delay is the cable's length.
 */
static int getpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic_port *p = netdev_priv(dev);
	int i;

	pfc->pfc_cap = LABNIC_PRIOS;
	pfc->pfc_en = p->dcb.pfc_en;
	pfc->delay = p->dcb.cable_len;
	labnic_lock(p->pair);
	for (i = 0; i < LABNIC_PRIOS; i++) {
		pfc->requests[i] = labnic_count_value(p,
			labnic_pause_index(i, LN_PAUSE_TX));
		pfc->indications[i] = labnic_count_value(p,
			labnic_pause_index(i, LN_PAUSE_RX));
	}
	labnic_unlock(p->pair);
	return 0;
}

/* The firmware's own layout, until a user sets buffers: priorities with PFC
 * lie in buffer 1, which is lossless, all others in buffer 0, which is not.
 */
void labnic_buffers_follow_pfc(struct labnic_port *p)
{
	int i;

	if (p->dcb.manual_buffer)
		return;
	for (i = 0; i < LABNIC_PRIOS; i++)
		p->dcb.buffer.prio2buffer[i] = !!(p->dcb.pfc_en & BIT(i));
}

/* Imitates mlx5e_dcbnl_ieee_setpfc: a change of the enabled priorities takes
 * the link down and up again (mlx5_toggle_port_link).
 */
static int setpfc(struct net_device *dev, struct ieee_pfc *pfc)
{
	struct labnic_port *p = netdev_priv(dev);
	bool changed = pfc->pfc_en != p->dcb.pfc_en;

	labnic_lock(p->pair);
	p->dcb.pfc_en = pfc->pfc_en;
	labnic_congestion_update(p->pair);
	labnic_unlock(p->pair);
	if (pfc->delay && pfc->delay < MAX_CABLE_LEN)
		p->dcb.cable_len = pfc->delay;
	labnic_buffers_follow_pfc(p);
	if (changed && p->link.pfc_toggles_link)
		labnic_port_reset(p);
	return 0;
}

/* Imitates mlx5e_dcbnl_ieee_getets. */
static int getets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic_port *p = netdev_priv(dev);

	*ets = p->dcb.ets;
	return 0;
}

/* Imitates mlx5e_dbcnl_validate_ets: no credit shaper, and the shares of the
 * ETS classes add up to 100.
 */
static int valid_ets(const struct ieee_ets *ets)
{
	bool any = false;
	int i, sum = 0;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (ets->prio_tc[i] >= IEEE_8021QAZ_MAX_TCS)
			return -EINVAL;
		if (ets->tc_tsa[i] == IEEE_8021QAZ_TSA_CB_SHAPER)
			return -EOPNOTSUPP;
		if (ets->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			continue;
		any = true;
		sum += ets->tc_tx_bw[i];
	}
	return any && sum != 100 ? -EINVAL : 0;
}

/* Imitates mlx5e_dcbnl_ieee_setets. */
static int setets(struct net_device *dev, struct ieee_ets *ets)
{
	struct labnic_port *p = netdev_priv(dev);
	int i, err = valid_ets(ets);

	if (err)
		return err;
	memcpy(p->dcb.ets.prio_tc, ets->prio_tc, sizeof(ets->prio_tc));
	memcpy(p->dcb.ets.tc_tsa, ets->tc_tsa, sizeof(ets->tc_tsa));
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		p->dcb.ets.tc_tx_bw[i] =
			ets->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS ?
			ets->tc_tx_bw[i] : 0;
	return 0;
}

/* Imitates mlx5e_dcbnl_ieee_getmaxrate, kbit/s, 0: no limit. */
static int getmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	*rate = ((struct labnic_port *)netdev_priv(dev))->dcb.maxrate;
	return 0;
}

/* Imitates mlx5e_dcbnl_ieee_setmaxrate: units of 100 Mb/s up to 255 of them,
 * of 1 Gb/s above.
 */
static int setmaxrate(struct net_device *dev, struct ieee_maxrate *rate)
{
	struct labnic_port *p = netdev_priv(dev);
	u64 unit, kbps;
	int i;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		if (rate->tc_maxrate[i] > 255ULL * 1000000)
			return -EINVAL;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		kbps = rate->tc_maxrate[i];
		unit = kbps <= 255 * 100000 ? 100000 : 1000000;
		if (kbps)
			kbps = max(kbps / unit, 1ULL) * unit;
		p->dcb.maxrate.tc_maxrate[i] = kbps;
	}
	return 0;
}

/* Imitates mlx5e_dcbnl_getbuffer. */
static int getbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	*buffer = ((struct labnic_port *)netdev_priv(dev))->dcb.buffer;
	return 0;
}

/* Imitates mlx5e_dcbnl_setbuffer: from now on buffers stay as set. */
static int setbuffer(struct net_device *dev, struct dcbnl_buffer *buffer)
{
	struct labnic_port *p = netdev_priv(dev);
	u64 sum = 0;
	int i;

	for (i = 0; i < LABNIC_BUFFERS; i++) {
		if (buffer->prio2buffer[i] >= LABNIC_BUFFERS)
			return -EINVAL;
		sum += buffer->buffer_size[i];
	}
	if (sum > p->dcb.buffer.total_size)
		return -EINVAL;
	memcpy(p->dcb.buffer.prio2buffer, buffer->prio2buffer,
	       sizeof(buffer->prio2buffer));
	memcpy(p->dcb.buffer.buffer_size, buffer->buffer_size,
	       sizeof(buffer->buffer_size));
	p->dcb.manual_buffer = true;
	return 0;
}

/* Imitates mlx5e_dcbnl_getdcbx. */
static u8 getdcbx(struct net_device *dev)
{
	return ((struct labnic_port *)netdev_priv(dev))->dcb.dcbx;
}

/* Imitates mlx5e_dcbnl_setdcbx: mode 0 hands DCB to the firmware; any other
 * must name the host, and LLDP by a kernel agent is refused. 1 is failure.
 */
static u8 setdcbx(struct net_device *dev, u8 mode)
{
	struct labnic_port *p = netdev_priv(dev);

	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (!mode) {
		p->dcb.dcbx &= ~DCB_CAP_DCBX_HOST;
		return 0;
	}
	if (!(mode & DCB_CAP_DCBX_HOST))
		return 1;
	p->dcb.dcbx = mode;
	return 0;
}

static const struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getets = getets,
	.ieee_setets = setets,
	.ieee_getmaxrate = getmaxrate,
	.ieee_setmaxrate = setmaxrate,
	.ieee_getpfc = getpfc,
	.ieee_setpfc = setpfc,
	.ieee_setapp = labnic_setapp,
	.ieee_delapp = labnic_delapp,
	.getdcbx = getdcbx,
	.setdcbx = setdcbx,
	.dcbnl_getbuffer = getbuffer,
	.dcbnl_setbuffer = setbuffer,
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	.dcbnl_setapptrust = labnic_setapptrust,
	.dcbnl_getapptrust = labnic_getapptrust,
#endif
};

/* Factory state: no PFC, PCP trusted, all classes vendor-scheduled, the host
 * owns DCB. Imitates mlx5e_dcbnl_initialize and mlx5e_ets_init.
 */
void labnic_dcb_init(struct labnic_port *p)
{
	struct labnic_dcb *d = &p->dcb;
	int i;

	d->cable_len = CABLE_LEN;
	d->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE |
		  DCB_CAP_DCBX_VER_CEE;
	d->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		d->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		/* Priority 0 is class 1, priority 1 is class 0. */
		d->ets.prio_tc[i] = i < 2 ? !i : i;
	}
	d->buffer.buffer_size[0] = BUFFER_SIZE;
	d->buffer.buffer_size[1] = BUFFER_SIZE;
	d->buffer.total_size = 2 * BUFFER_SIZE;
	labnic_buffers_follow_pfc(p);
	p->dev->dcbnl_ops = &dcb_ops;
}
