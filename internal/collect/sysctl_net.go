package collect

import (
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// sysctlNet reads the switches that decide which NIC answers for an address
// where several are in one subnet. It runs after netlink, which knows what is
// stacked on the netdevs of RDMA ports; others are left out.
var _ = register(Collector{
	Source: facts.SysctlNet,
	After:  50,
	Read: func(r *Reader) {
		b := r.batch()
		all := map[string]int{}
		askSysctls(b, "all", all)
		own := map[string]map[string]int{}
		rdma := rdmaNetdevs(r.Snap)
		for _, n := range r.Snap.Netdevs {
			if rdma[n.Name] {
				own[n.Name] = map[string]int{}
				askSysctls(b, n.Name, own[n.Name])
			}
		}
		b.run()
		for name, values := range own {
			r.netdev(name).Sysctl = effective(all, values)
		}
	},
})

var arpSysctls = []string{"arp_announce", "arp_filter", "arp_ignore", "rp_filter"}

func askSysctls(b *batch, netdev string, dst map[string]int) {
	for _, name := range arpSysctls {
		path := "/proc/sys/net/ipv4/conf/" + netdev + "/" + name
		b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
			if err := res.Err(); err != nil {
				b.r.Gap(path, err)
				return
			}
			var v int
			if keep(b.r, path, res.Text(), &v, parseInt) {
				b.r.Have()
				dst[name] = v
			}
		})
	}
}

// effective joins the values for all netdevs with one's own: the kernel takes
// the larger (Documentation/networking/ip-sysctl.rst; arp_filter is on if either
// is). A name that was not read twice is left out.
func effective(all, own map[string]int) map[string]int {
	var found map[string]int
	for _, name := range arpSysctls {
		a, ok1 := all[name]
		o, ok2 := own[name]
		if !ok1 || !ok2 {
			continue
		}
		if found == nil {
			found = map[string]int{}
		}
		found[name] = max(a, o)
	}
	return found
}

// ofedQoS reads what MLNX_OFED adds below a netdev: DCQCN switches
// (ecn/roce_np, ecn/roce_rp) and, in old releases, the trust state. Inbox
// drivers lack all of it. It runs after DCB, whose trust order counts first.
var _ = register(Collector{
	Source: facts.Links,
	After:  60,
	Read: func(r *Reader) {
		looks, b := r.batch(), r.batch()
		rdma := rdmaNetdevs(r.Snap)
		for i := range r.Snap.Netdevs {
			n := &r.Snap.Netdevs[i]
			if !rdma[n.Name] || n.Driver.Or("mlx5_core") != "mlx5_core" {
				continue
			}
			looks.add(hostio.Op{Kind: hostio.ReadDir, Name: netDir(n.Name) + "ecn"}, func(res hostio.Result) {
				if err := res.Err(); err == nil || !absent(err) { // Where it cannot be listed its files may yet be read.
					askECN(b, n)
				}
			})
			askTrust(b, n)
		}
		looks.run()
		b.run()
	},
})

func askECN(b *batch, n *facts.Netdev) {
	names := []string{"roce_np/cnp_dscp", "roce_np/cnp_802p_prio", "roce_np/min_time_between_cnps"}
	for p := range 8 {
		digit := string(rune('0' + p))
		names = append(names, "roce_np/enable/"+digit, "roce_rp/enable/"+digit)
	}
	for _, name := range names {
		path := netDir(n.Name) + "ecn/" + name
		b.fileIf(path, func(text string) {
			var v int
			if keep(b.r, path, text, &v, parseInt) {
				if n.ECN == nil {
					n.ECN = map[string]int{}
				}
				n.ECN[name] = v
			}
		})
	}
}

// askTrust asks for the trust state that old releases have in a file.
func askTrust(b *batch, n *facts.Netdev) {
	trust := netDir(n.Name) + "qos/trust"
	b.fileIf(trust, func(text string) {
		dcb := n.DCB.Or(facts.DCB{})
		switch {
		case !slices.Contains([]string{"pcp", "dscp", "both"}, text):
			b.r.Malformed(trust, text, `"pcp", "dscp" or "both"`)
		case dcb.Trust == nil:
			dcb.Trust = []string{text}
			if text == "both" {
				dcb.Trust = []string{"dscp", "pcp"}
			}
			n.DCB = facts.Some(dcb)
		}
	})
}
