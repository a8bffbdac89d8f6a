package counters

// rxe are the counters of rdma_rxe. Source: drivers/infiniband/sw/rxe/rxe_hw_counters.c.
var rxe = register(Device, []Counter{
	{"sent_pkts", Traffic, TX, "packets", 64, false},
	{"rcvd_pkts", Traffic, RX, "packets", 64, false},
	{"duplicate_request", Loss, RX, "packets", 64, false},
	{"out_of_seq_request", Reordering, RX, "packets", 64, false},
	{"rcvd_rnr_err", ReceiveNotReady, TX, "events", 64, false},
	{"send_rnr_err", ReceiveNotReady, RX, "events", 64, false},
	{"rcvd_seq_err", Loss, TX, "events", 64, false},
	{"ack_deferred", Software, TX, "events", 64, false},
	{"retry_exceeded_err", Timeout, TX, "QPs", 64, false},
	{"retry_rnr_exceeded_err", ReceiveNotReady, TX, "QPs", 64, false},
	{"completer_retry_err", Loss, TX, "events", 64, false},
	{"send_err", Config, TX, "events", 64, false},
	{"link_downed", LinkDown, Both, "events", 64, false},
	{"rdma_sends", Traffic, TX, "WQEs", 64, false},
	{"rdma_recvs", Traffic, RX, "WQEs", 64, false},
})
