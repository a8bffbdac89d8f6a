// SPDX-License-Identifier: GPL-2.0
/*
 * Which priority a frame rides. mlx5 has no command for the trust mode: it
 * trusts DSCP while the APP table has any DSCP entry, else PCP. Kernels from
 * 6.2 on have a command (apptrust), which mlx5 does not answer; the module
 * parameter apptrust=1 makes labnic answer it, as sparx5 does.
 */
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/dsfield.h>

#include "labnic.h"

/* What 6.1's headers do not have. */
#ifndef DCB_APP_SEL_PCP
#define DCB_APP_SEL_PCP 255
#endif

/* Imitates mlx5e_dcbnl_ieee_setapp: DSCP entries only, one a DSCP. */
int labnic_setapp(struct net_device *dev, struct dcb_app *app)
{
	struct labnic_port *p = netdev_priv(dev);
	struct dcb_app old = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP ||
	    app->protocol >= LABNIC_DSCPS)
		return -EINVAL;
	old.protocol = app->protocol;
	old.priority = p->dcb.dscp2prio[app->protocol];
	if (dcb_ieee_delapp(dev, &old) == 0)
		p->dcb.dscp_apps--;
	err = dcb_ieee_setapp(dev, app);
	if (err)
		return err;
	p->dcb.dscp2prio[app->protocol] = app->priority;
	p->dcb.dscp_apps++;
	return 0;
}

/* Imitates mlx5e_dcbnl_ieee_delapp: the DSCP falls back to priority 0, and
 * with the last entry the port trusts PCP again.
 */
int labnic_delapp(struct net_device *dev, struct dcb_app *app)
{
	struct labnic_port *p = netdev_priv(dev);
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP ||
	    app->protocol >= LABNIC_DSCPS)
		return -EINVAL;
	if (!p->dcb.dscp_apps ||
	    app->priority != p->dcb.dscp2prio[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(dev, app);
	if (err)
		return err;
	p->dcb.dscp2prio[app->protocol] = 0;
	p->dcb.dscp_apps--;
	return 0;
}

/* Imitates sparx5_dcb_setapptrust: DSCP, PCP, both in that order, or none. */
int labnic_setapptrust(struct net_device *dev, u8 *selectors, int n)
{
	struct labnic_port *p = netdev_priv(dev);
	int i;

	if (!labnic_apptrust)
		return -EOPNOTSUPP;
	if (n > ARRAY_SIZE(p->dcb.trust))
		return -EOPNOTSUPP;
	for (i = 0; i < n; i++)
		if (selectors[i] != IEEE_8021QAZ_APP_SEL_DSCP &&
		    selectors[i] != DCB_APP_SEL_PCP)
			return -EOPNOTSUPP;
	memcpy(p->dcb.trust, selectors, n);
	p->dcb.ntrust = n;
	return 0;
}

/* Imitates sparx5_dcb_getapptrust. */
int labnic_getapptrust(struct net_device *dev, u8 *selectors, int *n)
{
	struct labnic_port *p = netdev_priv(dev);

	if (!labnic_apptrust)
		return -EOPNOTSUPP;
	memcpy(selectors, p->dcb.trust, p->dcb.ntrust);
	*n = p->dcb.ntrust;
	return 0;
}

static bool trusts(const struct labnic_port *p, u8 selector)
{
	int i;

	if (!labnic_apptrust)
		return (selector == DCB_APP_SEL_PCP) == !p->dcb.dscp_apps;
	for (i = 0; i < p->dcb.ntrust; i++)
		if (p->dcb.trust[i] == selector)
			return true;
	return false;
}

/* The VLAN priority and the DSCP of a frame, -1 where it has none. */
static void markings(const struct sk_buff *skb, int *pcp, int *dscp)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	__be16 proto = eth->h_proto;
	int offset = ETH_HLEN;

	*pcp = -1;
	*dscp = -1;
	if (skb_vlan_tag_present(skb))
		*pcp = skb_vlan_tag_get_prio(skb);
	if (proto == htons(ETH_P_8021Q)) {
		struct vlan_hdr copy;
		const struct vlan_hdr *vlan;

		vlan = skb_header_pointer(skb, offset, sizeof(copy), &copy);
		if (!vlan)
			return;
		*pcp = ntohs(vlan->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
		proto = vlan->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (proto == htons(ETH_P_IP)) {
		struct iphdr copy;
		const struct iphdr *ip;

		ip = skb_header_pointer(skb, offset, sizeof(copy), &copy);
		if (ip)
			*dscp = ipv4_get_dsfield(ip) >> 2;
	} else if (proto == htons(ETH_P_IPV6)) {
		struct ipv6hdr copy;
		const struct ipv6hdr *ip;

		ip = skb_header_pointer(skb, offset, sizeof(copy), &copy);
		if (ip)
			*dscp = ipv6_get_dsfield(ip) >> 2;
	}
}

/* The priority that a port gives a frame: by DSCP if that is trusted and the
 * frame is IP, else by PCP if that is, else 0.
 */
int labnic_prio(struct labnic_port *p, const struct sk_buff *skb)
{
	int pcp, dscp;

	markings(skb, &pcp, &dscp);
	if (dscp >= 0 && trusts(p, IEEE_8021QAZ_APP_SEL_DSCP))
		return p->dcb.dscp2prio[dscp];
	if (pcp >= 0 && trusts(p, DCB_APP_SEL_PCP))
		return pcp;
	return 0;
}
