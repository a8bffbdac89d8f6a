package checks

import "github.com/rdmadoctor/rdmadoctor/internal/facts"

// mtuOverhead is what a driver takes off the netdev's MTU before it picks the
// largest path MTU that fits.
type mtuOverhead struct {
	bytes int
	rule  string // where the rule is written
}

// The rules. iboe_get_mtu takes GRH 40, UDP 8, BTH 12, XRCETH 4, AtomicETH 28
// and ICRC 4; rxe its RXE_MAX_HDR_LENGTH of 80; drivers that come from iWARP
// nothing, so that 4096 on them is a claim the wire cannot carry.
var (
	iboe     = mtuOverhead{96, "iboe_get_mtu, include/rdma/ib_addr.h"}
	rxeRule  = mtuOverhead{80, "rxe_param.h, RXE_MAX_HDR_LENGTH"}
	noHeader = mtuOverhead{0, "ib_mtu_int_to_enum of the netdev MTU"}
)

// mtuRules are the rules by user-space provider. A provider that is not listed
// is not judged.
var mtuRules = map[string]mtuOverhead{
	"mlx5": iboe, "mlx4": iboe, "bnxt_re": iboe, "hns": iboe, "qedr": iboe, "ocrdma": iboe,
	"rxe":   rxeRule,
	"irdma": noHeader,
}

// pathMTUs are the path MTUs that InfiniBand knows, in bytes.
var pathMTUs = []int{256, 512, 1024, 2048, 4096}

// pathMTU is the largest path MTU that fits a netdev MTU, 0 where none does.
func (o mtuOverhead) pathMTU(netdev int) int {
	best := 0
	for _, m := range pathMTUs {
		if m+o.bytes <= netdev {
			best = m
		}
	}
	return best
}

// netdevMTU is the netdev MTU that a path MTU needs.
func (o mtuOverhead) netdevMTU(path int) int { return path + o.bytes }

// mtuRule is the rule of a device's driver.
func mtuRule(d *facts.Device) (mtuOverhead, bool) {
	r, ok := mtuRules[d.Provider.Or(d.ParentType.Or(""))]
	return r, ok
}

// PathMTU is the path MTU in bytes that a netdev MTU leaves to a device, as far
// as the rule of its driver is known.
func PathMTU(d *facts.Device, netdevMTU int) (int, bool) {
	r, ok := mtuRule(d)
	return r.pathMTU(netdevMTU), ok
}
