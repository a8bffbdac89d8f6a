package counters

// mlx4 are the counters of mlx4_ib. Source: drivers/infiniband/hw/mlx4/main.c, diag_basic and
// diag_ext.
var mlx4 = register(Device, []Counter{
	{"rq_num_lle", Length, RX, "events", 32, false},
	{"sq_num_lle", Length, TX, "events", 32, false},
	{"rq_num_lqpoe", Local, RX, "events", 32, false},
	{"sq_num_lqpoe", Local, TX, "events", 32, false},
	{"rq_num_lpe", Access, RX, "events", 32, false},
	{"sq_num_lpe", Access, TX, "events", 32, false},
	{"rq_num_wrfe", Flush, RX, "completions", 32, false},
	{"sq_num_wrfe", Flush, TX, "completions", 32, false},
	{"sq_num_mwbe", Access, TX, "events", 32, false},
	{"sq_num_bre", Local, TX, "events", 32, false},
	{"sq_num_rire", InvalidRequest, TX, "events", 32, false},
	{"rq_num_rire", InvalidRequest, RX, "events", 32, false},
	{"sq_num_rae", Access, TX, "events", 32, false},
	{"rq_num_rae", Access, RX, "events", 32, false},
	{"sq_num_roe", RemoteOperation, TX, "events", 32, false},
	{"sq_num_tree", Timeout, TX, "events", 32, false},
	{"sq_num_rree", ReceiveNotReady, TX, "events", 32, false},
	{"rq_num_rnr", ReceiveNotReady, RX, "events", 32, false},
	{"sq_num_rnr", ReceiveNotReady, TX, "events", 32, false},
	{"rq_num_oos", Reordering, RX, "events", 32, false},
	{"sq_num_oos", Loss, TX, "events", 32, false},
	{"rq_num_dup", Loss, RX, "packets", 32, false},
	{"sq_num_to", Timeout, TX, "events", 32, false},
	{"num_cqovf", Resource, None, "events", 32, false},
	{"rq_num_udsdprd", ReceiveNotReady, RX, "packets", 32, false},
})
