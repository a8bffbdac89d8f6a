package counters

// ice are the counters of ice. Source: drivers/net/ethernet/intel/ice/ice_ethtool.c.
var ice = register(Ethtool, []Counter{
	{"rx_dropped.nic", CongestionRX, RX, "packets", 64, false},
	{"rx_crc_errors.nic", Physical, RX, "packets", 64, false},
	{"illegal_bytes.nic", Physical, RX, "bytes", 64, false},
	{"rx_oversize.nic", Length, RX, "packets", 64, false},
	{"rx_undersize.nic", Physical, RX, "packets", 64, false},
	{"rx_fragments.nic", Physical, RX, "packets", 64, false},
	{"rx_jabber.nic", Physical, RX, "packets", 64, false},
	{"rx_length_errors.nic", Length, RX, "packets", 64, false},
	{"mac_local_faults.nic", LinkDown, RX, "events", 64, false},
	{"mac_remote_faults.nic", LinkDown, TX, "events", 64, false},
	{"tx_dropped_link_down.nic", LinkDown, TX, "packets", 64, false},
	{"tx_errors.nic", Local, TX, "packets", 64, false},
	{"tx_timeout.nic", Firmware, TX, "events", 64, false},
	{"link_xon_rx.nic", CongestionTX, RX, "frames", 64, false},
	{"link_xoff_rx.nic", CongestionTX, RX, "frames", 64, false},
	{"link_xon_tx.nic", CongestionRX, TX, "frames", 64, false},
	{"link_xoff_tx.nic", CongestionRX, TX, "frames", 64, false},
	{"rx_priority_#_xoff.nic", CongestionTX, RX, "frames", 64, false},
	{"rx_priority_#_xon.nic", CongestionTX, RX, "frames", 64, false},
	{"tx_priority_#_xoff.nic", CongestionRX, TX, "frames", 64, false},
	{"tx_priority_#_xon.nic", CongestionRX, TX, "frames", 64, false},
	{"rx_alloc_fail", Resource, RX, "events", 64, false},
})
