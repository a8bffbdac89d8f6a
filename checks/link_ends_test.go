package checks

import (
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// withEnds gives every link of a snapshot a module and a far end, and every
// card a serial number.
func withEnds(s *facts.Snapshot) {
	for i := range s.Netdevs {
		n := &s.Netdevs[i]
		o := n.Transceiver.Or(facts.Transceiver{Form: "QSFP28"})
		o.Serial = "M-" + n.Name
		n.Transceiver = facts.Some(o)
		n.LLDP = []facts.LLDPNeighbor{{Chassis: "1c:34:da:00:00:01", Port: "swp1", System: "leaf-" + n.Name}}
	}
	for i := range s.Devices {
		s.Devices[i].Serial = facts.Some("C-" + s.Devices[i].Name)
	}
}

// Every finding about a link names what is at its ends where that is known.
func TestLinkFindingsNameTheEnds(t *testing.T) {
	codes := map[string]bool{}
	for _, sc := range scenarios(t) {
		s := sc.snapshot(t)
		withEnds(s)
		r, _ := sc.run(s)
		for _, f := range r.Findings {
			d := s.Device(f.Where.Device)
			if !aboutLink(f.Code) || d == nil || d.Software() {
				continue
			}
			codes[f.Code] = true
			text := ""
			for _, e := range f.Evidence {
				text += e.Source + ": " + e.Value + "\n"
			}
			upstream := f.Code == "link-errors-upstream"
			if strings.Contains(text, "C-"+d.Name) == upstream {
				t.Errorf("%s %s: %s: the card in %q", sc.check.ID, sc.name, f.Code, text)
			}
			ns := linksOf(s, d, &f)
			for _, n := range ns {
				if !strings.Contains(text, "leaf-"+n.Name+" port swp1") || strings.Contains(text, "M-"+n.Name) == upstream {
					t.Errorf("%s %s: %s: the ends of %s in %q", sc.check.ID, sc.name, f.Code, n.Name, text)
				}
			}
			if p := portOf(d, f.Where.Port); p != nil && ns == nil && s.Netdev(p.Netdev.Or("")) != nil {
				t.Errorf("%s %s: %s: no link", sc.check.ID, sc.name, f.Code)
			}
			for i, e := range f.Evidence {
				if slices.Contains(f.Evidence[:i], e) {
					t.Errorf("%s %s: %s: %+v twice", sc.check.ID, sc.name, f.Code, e)
				}
			}
		}
	}
	for _, code := range []string{"link-speed-degraded", "link-fec-mismatch", "link-symbol-errors", "link-ber-high", "module-fault",
		"port-no-carrier", "port-polling", "link-flapping", "link-width-degraded", "port-wrong-cabled", "link-errors-upstream"} {
		if !codes[code] {
			t.Errorf("%s was not met", code)
		}
	}
}

// What a host can know of the ends is no more than what was read.
func TestLinkEndsUnknown(t *testing.T) {
	s := &facts.Snapshot{Devices: []facts.Device{{Name: "mlx5_0", PCI: facts.Some("0000:3b:00.0"), Ports: []facts.Port{
		{Number: 1, LinkLayer: facts.Some(facts.InfiniBand), PhysState: facts.Some("LinkUp")},
		{Number: 2, LinkLayer: facts.Some(facts.InfiniBand), PhysState: facts.Some("Polling")}}},
		{Name: "rxe0", ParentType: facts.Some("rxe"), Ports: []facts.Port{{Number: 1}}}},
		PCI: []facts.PCIFunction{{Address: "0000:3b:00.0", Serial: facts.Some("P220C00123")}}}
	for _, tc := range []struct {
		where Where
		code  string
		want  []Evidence
	}{
		{Where{Device: "mlx5_0", Port: 1}, "link-symbol-errors", []Evidence{{"devlink dev info pci/0000:3b:00.0", "serial number P220C00123"},
			{"far end of mlx5_0/1", "not known to this host; iblinkinfo asks the fabric"}}},
		{Where{Device: "mlx5_0", Port: 2}, "port-polling", []Evidence{{"devlink dev info pci/0000:3b:00.0", "serial number P220C00123"}}},
		{Where{Device: "mlx5_0", Port: 1}, "port-admin-down", nil},
		{Where{Device: "rxe0", Port: 1}, "port-no-carrier", nil},
		{Where{Device: "gone", Port: 1}, "port-no-carrier", nil},
		{Where{}, "module-fault", nil},
	} {
		r := Result{Findings: []Finding{{Code: tc.code, Where: tc.where}}}
		NameEnds(s, &r)
		if got := r.Findings[0].Evidence; !slices.Equal(got, tc.want) {
			t.Errorf("%s %+v: %+v, want %+v", tc.code, tc.where, got, tc.want)
		}
	}
}
