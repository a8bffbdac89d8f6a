// SPDX-License-Identifier: GPL-2.0
/*
 * The data path: a frame sent by one end is counted by both and received by
 * the other, unless that end is congested or cannot take its size.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include "labnic.h"

#define ROCE_V2_PORT 4791

struct frame {
	u32 bytes;      /* as the host sees it */
	u32 wire;       /* with padding and checksum */
	bool multicast, broadcast, roce;
};

/* Whether this is RoCE v2: UDP to port 4791 in IP, at any VLAN depth of one. */
static bool is_roce(const struct sk_buff *skb, const struct ethhdr *eth)
{
	__be16 proto = eth->h_proto;
	int offset = ETH_HLEN;
	struct udphdr ucopy;
	const struct udphdr *udp;
	u8 next;

	if (proto == htons(ETH_P_8021Q)) {
		struct vlan_hdr copy;
		const struct vlan_hdr *vlan;

		vlan = skb_header_pointer(skb, offset, sizeof(copy), &copy);
		if (!vlan)
			return false;
		proto = vlan->h_vlan_encapsulated_proto;
		offset += VLAN_HLEN;
	}
	if (proto == htons(ETH_P_IP)) {
		struct iphdr copy;
		const struct iphdr *ip;

		ip = skb_header_pointer(skb, offset, sizeof(copy), &copy);
		if (!ip)
			return false;
		next = ip->protocol;
		offset += ip->ihl * 4;
	} else if (proto == htons(ETH_P_IPV6)) {
		struct ipv6hdr copy;
		const struct ipv6hdr *ip;

		ip = skb_header_pointer(skb, offset, sizeof(copy), &copy);
		if (!ip)
			return false;
		next = ip->nexthdr;
		offset += sizeof(copy);
	} else {
		return false;
	}
	if (next != IPPROTO_UDP)
		return false;
	udp = skb_header_pointer(skb, offset, sizeof(ucopy), &ucopy);
	return udp && udp->dest == htons(ROCE_V2_PORT);
}

static void look(const struct sk_buff *skb, struct frame *f)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;

	f->bytes = skb->len;
	f->wire = max_t(u32, skb->len, ETH_ZLEN) + ETH_FCS_LEN;
	f->broadcast = is_broadcast_ether_addr(eth->h_dest);
	f->multicast = !f->broadcast && is_multicast_ether_addr(eth->h_dest);
	f->roce = !f->broadcast && !f->multicast && is_roce(skb, eth);
}

/* Adds a frame to a pair of counters, packets and bytes. */
static void add(struct labnic_port *p, int packets, int bytes, u32 n)
{
	labnic_count_add(p, packets, 1);
	labnic_count_add(p, bytes, n);
}

static void count_tx(struct labnic_port *p, const struct frame *f, int prio)
{
	add(p, LN_TX_PACKETS, LN_TX_BYTES, f->bytes);
	if (f->broadcast)
		add(p, LN_TX_VPORT_BC_PACKETS, LN_TX_VPORT_BC_BYTES, f->bytes);
	else if (f->multicast)
		add(p, LN_TX_VPORT_MC_PACKETS, LN_TX_VPORT_MC_BYTES, f->bytes);
	else if (f->roce)
		add(p, LN_TX_VPORT_RDMA_PACKETS, LN_TX_VPORT_RDMA_BYTES,
		    f->bytes);
	else
		add(p, LN_TX_VPORT_UC_PACKETS, LN_TX_VPORT_UC_BYTES, f->bytes);
	add(p, LN_TX_PACKETS_PHY, LN_TX_BYTES_PHY, f->wire);
	add(p, labnic_prio_index(prio, LN_PRIO_TX_PACKETS),
	    labnic_prio_index(prio, LN_PRIO_TX_BYTES), f->wire);
}

static void count_rx(struct labnic_port *p, const struct frame *f, int prio)
{
	add(p, LN_RX_PACKETS, LN_RX_BYTES, f->bytes);
	if (f->broadcast)
		add(p, LN_RX_VPORT_BC_PACKETS, LN_RX_VPORT_BC_BYTES, f->bytes);
	else if (f->multicast)
		add(p, LN_RX_VPORT_MC_PACKETS, LN_RX_VPORT_MC_BYTES, f->bytes);
	else if (f->roce)
		add(p, LN_RX_VPORT_RDMA_PACKETS, LN_RX_VPORT_RDMA_BYTES,
		    f->bytes);
	else
		add(p, LN_RX_VPORT_UC_PACKETS, LN_RX_VPORT_UC_BYTES, f->bytes);
	add(p, LN_RX_PACKETS_PHY, LN_RX_BYTES_PHY, f->wire);
	add(p, labnic_prio_index(prio, LN_PRIO_RX_PACKETS),
	    labnic_prio_index(prio, LN_PRIO_RX_BYTES), f->wire);
}

/* Whether the receiver takes the frame; counts it either way. */
static bool accept(struct labnic_port *p, const struct frame *f, int prio)
{
	if (f->bytes > READ_ONCE(p->dev->mtu) + ETH_HLEN + VLAN_HLEN) {
		labnic_count_add(p, LN_RX_OVERSIZE_PHY, 1);
		return false;
	}
	if (labnic_congestion_drops(p, prio)) {
		labnic_count_add(p, labnic_prio_index(prio,
				 LN_PRIO_RX_DISCARDS), 1);
		labnic_count_add(p, LN_RX_DISCARDS_PHY, 1);
		return false;
	}
	count_rx(p, f, prio);
	return true;
}

/* Each end gives the frame a priority by its own trust: the sender's decides
 * what it counts as sent, the receiver's which buffer it falls into.
 */
netdev_tx_t labnic_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct labnic_port *p = netdev_priv(dev);
	struct labnic_port *peer = p->peer;
	struct frame f;
	bool taken;

	look(skb, &f);
	spin_lock(&p->pair->lock);
	count_tx(p, &f, labnic_prio(p, skb));
	taken = accept(peer, &f, labnic_prio(peer, skb));
	spin_unlock(&p->pair->lock);
	if (taken)
		dev_forward_skb(peer->dev, skb);
	else
		kfree_skb(skb);
	return NETDEV_TX_OK;
}
