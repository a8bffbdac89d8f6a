package report

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// RatesText is one interval of a watch: a line for each port, and under it the
// counters that moved besides its traffic.
func RatesText(r *Rates) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %.1f s\n", r.Time.Local().Format("15:04:05"), r.IntervalSeconds)
	for _, p := range r.Ports {
		fmt.Fprintf(&b, "%-12s %-12s %-8s tx %-11s %-13s rx %-11s %s\n", Clean(p.Port), Clean(p.Netdev), Clean(p.State),
			bits(p.TXBitsPerSecond), perSecond(p.TXPacketsPerSecond), bits(p.RXBitsPerSecond), perSecond(p.RXPacketsPerSecond))
		for _, c := range p.Counters {
			about := c.Place
			if c.Class != "" {
				about += ", " + c.Class
			}
			fmt.Fprintf(&b, "    %-32s +%-10d %.1f/s  %s\n", Clean(c.Name), c.Delta, c.PerSecond, Clean(about))
		}
	}
	if len(r.Ports) == 0 {
		b.WriteString("no RDMA port\n")
	}
	return b.String()
}

func bits(v *float64) string {
	if v == nil {
		return "-"
	}
	return facts.BitsPerSecond(*v).String()
}

func perSecond(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f pkt/s", *v)
}
