package expect

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// TestEfficiency holds the tables of headers against their sums.
func TestEfficiency(t *testing.T) {
	v4, v6 := "::ffff:10.0.0.2", "2001:db8::2"
	for _, c := range []struct {
		path facts.Path
		want float64
	}{
		{facts.Path{Transport: "RoCE v2", PathMTU: 1024, DGID: v4}, 0.926},
		{facts.Path{Transport: "RoCE v2", PathMTU: 4096, DGID: v4}, 0.980},
		{facts.Path{Transport: "RoCE v2", PathMTU: 1024, DGID: v4, VLAN: facts.Some(uint16(5))}, 0.923},
		{facts.Path{Transport: "RoCE v2", PathMTU: 256, DGID: v6}, 0.715},
		{facts.Path{Transport: "RoCE v2", PathMTU: 4096, DGID: "0000:0000:0000:0000:0000:ffff:0a00:0002"}, 0.980},
		{facts.Path{Transport: "RoCE v1", PathMTU: 1024, DGID: "fe80::1"}, 0.916},
		{facts.Path{Transport: "InfiniBand", PathMTU: 4096}, 0.994 * 0.972},
		{facts.Path{Transport: "InfiniBand", PathMTU: 4096, SGIDIndex: facts.Some(0)}, 0.984 * 0.972},
		{facts.Path{Transport: "RoCE v2"}, 0},
	} {
		if got := Efficiency(&c.path); !near(got, c.want, 0.0006) {
			t.Errorf("%+v: %.4f, want %.4f", c.path, got, c.want)
		}
	}
}

func TestPCIe(t *testing.T) {
	for _, c := range []struct {
		gts   float64
		lanes int
		mps   int
		want  float64
	}{{8, 8, 256, 57.6}, {8, 16, 256, 115.2}, {16, 16, 128, 212.3}, {32, 16, 512, 481.6}, {2.5, 8, 128, 13.5}, {64, 16, 256, 863.1}} {
		f := &facts.PCIFunction{Address: "a", CurrentSpeed: facts.Some(c.gts), CurrentWidth: facts.Some(c.lanes),
			Config: facts.Some(facts.PCIConfig{MaxPayload: facts.Some(c.mps)})}
		if got, at := PCIe(&facts.Snapshot{}, f); at != f || !near(got, c.want, 0.15) {
			t.Errorf("%g GT/s x%d MPS %d: %.1f, want %.1f", c.gts, c.lanes, c.mps, got, c.want)
		}
	}
}

// host is a constructed host with one 100 Gb/s RoCE port in a slot of lanes.
func host(speed facts.BitsPerSecond, lanes int) End {
	s := &facts.Snapshot{
		Devices: []facts.Device{{Name: "mlx5_0", Provider: facts.Some("mlx5"), PCI: facts.Some("0000:3b:00.0"),
			Ports: []facts.Port{{Number: 1, LinkLayer: facts.Some(facts.Ethernet), Netdev: facts.Some("eth2")}}}},
		Netdevs: []facts.Netdev{{Name: "eth2", Speed: facts.Some(speed)}},
		PCI:     []facts.PCIFunction{{Address: "0000:3b:00.0", CurrentSpeed: facts.Some(8.0), CurrentWidth: facts.Some(lanes)}},
	}
	return End{Snapshot: s, Device: &s.Devices[0], Port: &s.Devices[0].Ports[0]}
}

func TestBandwidth(t *testing.T) {
	path := &facts.Path{Transport: "RoCE v2", PathMTU: 4096, DGID: "::ffff:10.0.0.2"}
	a, b := host(100e9, 16), host(200e9, 16)
	b.Host = "hostB"
	x, ok := Bandwidth([]End{a, b}, path, Ceiling{})
	if !ok || x.Limit.Name != "link" || x.Limit.At != "mlx5_0/1" || !near(float64(x.Limit.Rate), 98.0e9, 0.1e9) {
		t.Errorf("the smaller end counts: %+v", x)
	}
	b = host(100e9, 8)
	b.Host = "hostB"
	x, ok = Bandwidth([]End{a, b}, path, Ceiling{})
	if !ok || x.Limit.Name != "PCIe" || x.Limit.At != "hostB 0000:3b:00.0" || !near(float64(x.Limit.Rate), 55.9e9, 0.2e9) || x.Link.Rate == 0 {
		t.Errorf("the narrow slot of the peer counts: %+v", x)
	}
	if x, ok = Bandwidth([]End{a}, path, Ceiling{}); !ok || x.Limit.Name != "card" || x.Link.Rate != 0 {
		t.Errorf("a loopback in a wide slot is bounded by the card: %+v", x)
	}
	if x, ok = Bandwidth([]End{b}, path, Ceiling{}); !ok || x.Limit.Name != "PCIe" || x.Link.Rate != 0 {
		t.Errorf("a loopback in a narrow slot is bounded by PCIe: %+v", x)
	}
	w := Window(1, 1, 4096, 5*time.Microsecond)
	if x, ok = Bandwidth([]End{a, a}, path, w); !ok || x.Limit.Name != "window" || !near(float64(w.Rate), 6.55e9, 0.1e9) {
		t.Errorf("one READ of 4 KiB is bounded by the round trip: %+v", x)
	}
	if _, ok = Bandwidth([]End{a, b}, nil, Ceiling{}); ok {
		t.Error("without a path MTU the link's share is unknown")
	}
}

func TestJudgeable(t *testing.T) {
	for name, spoil := range map[string]func(*End){
		"software": func(e *End) { e.Device.Provider = facts.Some("rxe") },
		"efa":      func(e *End) { e.Device.Provider = facts.Some("efa") },
		"guest":    func(e *End) { e.Snapshot.Host.Virtual = facts.Some(true) },
		"vf":       func(e *End) { e.Snapshot.PCI[0].VF = true },
	} {
		e := host(100e9, 16)
		if why, ok := Judgeable(e); !ok {
			t.Errorf("hardware is judged: %s", why)
		}
		spoil(&e)
		if why, ok := Judgeable(e); ok || why == "" {
			t.Errorf("%s is judged", name)
		}
	}
}

func TestSuspicion(t *testing.T) {
	for share, want := range map[float64]string{0.99: "healthy", 0.945: "path MTU 1024", 0.5: "half width", 0.25: "four lanes",
		0.3001: "pause", 0.01: "timeouts", 0.7: "no signature"} {
		if got := Suspicion(share); !strings.Contains(got, want) {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for _, c := range [][2]string{{Rate(97.96e9), "98 Gb/s"}, {Rate(9.5e6), "9.5 Mb/s"}, {Rate(0), "0 b/s"}, {Rate(392e9), "392 Gb/s"},
		{Time(850), "850 ns"}, {Time(2510), "2.51 us"}, {Time(655.36e6), "655 ms"}, {Time(12e9), "12 s"}} {
		if c[0] != c[1] {
			t.Errorf("%q, want %q", c[0], c[1])
		}
	}
}
