package checks_test

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/goodhost"
)

// The priority follows the traffic class that a probe sets, not what the host
// sets for others.
func TestRoCEPriority(t *testing.T) {
	s := goodhost.RoCE(t)
	d := &s.Devices[0]
	goodhost.SetDCB(s, func(dcb *facts.DCB) {
		dcb.Trust = []string{"dscp"}
		dcb.Apps = []facts.App{{Selector: facts.SelectorDSCP, Protocol: 26, Priority: 3}, {Selector: facts.SelectorDSCP, Protocol: 48, Priority: 6}}
	})
	for tclass, want := range map[int]int{26 << 2: 3, 26<<2 | 2: 3, 48 << 2: 6} {
		if got, ok := checks.RoCEPriority(s, d.Name, d.Ports[0].Number, tclass); !ok || got != want {
			t.Errorf("traffic class %d rides %d, %v, want %d", tclass, got, ok, want)
		}
	}
	goodhost.SetDCB(s, func(dcb *facts.DCB) { dcb.Trust = []string{"pcp"} })
	if got, ok := checks.RoCEPriority(s, d.Name, d.Ports[0].Number, 26<<2); ok && got != 0 {
		t.Errorf("with PCP trust it rides %d", got)
	}
	if _, ok := checks.RoCEPriority(s, "mlx5_99", 1, 0); ok {
		t.Error("a device that is not here has a priority")
	}
	if _, ok := checks.RoCEPriority(s, d.Name, 99, 0); ok {
		t.Error("a port that is not here has a priority")
	}
	ib := goodhost.InfiniBand(t)
	if _, ok := checks.RoCEPriority(ib, ib.Devices[0].Name, 1, 0); ok {
		t.Error("an InfiniBand port has a priority")
	}
}
