package counters

// cxgb4 are the counters of iw_cxgb4. Source: drivers/infiniband/hw/cxgb4/provider.c.
var cxgb4 = register(Device, []Counter{
	{"ip4InSegs", Traffic, RX, "segments", 64, false},
	{"ip4OutSegs", Traffic, TX, "segments", 64, false},
	{"ip4RetransSegs", Loss, TX, "segments", 64, false},
	{"ip4OutRsts", Connection, TX, "segments", 64, false},
	{"ip6InSegs", Traffic, RX, "segments", 64, false},
	{"ip6OutSegs", Traffic, TX, "segments", 64, false},
	{"ip6RetransSegs", Loss, TX, "segments", 64, false},
	{"ip6OutRsts", Connection, TX, "segments", 64, false},
})
