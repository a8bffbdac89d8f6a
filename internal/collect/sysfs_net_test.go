package collect

import (
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

func TestSysfsNet(t *testing.T) {
	s := collected(t, constructed(t, "sysfs-net-mlx5-bond"), facts.Links)
	withoutNetlink(t, s)
	var names []string
	for _, n := range s.Netdevs {
		names = append(names, n.Name)
	}
	want(t, "netdevs", names, []string{"bond0", "bond0.100", "eth2", "eth3", "ib0", "lo", "veth7"})
	want(t, "eth2", *s.Netdev("eth2"), facts.Netdev{
		Name: "eth2", Index: 4, AdminUp: facts.Some(true), OperState: facts.Some("up"), Carrier: facts.Some(true),
		CarrierChanges: facts.Counter{First: facts.Some[uint64](2), Last: facts.Some[uint64](4)},
		MTU:            facts.Some(9000), MAC: facts.Some("02:00:5e:00:53:01"), Master: facts.Some("bond0"),
		Speed: facts.Some(facts.BitsPerSecond(100e9)), Duplex: facts.Some("full"),
		Driver: facts.Some("mlx5_core"), PCI: facts.Some("0000:3b:00.0"),
	})
	down := s.Netdev("eth3")
	want(t, "eth3 is down", down.AdminUp, facts.Some(false))
	if down.Carrier.Known() || down.Speed.Known() || down.Duplex.Known() {
		t.Errorf("a netdev that is down shows %v, %v, %v", down.Carrier, down.Speed, down.Duplex)
	}
	bond, vlan := s.Netdev("bond0"), s.Netdev("bond0.100")
	want(t, "bond mode", bond.BondMode, facts.Some("802.3ad"))
	want(t, "bond kind", bond.Kind, facts.Some("bond"))
	want(t, "a bond has no parent", bond.Lower, facts.Opt[string]{})
	want(t, "VLAN kind", vlan.Kind, facts.Some("vlan"))
	want(t, "VLAN parent", vlan.Lower, facts.Some("bond0"))
	want(t, "a veth's speed is not asked for", s.Netdev("veth7").Speed, facts.Opt[facts.BitsPerSecond]{})
	ib := s.Netdev("ib0")
	want(t, "IPoIB address", ib.MAC, facts.Some("00:00:10:29:fe:80:00:00:00:00:00:00:02:00:5e:ff:fe:00:53:10"))
	want(t, "speed -1", ib.Speed, facts.Opt[facts.BitsPerSecond]{})
}

// withoutNetlink checks that the netlink half of the source is the only gap.
func withoutNetlink(t *testing.T, s *facts.Snapshot) {
	t.Helper()
	want(t, "gaps", s.Gaps, []facts.Gap{{Source: facts.Links, What: "link", Kind: facts.Unsupported, Detail: "not in this kind of input"}})
}

// withPort adds an RDMA port whose netdev is name.
func withPort(s *facts.Snapshot, name string) {
	s.Devices = append(s.Devices, facts.Device{Name: "mlx5_0", Ports: []facts.Port{{Number: 1, Netdev: facts.Some(name)}}})
}

func TestSysctlNet(t *testing.T) {
	h := constructed(t, "sysfs-net-mlx5-bond")
	s := collected(t, h, facts.Links)
	withPort(s, "bond0")
	readWith(t, s, h, facts.SysctlNet)
	withoutNetlink(t, s)
	want(t, "bond0", s.Netdev("bond0").Sysctl, map[string]int{"arp_announce": 1, "arp_filter": 1, "arp_ignore": 2, "rp_filter": 0})
	want(t, "bond0.100", s.Netdev("bond0.100").Sysctl, map[string]int{"arp_announce": 2, "arp_filter": 0, "arp_ignore": 2, "rp_filter": 0})
	want(t, "eth3 carries no RDMA", s.Netdev("eth3").Sysctl, map[string]int(nil))
	if !s.Has(facts.SysctlNet) {
		t.Error("source not noted")
	}
}

func TestOFEDQoS(t *testing.T) {
	h := constructed(t, "sysfs-net-mlx5-bond")
	s := collected(t, h, facts.Links)
	withPort(s, "eth2")
	readWith(t, s, h, facts.Links)
	want(t, "ECN", s.Netdev("eth2").ECN, map[string]int{
		"roce_np/enable/0": 0, "roce_np/enable/3": 1, "roce_rp/enable/3": 1, "roce_np/cnp_dscp": 48})
	want(t, "trust", s.Netdev("eth2").DCB.Or(facts.DCB{}).Trust, []string{"dscp"})
	want(t, "the bond has no such files", s.Netdev("bond0").ECN, map[string]int(nil))
}

// readWith runs the collectors of one source on a snapshot that others began.
func readWith(t *testing.T, s *facts.Snapshot, h *fixture.Tree, src facts.Source) {
	t.Helper()
	for _, c := range All() {
		if c.Source == src {
			c.Read(&Reader{ctx: t.Context(), host: h, src: src, Snap: s})
		}
	}
	roundTrips(t, s)
}

func TestSysfsNetBad(t *testing.T) {
	const dir = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/net/eth2/"
	for _, file := range []string{"ifindex", "flags", "mtu", "carrier", "carrier_changes", "speed", "duplex"} {
		for _, bad := range []string{"errno: EACCES", "timed out", "nonsense"} {
			h := constructed(t, "sysfs-net-mlx5-bond")
			h.Put(dir+file, bad)
			s := collected(t, h, facts.Links)
			gap(t, s, "/sys/class/net/eth2/"+file)
			if len(s.Netdevs) != 7 || s.Netdev("eth2").OperState.Or("") != "up" {
				t.Errorf("%s %q: the rest is lost", file, bad)
			}
		}
	}
	s := collected(t, fixture.Host(fixture.Parse("")), facts.Links, facts.SysctlNet)
	want(t, "empty host", gap(t, s, "/sys/class/net").Kind, facts.Absent)
	want(t, "no sysctl", gap(t, s, "/proc/sys/net/ipv4/conf/all/arp_ignore").Kind, facts.Absent)
	want(t, "sources", s.Sources, []facts.Source{})
}

func TestParseNet(t *testing.T) {
	checkParser(t, "parseSpeed", parseSpeed, []parsed[facts.BitsPerSecond]{
		{text: "100000", want: 100e9}, {text: "800000", want: 800e9}, {text: "10", want: 10e6},
		{text: "-1", err: true}, {text: "0", err: true}, {text: "65535", err: true}, {text: "-2", err: true},
		{text: "4294967295", err: true}, {text: "fast", err: true}, {text: "", err: true},
	})
	checkParser(t, "parseDuplex", parseDuplex, []parsed[string]{
		{text: "full", want: "full"}, {text: "half", want: "half"}, {text: "unknown", err: true}, {text: "", err: true},
	})
	checkParser(t, "parseBondMode", parseBondMode, []parsed[string]{
		{text: "802.3ad 4", want: "802.3ad"}, {text: "active-backup 1", want: "active-backup"},
		{text: "802.3ad", err: true}, {text: " 4", err: true}, {text: "", err: true},
	})
	checkParser(t, "parseLinkAddress", parseLinkAddress, []parsed[string]{
		{text: "02:00:5e:00:53:01", want: "02:00:5e:00:53:01"},
		{text: "198.51.100.1", err: true}, {text: "", err: true}, {text: "02:00:5e:00:53", err: true}, {text: "02-00-5e-00-53-01", err: true},
	})
	checkParser(t, "parseBool01", parseBool01, []parsed[bool]{{text: "1", want: true}, {text: "0"}, {text: "2", err: true}})
}

func FuzzNet(f *testing.F) {
	for _, s := range []string{"100000", "-1", "full", "802.3ad 4", "02:00:5e:00:53:01", "DEVTYPE=vlan\nINTERFACE=x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, err := parseSpeed(s); err == nil && (v == 0 || v > 1e15) {
			t.Errorf("parseSpeed(%q) = %d", s, v)
		}
		if v, err := parseBondMode(s); err == nil && v == "" {
			t.Errorf("parseBondMode(%q) is empty", s)
		}
		if v, err := parseLinkAddress(s); err == nil && len(v) < 17 {
			t.Errorf("parseLinkAddress(%q) = %q", s, v)
		}
		var n facts.Netdev
		setKind(&n, s)
	})
}
