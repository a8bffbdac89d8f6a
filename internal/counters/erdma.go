package counters

// erdma are the counters of erdma. Source: drivers/infiniband/hw/erdma/erdma_verbs.c.
var erdma = register(Device, []Counter{
	{"tx_reqs_cnt", Traffic, TX, "requests", 64, false},
	{"tx_packets_cnt", Traffic, TX, "packets", 64, false},
	{"tx_bytes_cnt", Traffic, TX, "bytes", 64, false},
	{"tx_disable_drop_cnt", Config, TX, "packets", 64, false},
	{"tx_bps_limit_drop_cnt", RateLimit, TX, "packets", 64, false},
	{"tx_pps_limit_drop_cnt", RateLimit, TX, "packets", 64, false},
	{"rx_packets_cnt", Traffic, RX, "packets", 64, false},
	{"rx_bytes_cnt", Traffic, RX, "bytes", 64, false},
	{"rx_disable_drop_cnt", Config, RX, "packets", 64, false},
	{"rx_bps_limit_drop_cnt", RateLimit, RX, "packets", 64, false},
	{"rx_pps_limit_drop_cnt", RateLimit, RX, "packets", 64, false},
})
