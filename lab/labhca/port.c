// SPDX-License-Identifier: GPL-2.0
/*
 * What a port says of itself. Without a netdev it is an InfiniBand port (or
 * EFA's, which is neither), all of it by knobs; with one it is a RoCE port,
 * whose state, speed and MTU are the netdev's.
 */
#include <rdma/ib_mad.h>

#include "labhca.h"

/* The capabilities of a ConnectX port on a fabric with OpenSM. */
#define CAP_MASK 0x2651e848

/* Factory state: an HDR port that a subnet manager has brought up. */
void labhca_port_init(struct labhca_port *p)
{
	struct labhca *hca = p->hca;

	p->state = IB_PORT_ACTIVE;
	p->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	p->width = IB_WIDTH_4X;
	p->speed = IB_SPEED_HDR;
	p->max_mtu = IB_MTU_4096;
	p->active_mtu = IB_MTU_4096;
	p->lid = 16 * (hca->index + 1) + p->number;
	p->sm_lid = 1;
	p->cap_mask = CAP_MASK;
	p->pkeys[0] = IB_DEFAULT_PKEY_FULL;
	p->gid_prefix = cpu_to_be64(0xfe80000000000000ULL);
	p->guid = cpu_to_be64(be64_to_cpu(hca->node_guid) + p->number - 1);
	labhca_clock_init(&p->clock);
	labhca_port_counting(p);
}

/* Counters grow while the link is up. */
void labhca_port_counting(struct labhca_port *p)
{
	bool up = p->phys_state == IB_PORT_PHYS_STATE_LINK_UP;
	int i;

	if (p->roce)
		up = p->netdev_active;
	labhca_clock_lock(&p->clock);
	if (p->clock.runs != up) {
		for (i = 0; i < LABHCA_PMA; i++)
			labhca_count_settle(&p->clock, &p->pma[i]);
		for (i = 0; i < LABHCA_HW; i++)
			labhca_count_settle(&p->clock, &p->hw[i]);
		if (!up)
			p->pma[LABHCA_PMA_LINK_DOWNED].base++;
		p->clock.runs = up;
	}
	labhca_clock_unlock(&p->clock);
}

static int gids(const struct labhca_port *p)
{
	return p->roce ? labhca_roce_gids : LABHCA_IB_GIDS;
}

/* Imitates mlx5_ib_query_port. */
static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	struct labhca_port *p = labhca_port_of(ib, port);

	labhca_hang(p->hca, &p->hca->hang_query_port);
	attr->gid_tbl_len = gids(p);
	attr->pkey_tbl_len = LABHCA_PKEYS;
	attr->max_msg_sz = 1 << 30;
	attr->port_cap_flags = p->cap_mask;
	attr->max_vl_num = 4;
	if (p->roce)
		return labhca_netdev_query(p, ib, attr);
	attr->state = p->state;
	attr->phys_state = p->phys_state;
	attr->max_mtu = p->max_mtu;
	attr->active_mtu = p->active_mtu;
	attr->lid = p->lid;
	attr->lmc = p->lmc;
	attr->sm_lid = p->sm_lid;
	attr->sm_sl = p->sm_sl;
	attr->active_width = p->width;
	attr->active_speed = p->speed;
	return 0;
}

/* Imitates mlx5_port_immutable, less datagrams: there is no queue pair that
 * could carry them, so the port has no umad and no subnet client either.
 */
static int port_immutable(struct ib_device *ib, u32 port,
			  struct ib_port_immutable *immutable)
{
	struct labhca_port *p = labhca_port_of(ib, port);

	immutable->pkey_tbl_len = LABHCA_PKEYS;
	immutable->gid_tbl_len = gids(p);
	if (p->roce)
		immutable->core_cap_flags = RDMA_CORE_CAP_PROT_ROCE |
			(labhca_roce_v2 ? RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP : 0) |
			RDMA_CORE_CAP_AF_IB | RDMA_CORE_CAP_ETH_AH;
	else if (!labhca_family->efa)
		immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	return 0;
}

/* Imitates mlx5_ib_query_pkey. */
static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	if (index >= LABHCA_PKEYS)
		return -EINVAL;
	*pkey = labhca_port_of(ib, port)->pkeys[index];
	return 0;
}

/* Imitates mlx5_ib_query_gid: the first GID is of prefix and port GUID, the
 * others of the prefix alone (the kernel takes the port's subnet prefix from
 * the last one). A RoCE port's GIDs are the core's affair.
 */
static int query_gid(struct ib_device *ib, u32 port, int index,
		     union ib_gid *gid)
{
	struct labhca_port *p = labhca_port_of(ib, port);

	memset(gid, 0, sizeof(*gid));
	gid->global.subnet_prefix = p->gid_prefix;
	if (index == 0)
		gid->global.interface_id = p->guid;
	return 0;
}

/* Imitates mlx5_ib_port_link_layer. */
static enum rdma_link_layer link_layer(struct ib_device *ib, u32 port)
{
	if (labhca_port_of(ib, port)->roce)
		return IB_LINK_LAYER_ETHERNET;
	return labhca_family->efa ? IB_LINK_LAYER_UNSPECIFIED :
				    IB_LINK_LAYER_INFINIBAND;
}

const struct ib_device_ops labhca_port_ops = {
	.query_port = query_port,
	.get_port_immutable = port_immutable,
	.query_pkey = query_pkey,
	.query_gid = query_gid,
	.get_link_layer = link_layer,
};
