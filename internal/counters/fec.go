package counters

// fec are the counters of ETHTOOL_A_FEC_STATS. Source:
// Documentation/networking/ethtool-netlink.rst and struct ethtool_fec_stats.
var fec = register(FEC, []Counter{
	{"corrected_blocks", Physical, RX, "blocks", 64, false},
	{"uncorrectable_blocks", Physical, RX, "blocks", 64, false},
	{"corrected_bits", Physical, RX, "bits", 64, false},
})
