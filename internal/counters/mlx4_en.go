package counters

// mlx4en are the counters of mlx4_en. Source: drivers/net/ethernet/mellanox/mlx4/en_ethtool.c.
var mlx4en = register(Ethtool, []Counter{
	{"rx_crc_errors", Physical, RX, "packets", 64, false},
	{"rx_dropped", CongestionRX, RX, "packets", 64, false},
	{"rx_length_errors", Length, RX, "packets", 64, false},
	{"rx_over_errors", CongestionRX, RX, "packets", 64, false},
	{"rx_fifo_errors", CongestionRX, RX, "packets", 64, false},
	{"rx_missed_errors", CongestionRX, RX, "packets", 64, false},
	{"rx_pause_prio_#", CongestionTX, RX, "frames", 64, false},
	{"rx_pause_duration_prio_#", CongestionTX, RX, "microseconds", 64, false},
	{"rx_pause_transition_prio_#", CongestionTX, RX, "events", 64, false},
	{"tx_pause_prio_#", CongestionRX, TX, "frames", 64, false},
	{"tx_pause_duration_prio_#", CongestionRX, TX, "microseconds", 64, false},
	{"tx_pause_transition_prio_#", CongestionRX, TX, "events", 64, false},
	{"rx_pause", CongestionTX, RX, "frames", 64, false},
	{"rx_pause_duration", CongestionTX, RX, "microseconds", 64, false},
	{"tx_pause", CongestionRX, TX, "frames", 64, false},
	{"tx_pause_duration", CongestionRX, TX, "microseconds", 64, false},
	{"rx_prio_#_packets", Traffic, RX, "packets", 64, false},
	{"tx_prio_#_packets", Traffic, TX, "packets", 64, false},
	{"rx_novlan_packets", Traffic, RX, "packets", 64, false},
})
