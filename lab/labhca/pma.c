// SPDX-License-Identifier: GPL-2.0
/*
 * counters/: sysfs reads them with Performance Management datagrams, which
 * process_mad answers. The fields have few bits and stick at their maximum.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>

#include "labhca.h"

/* Where the attribute lies in a datagram, and a counter in the attribute:
 * bits from its start. A test compares these with PORT_PMA_ATTR in the kernel.
 */
#define PMA_DATA 40

struct field {
	const char *name;
	int width, offset;
};

static const struct field fields[LABHCA_PMA] = {
	{ "symbol_error", 16, 32 },
	{ "link_error_recovery", 8, 48 },
	{ "link_downed", 8, 56 },
	{ "port_rcv_errors", 16, 64 },
	{ "port_rcv_remote_physical_errors", 16, 80 },
	{ "port_rcv_switch_relay_errors", 16, 96 },
	{ "port_xmit_discards", 16, 112 },
	{ "port_xmit_constraint_errors", 8, 128 },
	{ "port_rcv_constraint_errors", 8, 136 },
	{ "local_link_integrity_errors", 4, 152 },
	{ "excessive_buffer_overrun_errors", 4, 156 },
	{ "VL15_dropped", 16, 176 },
	{ "port_xmit_data", 32, 192 },
	{ "port_rcv_data", 32, 224 },
	{ "port_xmit_packets", 32, 256 },
	{ "port_rcv_packets", 32, 288 },
	{ "port_xmit_wait", 32, 320 },
	{ "unicast_xmit_packets" },
	{ "unicast_rcv_packets" },
	{ "multicast_xmit_packets" },
	{ "multicast_rcv_packets" },
};

/* The extended attribute: eight counters of 64 bits one after the other. */
#define EXT_OFFSET 64
static const int ext_fields[] = { 12, 13, 14, 15, 17, 18, 19, 20 };

const char *labhca_pma_name(int i)
{
	return fields[i].name;
}

/* Big endian, at any address: the header of the kernel's own functions for
 * it has another name in 6.12.
 */
static void put_be(u8 *at, int bytes, u64 value)
{
	while (bytes--) {
		at[bytes] = value;
		value >>= 8;
	}
}

static void put(u8 *data, const struct field *f, u64 value)
{
	u8 *at = data + f->offset / 8;

	value = min(value, (1ULL << f->width) - 1);
	if (f->width == 4)
		*at |= value << (4 - f->offset % 8);
	else
		put_be(at, f->width / 8, value);
}

static void port_counters(struct labhca_port *p, u8 *data)
{
	int i;

	for (i = 0; i < LABHCA_PMA; i++)
		if (fields[i].width)
			put(data, &fields[i],
			    labhca_count_value(&p->clock, &p->pma[i]));
}

static void port_counters_ext(struct labhca_port *p, u8 *data)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(ext_fields); i++)
		put_be(data + EXT_OFFSET / 8 + 8 * i, 8,
		       labhca_count_value(&p->clock, &p->pma[ext_fields[i]]));
}

/* Imitates mlx5_ib_process_mad for Performance Management; the parameter
 * ext_counters=0 makes an adapter that has the narrow counters only.
 */
static int process_mad(struct ib_device *ib, int flags, u32 port,
		       const struct ib_wc *wc, const struct ib_grh *grh,
		       const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *out_pkey_index)
{
	struct labhca *hca = labhca_of(ib);
	struct labhca_port *p = labhca_port_of(ib, port);
	struct ib_class_port_info *info;
	u8 *data = out->data + PMA_DATA;

	if (in->mad_hdr.mgmt_class != IB_MGMT_CLASS_PERF_MGMT)
		return IB_MAD_RESULT_FAILURE;
	labhca_hang(hca, &hca->hang_counters);
	out->mad_hdr = in->mad_hdr;
	memset(out->data, 0, sizeof(out->data));
	labhca_clock_lock(&p->clock);
	switch (in->mad_hdr.attr_id) {
	case IB_PMA_CLASS_PORT_INFO:
		info = (void *)data;
		if (labhca_ext_counters)
			info->capability_mask = IB_PMA_CLASS_CAP_EXT_WIDTH;
		break;
	case IB_PMA_PORT_COUNTERS:
		port_counters(p, data);
		break;
	case IB_PMA_PORT_COUNTERS_EXT:
		port_counters_ext(p, data);
		break;
	}
	labhca_clock_unlock(&p->clock);
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

const struct ib_device_ops labhca_pma_ops = {
	.process_mad = process_mad,
};
