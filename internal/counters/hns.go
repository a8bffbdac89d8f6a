package counters

// hns are the counters of hns_roce. Source: drivers/infiniband/hw/hns/hns_roce_main.c.
var hns = register(Device, []Counter{
	{"aeqe", Firmware, None, "events", 64, false},
	{"ceqe", Firmware, None, "events", 64, false},
	{"cmds", Firmware, None, "commands", 64, false},
	{"cmds_err", Firmware, None, "commands", 64, false},
	{"posted_mbx", Firmware, None, "commands", 64, false},
	{"polled_mbx", Firmware, None, "commands", 64, false},
	{"mbx_event", Firmware, None, "events", 64, false},
	{"qp_create_err", Resource, None, "events", 64, false},
	{"qp_modify_err", Connection, None, "events", 64, false},
	{"cq_create_err", Resource, None, "events", 64, false},
	{"srq_create_err", Resource, None, "events", 64, false},
	{"xrcd_alloc_err", Resource, None, "events", 64, false},
	{"mr_reg_err", Resource, None, "events", 64, false},
	{"mr_rereg_err", Resource, None, "events", 64, false},
	{"ah_create_err", Addressing, None, "events", 64, false},
	{"mmap_err", Resource, None, "events", 64, false},
	{"uctx_alloc_err", Resource, None, "events", 64, false},
	{"rx_rc_pkt", Traffic, RX, "packets", 64, false},
	{"rx_uc_pkt", Traffic, RX, "packets", 64, false},
	{"rx_ud_pkt", Traffic, RX, "packets", 64, false},
})
