// SPDX-License-Identifier: GPL-2.0
/*
 * The names of hw_counters by driver: those that the driver has in all kernels
 * that the lab boots. A test compares each with the driver's own source.
 */
#include "labhca.h"

/* mlx5_ib_fill_counters, on an adapter with all capabilities. */
static const char *const mlx5_port[] = {
	"rx_write_requests", "rx_read_requests", "rx_atomic_requests",
	"out_of_buffer", "out_of_sequence", "duplicate_request",
	"rnr_nak_retry_err", "packet_seq_err", "implied_nak_seq_err",
	"local_ack_timeout_err", "resp_local_length_error", "resp_cqe_error",
	"req_cqe_error", "req_remote_invalid_request",
	"req_remote_access_errors", "resp_remote_access_errors",
	"resp_cqe_flush_error", "req_cqe_flush_error", "roce_adp_retrans",
	"roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_cnps",
	"roce_slow_restart_trans", "rp_cnp_ignored", "rp_cnp_handled",
	"np_ecn_marked_roce_packets", "np_cnp_sent", "rx_icrc_encapsulated",
	NULL
};

/* bnxt_re_stat_descs. */
static const char *const bnxt_re_port[] = {
	"active_pds", "active_ahs", "active_qps", "active_srqs", "active_cqs",
	"active_mrs", "active_mws", "rx_pkts", "rx_bytes", "tx_pkts",
	"tx_bytes", "recoverable_errors", "rx_roce_errors", "rx_roce_discards",
	"to_retransmits", "seq_err_naks_rcvd", "max_retry_exceeded",
	"rnr_naks_rcvd", "missing_resp", "unrecoverable_err", "bad_resp_err",
	"local_qp_op_err", "local_protection_err", "mem_mgmt_op_err",
	"remote_invalid_req_err", "remote_access_err", "remote_op_err",
	"dup_req", "res_exceed_max", "res_length_mismatch",
	"res_exceeds_wqe", "res_opcode_err", "res_rx_invalid_rkey",
	"res_rx_domain_err", "res_rx_no_perm", "res_rx_range_err",
	"res_tx_invalid_rkey", "res_tx_domain_err", "res_tx_no_perm",
	"res_tx_range_err", "res_irrq_oflow", "res_unsup_opcode",
	"res_unaligned_atomic", "res_rem_inv_err", "res_mem_err",
	"res_srq_err", "res_cmp_err", "res_invalid_dup_rkey",
	"res_wqe_format_err", "res_cq_load_err", "res_srq_load_err",
	"res_tx_pci_err", "res_rx_pci_err", "oos_drop_count",
	"tx_atomic_req", "tx_read_req", "tx_read_resp", "tx_write_req",
	"tx_send_req", "rx_atomic_req", "rx_read_req", "rx_read_resp",
	"rx_write_req", "rx_send_req", "rx_roce_good_pkts",
	"rx_roce_good_bytes", "rx_out_of_buffer", NULL
};

/* What irdma_alloc_hw_port_stats hands out. */
static const char *const irdma_port[] = {
	"rxVlanErrors", "ip4InDiscards", "ip4InTruncatedPkts",
	"ip4OutNoRoutes", "ip6InDiscards", "ip6InTruncatedPkts",
	"ip6OutNoRoutes", "tcpRetransSegs", "tcpInOptErrors",
	"tcpInProtoErrors", "ip4InOctets", "ip4InPkts", "ip4InReasmRqd",
	"ip4InMcastPkts", "ip4OutOctets", "ip4OutPkts", "ip4OutSegRqd",
	"ip4OutMcastPkts", "ip6InOctets", "ip6InPkts", "ip6InReasmRqd",
	"ip6InMcastPkts", "ip6OutOctets", "ip6OutPkts", "ip6OutSegRqd",
	"ip6OutMcastPkts", "tcpInSegs", "tcpOutSegs", "cnpHandled",
	"cnpIgnored", "cnpSent", NULL
};

/* EFA_DEFINE_PORT_STATS. */
static const char *const efa_port[] = {
	"tx_bytes", "tx_pkts", "rx_bytes", "rx_pkts", "rx_drops",
	"send_bytes", "send_wrs", "recv_bytes", "recv_wrs", "rdma_read_wrs",
	"rdma_read_bytes", "rdma_read_wr_err", "rdma_read_resp_bytes", NULL
};

/* EFA_DEFINE_DEVICE_STATS. */
static const char *const efa_device[] = {
	"submitted_cmds", "completed_cmds", "cmds_err", "no_completion_cmds",
	"keep_alive_rcvd", "alloc_pd_err", "create_qp_err", "create_cq_err",
	"reg_mr_err", "alloc_ucontext_err", "create_ah_err", "mmap_err", NULL
};

const struct labhca_family labhca_families[] = {
	{ .name = "mlx5", .pma = true, .port_names = mlx5_port },
	{ .name = "bnxt_re", .port_names = bnxt_re_port },
	{ .name = "irdma", .port_names = irdma_port },
	{ .name = "efa", .efa = true, .port_names = efa_port,
	  .device_names = efa_device },
	{}
};
