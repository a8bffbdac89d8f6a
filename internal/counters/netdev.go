package counters

// netdev are fields of struct rtnl_link_stats64 that tell of a link. Source:
// include/uapi/linux/if_link.h. Hardware RDMA is in those of the physical port
// only.
var netdev = register(Netdev, []Counter{
	{"rx_crc_errors", Physical, RX, "packets", 64, false},
	{"rx_frame_errors", Physical, RX, "packets", 64, false},
	{"rx_length_errors", Length, RX, "packets", 64, false},
	{"rx_missed_errors", CongestionRX, RX, "packets", 64, false},
	{"rx_over_errors", CongestionRX, RX, "packets", 64, false},
	{"rx_fifo_errors", CongestionRX, RX, "packets", 64, false},
	{"rx_dropped", Software, RX, "packets", 64, false},
})
