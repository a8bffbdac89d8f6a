package counters

// pma are the counters of PMA port counters, ports/N/counters of any driver with process_mad.
// Source: drivers/infiniband/core/sysfs.c and
// Documentation/ABI/stable/sysfs-class-infiniband. Errors stick at their
// maximum. The collector has made octets of the data counters.
var pma = register(Port, []Counter{
	{"symbol_error", Physical, RX, "symbols", 16, true},
	{"link_error_recovery", Physical, Both, "events", 8, true},
	{"link_downed", LinkDown, Both, "events", 8, true},
	{"port_rcv_errors", Physical, RX, "packets", 16, true},
	{"port_rcv_remote_physical_errors", PhysicalUpstream, RX, "packets", 16, true},
	{"port_rcv_switch_relay_errors", Routing, RX, "packets", 16, true},
	{"port_xmit_discards", CongestionTX, TX, "packets", 16, true},
	{"port_xmit_constraint_errors", Partition, TX, "packets", 8, true},
	{"port_rcv_constraint_errors", Partition, RX, "packets", 8, true},
	{"local_link_integrity_errors", Physical, RX, "events", 4, true},
	{"excessive_buffer_overrun_errors", Buffer, RX, "events", 4, true},
	{"VL15_dropped", Management, RX, "packets", 16, true},
	{"port_xmit_data", Traffic, TX, "bytes", 64, false},
	{"port_rcv_data", Traffic, RX, "bytes", 64, false},
	{"port_xmit_packets", Traffic, TX, "packets", 64, false},
	{"port_rcv_packets", Traffic, RX, "packets", 64, false},
	{"unicast_xmit_packets", Traffic, TX, "packets", 64, false},
	{"unicast_rcv_packets", Traffic, RX, "packets", 64, false},
	{"multicast_xmit_packets", Traffic, TX, "packets", 64, false},
	{"multicast_rcv_packets", Traffic, RX, "packets", 64, false},
	{"port_xmit_wait", CongestionTX, TX, "ticks", 32, true},
})
