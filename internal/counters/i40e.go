package counters

// i40e are the counters of i40e. Source: drivers/net/ethernet/intel/i40e/i40e_ethtool.c.
var i40e = register(Ethtool, []Counter{
	{"port.rx_dropped", CongestionRX, RX, "packets", 64, false},
	{"port.rx_crc_errors", Physical, RX, "packets", 64, false},
	{"port.illegal_bytes", Physical, RX, "bytes", 64, false},
	{"port.mac_local_faults", LinkDown, RX, "events", 64, false},
	{"port.mac_remote_faults", LinkDown, TX, "events", 64, false},
	{"port.tx_dropped_link_down", LinkDown, TX, "packets", 64, false},
	{"port.tx_timeout", Firmware, TX, "events", 64, false},
	{"port.rx_length_errors", Length, RX, "packets", 64, false},
	{"port.link_xoff_rx", CongestionTX, RX, "frames", 64, false},
	{"port.link_xon_rx", CongestionTX, RX, "frames", 64, false},
	{"port.link_xoff_tx", CongestionRX, TX, "frames", 64, false},
	{"port.link_xon_tx", CongestionRX, TX, "frames", 64, false},
	{"port.tx_errors", Local, TX, "packets", 64, false},
})
