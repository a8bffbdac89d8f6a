package probes

import (
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// peerHost is a constructed host with a RoCE port for each address.
func peerHost(addresses ...string) *facts.Snapshot {
	s := &facts.Snapshot{}
	for i, a := range addresses {
		netdev := "eth" + string(rune('0'+i))
		ip, _, _ := strings.Cut(a, "/")
		p := facts.Port{Number: 1, State: facts.Some(facts.StateActive), LinkLayer: facts.Some(facts.Ethernet), Netdev: facts.Some(netdev)}
		for j, kind := range []string{facts.GIDTypeRoCEv1, facts.GIDTypeRoCEv2} {
			p.GIDs = append(p.GIDs, facts.GID{Index: 2*j + 1, Value: mapped(ip), Type: facts.Some(kind), Netdev: facts.Some(netdev)})
		}
		p.Choice = facts.Some(facts.ChooseGIDs(&p))
		s.Devices = append(s.Devices, facts.Device{Name: "mlx5_" + string(rune('0'+i)), Protocol: facts.Some("roce"), Ports: []facts.Port{p}})
		s.Netdevs = append(s.Netdevs, facts.Netdev{Name: netdev, Addresses: []facts.Address{{IP: ip, PrefixLen: 24, Scope: "global"}}})
	}
	return s
}

func mapped(ip string) string {
	var b [4]int
	for i, part := range strings.Split(ip, ".") {
		for _, c := range part {
			b[i] = b[i]*10 + int(c-'0')
		}
	}
	const hex = "0123456789abcdef"
	out := "0000:0000:0000:0000:0000:ffff:"
	for i, v := range b {
		out += string(hex[v>>4]) + string(hex[v&15])
		if i == 1 {
			out += ":"
		}
	}
	return out
}

func TestMatchPorts(t *testing.T) {
	near, far := peerHost("192.0.2.1", "198.51.100.1"), peerHost("203.0.113.2", "198.51.100.2")
	m, err := MatchPorts(near, far, Ask{}, Ask{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Near.Params.Device != "mlx5_1" || m.Far.Params.Device != "mlx5_1" || m.Near.Params.GIDIndex != 3 || m.Why != "their addresses are in one subnet" {
		t.Errorf("%s index %d against %s: %s", m.Near.Params.Device, m.Near.Params.GIDIndex, m.Far.Params.Device, m.Why)
	}
	if a := m.PeerAddress().String(); a != "198.51.100.2" {
		t.Errorf("its address is %s", a)
	}
	m, err = MatchPorts(near, far, Ask{Device: "mlx5_0"}, Ask{})
	if err != nil || m.Near.Params.Device != "mlx5_0" {
		t.Errorf("a device that was named: %+v, %v", m, err)
	}
	one := 1
	m, err = MatchPorts(near, far, Ask{GIDIndex: &one}, Ask{})
	if err != nil || m.Far.Params.GIDIndex != 1 || m.Far.Params.Transport != "RoCE v1" {
		t.Errorf("the far end of a RoCE v1 index: %+v, %v", m, err)
	}
	for i := range near.Routes {
		near.Routes[i] = facts.Route{}
	}
	near.Routes = []facts.Route{{Dst: "203.0.113.0/24", Netdev: "eth0"}, {Dst: "default", Netdev: "eth9"}}
	m, err = MatchPorts(near, peerHost("203.0.113.2"), Ask{}, Ask{})
	if err != nil || m.Near.Params.Device != "mlx5_0" || m.Why != "a route leads from eth0 to it" {
		t.Errorf("by a route: %+v, %v", m, err)
	}
}

func TestMatchPortsNone(t *testing.T) {
	ib := &facts.Snapshot{Devices: []facts.Device{{Name: "mlx5_0", Ports: []facts.Port{{Number: 1, LinkLayer: facts.Some(facts.InfiniBand),
		State: facts.Some(facts.StateActive)}}}}}
	for name, test := range map[string]struct{ near, far *facts.Snapshot }{
		"nothing here":     {&facts.Snapshot{}, ib},
		"nothing there":    {ib, &facts.Snapshot{}},
		"other transports": {ib, peerHost("192.0.2.1")},
	} {
		if m, err := MatchPorts(test.near, test.far, Ask{}, Ask{}); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	_, err := MatchPorts(ib, peerHost("192.0.2.1"), Ask{}, Ask{})
	if err == nil || !strings.Contains(err.Error(), "mlx5_0/1 (InfiniBand, ACTIVE)") || !strings.Contains(err.Error(), "RoCE v2") {
		t.Errorf("the error names no ports: %v", err)
	}
}

func TestMoves(t *testing.T) {
	host := func(n uint64) *facts.Snapshot {
		s := peerHost("192.0.2.1")
		c := func(v uint64) facts.Counter { return facts.Counter{First: facts.Some(v)} }
		s.Devices[0].Ports[0].HWCounters = map[string]facts.Counter{"out_of_sequence": c(n), "local_ack_timeout_err": c(7), "new": c(n)}
		s.Devices[0].Ports[0].Counters = map[string]facts.Counter{"port_xmit_data": c(1000 * n)}
		s.Netdevs[0].Ethtool = map[string]facts.Counter{"rx_queue_0_packets_of_some_driver": c(n), "rx_prio3_pause": c(n)}
		return s
	}
	before := host(1)
	delete(before.Devices[0].Ports[0].HWCounters, "new")
	got := map[string]uint64{}
	for _, m := range Moves(before, host(5), "mlx5_0", 1, "hostB") {
		if m.Host != "hostB" {
			t.Errorf("%+v is of another host", m)
		}
		got[m.Subject+" "+m.Name] = m.Delta
	}
	if got["mlx5_0/1 out_of_sequence"] != 4 || got["mlx5_0/1 port_xmit_data"] != 4000 || got["eth0 rx_prio3_pause"] != 4 || len(got) != 3 {
		t.Errorf("moved %v", got)
	}
	if m := Moves(before, host(5), "mlx5_9", 1, ""); m == nil || len(m) != 0 {
		t.Errorf("of a port that is not there: %v", m)
	}
}

func TestPeerTests(t *testing.T) {
	for _, test := range PeerTests(time.Second, false) {
		if err := test.check(); err != nil {
			t.Errorf("%s: %v", test.name(), err)
		}
		if 2*uint64(test.QPs)*uint64(test.Size) > peerMemory {
			t.Errorf("%s does not fit", test.name())
		}
		if part := test.Load(); test.Saturates() != strings.Contains(part.Load, "saturates") || part.What == "" {
			t.Errorf("%s is planned as %+v", test.name(), part)
		}
	}
	for _, test := range PeerTests(time.Second, true) {
		if test.Saturates() || test.Count > smallMessages || test.Size > 64 {
			t.Errorf("a port that others use gets %+v", test)
		}
	}
}

func TestReproduce(t *testing.T) {
	path := &facts.Path{PathMTU: 4096, SGIDIndex: facts.Some(3), TrafficClass: facts.Some(104)}
	for want, m := range map[string]facts.Measurement{
		"ib_write_lat -d mlx5_0 -i 1 -s 2 -F -x 3 -m 4096 --tclass=104 -n 5000 192.0.2.2":           {Probe: "latency", Op: "write", SizeBytes: 2, Iterations: 5000},
		"ib_write_bw -d mlx5_0 -i 1 -s 65536 -F -x 3 -m 4096 --tclass=104 -t 64 -q 1 -b 192.0.2.2":  {Probe: "bandwidth", Op: "write", SizeBytes: 65536, Depth: 64, QPs: 1, Direction: "both"},
		"ib_send_bw -d mlx5_0 -i 1 -s 65536 -F -x 3 -m 4096 --tclass=104 -t 64 -q 1 -r 1 192.0.2.2": {Probe: "bandwidth", Op: "send", SizeBytes: 65536, Depth: 64, QPs: 1, Direction: "out", Mode: "few-receives"},
		"": {Probe: "ordering", Op: "write", SizeBytes: 64},
	} {
		m.Local, m.Path = "mlx5_0/1", path
		if got := Reproduce(&m, "192.0.2.2"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
