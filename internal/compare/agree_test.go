package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/goodhost"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// alike are n constructed hosts that are the same but for what must differ:
// names, GUIDs and addresses.
func alike(t testing.TB, good func(testing.TB) *facts.Snapshot, n int) []Host {
	t.Helper()
	var hosts []Host
	for i := range n {
		s := good(t)
		s.Host.Hostname = string(rune('a' + i))
		for j := range s.Devices {
			s.Devices[j].NodeGUID = facts.Some(fmt.Sprintf("9c63:c003:%04x:%04x", i+1, j))
		}
		for j := range s.Netdevs {
			nd := &s.Netdevs[j]
			nd.MAC = facts.Some(fmt.Sprintf("02:00:00:00:%02x:%02x", i, j))
			for k := range nd.Addresses {
				nd.Addresses[k].IP = strings.TrimSuffix(nd.Addresses[k].IP, "17") + fmt.Sprint(17+i)
			}
		}
		hosts = append(hosts, Host{Snapshot: s})
	}
	return hosts
}

// The hosts to start from.
var (
	roceHost = goodhost.RoCE
	ibHost   = goodhost.InfiniBand
)

func port(s *facts.Snapshot) *facts.Port { return &s.Devices[0].Ports[0] }

// vlan puts the GIDs and the address of eth2 on a VLAN.
func vlan(s *facts.Snapshot, id int) {
	s.Netdevs = append(s.Netdevs, facts.Netdev{Name: "eth2.v", Index: 77, Kind: facts.Some("vlan"), Lower: facts.Some("eth2"),
		VLANID: facts.Some(id), MTU: facts.Some(9000), Addresses: s.Netdevs[0].Addresses})
	s.Netdevs[0].Addresses = nil
	for i := range port(s).GIDs {
		port(s).GIDs[i].Netdev = facts.Some("eth2.v")
	}
}

// slotAbove adds the root port above the first NIC.
func slotAbove(s *facts.Snapshot) {
	s.PCI = append(s.PCI, facts.PCIFunction{Address: s.PCI[0].Parent, MaxWidth: facts.Some(16), MaxSpeed: facts.Some(32.0),
		Config: facts.Some(facts.PCIConfig{Bytes: 4096, ACS: facts.Some[uint16](0)})})
}

var differences = []struct {
	name   string
	good   func(testing.TB) *facts.Snapshot
	all    func(*facts.Snapshot) // done to every host before
	change func(*facts.Snapshot) // done to the last one
	want   string                // severity, code, subject of the pair, without the hosts
}{
	{"nothing", roceHost, nil, func(*facts.Snapshot) {}, ""},
	{"nothing on InfiniBand", ibHost, nil, func(*facts.Snapshot) {}, ""},
	{"what need not agree", roceHost, nil, func(s *facts.Snapshot) {
		s.Host.Kernel, s.Devices[0].Index, s.Netdevs[0].Index = facts.Some("6.1.0"), facts.Some(9), 33
		s.Netdevs[2].MTU, s.Devices[0].NodeDesc = facts.Some(1500), facts.Some("other mlx5_0")
	}, ""},
	{"driver version", roceHost, nil, func(s *facts.Snapshot) { s.Modules[1].Version = facts.Some("23.10") }, "warn odd-one-out mlx5_0/1"},
	{"out of tree", roceHost, nil, func(s *facts.Snapshot) { s.Modules[1].Taints = "OE" }, "warn odd-one-out mlx5_0/1"},
	{"module parameter", roceHost, nil, func(s *facts.Snapshot) { s.Modules[1].Parameters["prof_sel"] = "3" }, "warn odd-one-out mlx5_core"},
	{"module parameter unread", roceHost, nil, func(s *facts.Snapshot) { s.Modules[1].Parameters = nil }, ""},
	{"ASPM", ibHost, nil, func(s *facts.Snapshot) {
		goodhost.SetConfig(s, func(c *facts.PCIConfig) { c.ASPM = facts.Some("L1") })
	}, "warn odd-one-out mlx5_0/1"},
	{"width of the slot", roceHost, slotAbove, func(s *facts.Snapshot) { s.PCI[len(s.PCI)-1].MaxWidth = facts.Some(8) }, "warn odd-one-out mlx5_0/1"},
	{"speed of the slot", roceHost, slotAbove, func(s *facts.Snapshot) { s.PCI[len(s.PCI)-1].MaxSpeed = facts.Some(16.0) }, "warn odd-one-out mlx5_0/1"},
	{"ACS", roceHost, slotAbove, func(s *facts.Snapshot) {
		s.PCI[len(s.PCI)-1].Config = facts.Some(facts.PCIConfig{Bytes: 4096, ACS: facts.Some[uint16](0x1d)})
	}, "warn odd-one-out mlx5_0/1"},
	{"numa_balancing", roceHost, nil, func(s *facts.Snapshot) { s.CPU.Balancing = facts.Some(1) }, "warn odd-one-out mlx5_0/1"},
	{"firmware", roceHost, nil, func(s *facts.Snapshot) { s.Devices[0].FirmwareVersion = facts.Some("28.9.1000") }, "warn firmware-mixed mlx5_0"},
	{"PCIe width", roceHost, nil, func(s *facts.Snapshot) { s.PCI[0].CurrentWidth = facts.Some(8) }, "warn pcie-width-degraded mlx5_0/1"},
	{"PCIe speed", ibHost, nil, func(s *facts.Snapshot) { s.PCI[0].CurrentSpeed = facts.Some(16.0) }, "warn pcie-speed-degraded mlx5_0/1"},
	{"IOMMU", ibHost, nil, func(s *facts.Snapshot) { s.PCI[0].IOMMUType = facts.Some("DMA") }, "warn odd-one-out mlx5_0/1"},
	{"read request", ibHost, nil, func(s *facts.Snapshot) {
		goodhost.SetConfig(s, func(c *facts.PCIConfig) { c.MaxReadRequest = facts.Some(512) })
	}, "warn odd-one-out mlx5_0/1"},
	{"payload", ibHost, nil, func(s *facts.Snapshot) {
		goodhost.SetConfig(s, func(c *facts.PCIConfig) { c.MaxPayload = facts.Some(256) })
	}, "warn odd-one-out mlx5_0/1"},
	{"relaxed ordering", ibHost, nil, func(s *facts.Snapshot) {
		goodhost.SetConfig(s, func(c *facts.PCIConfig) { c.RelaxedOrdering = facts.Some(false) })
	}, "warn odd-one-out mlx5_0/1"},
	{"NUMA node", ibHost, nil, func(s *facts.Snapshot) { s.PCI[0].NUMANode = facts.Some(1) }, "warn odd-one-out mlx5_0/1"},
	{"lanes", ibHost, nil, func(s *facts.Snapshot) { port(s).Width = facts.Some(2) }, "warn link-width-degraded mlx5_0/1"},
	{"InfiniBand speed", ibHost, nil, func(s *facts.Snapshot) { port(s).Speed = facts.Some("HDR") }, "warn link-speed-degraded mlx5_0/1"},
	{"Ethernet speed", roceHost, nil, func(s *facts.Snapshot) { s.Netdevs[0].Speed = facts.Some(facts.BitsPerSecond(100e9)) },
		"warn link-speed-degraded mlx5_0/1"},
	{"speed of a port without link", roceHost, nil, func(s *facts.Snapshot) {
		s.Netdevs[0].Speed, port(s).State = facts.Some(facts.BitsPerSecond(10e9)), facts.Some(facts.StateDown)
	}, ""},
	{"active MTU", ibHost, nil, func(s *facts.Snapshot) { port(s).ActiveMTU = facts.Some(2048) }, "warn odd-one-out mlx5_0/1"},
	{"FEC", roceHost, nil, func(s *facts.Snapshot) { s.Netdevs[0].FEC = facts.Some("BaseR") }, "warn link-fec-mismatch mlx5_0/1"},
	{"MTU", roceHost, nil, func(s *facts.Snapshot) { s.Netdevs[0].MTU = facts.Some(1500) }, "fail mtu-mismatch mlx5_0/1"},
	{"PFC off", roceHost, nil, func(s *facts.Snapshot) { goodhost.SetPFC(s, 0) }, "warn pfc-mismatch mlx5_0/1"},
	{"PFC elsewhere", roceHost, nil, func(s *facts.Snapshot) { goodhost.SetPFC(s, 16) }, "warn pfc-mismatch mlx5_0/1"},
	{"several with PFC", roceHost, nil, func(s *facts.Snapshot) { goodhost.SetPFC(s, 24) }, "warn pfc-mismatch mlx5_0/1"},
	{"global pause", roceHost, nil, func(s *facts.Snapshot) { s.Netdevs[0].Pause = facts.Some(facts.Pause{RX: true, TX: true}) },
		"warn odd-one-out mlx5_0/1"},
	{"trust", roceHost, nil, func(s *facts.Snapshot) { goodhost.SetDCB(s, func(d *facts.DCB) { d.Trust = []string{"pcp"} }) }, "warn odd-one-out mlx5_0/1"},
	{"DSCP map", roceHost, nil, func(s *facts.Snapshot) {
		goodhost.SetDCB(s, func(d *facts.DCB) { d.Apps = []facts.App{{Selector: 5, Protocol: 26, Priority: 4}} })
	},
		"warn dscp-map-mismatch mlx5_0/1"},
	{"DSCP map missing", roceHost, nil, func(s *facts.Snapshot) { goodhost.SetDCB(s, func(d *facts.DCB) { d.Apps = nil }) }, "warn dscp-map-mismatch mlx5_0/1"},
	{"ETS", roceHost, nil, func(s *facts.Snapshot) {
		goodhost.SetDCB(s, func(d *facts.DCB) {
			e := d.ETS.Or(facts.ETS{})
			e.Bandwidth[0] = 90
			d.ETS = facts.Some(e)
		})
	}, "warn odd-one-out mlx5_0/1"},
	{"rate limit", roceHost, nil, func(s *facts.Snapshot) {
		goodhost.SetDCB(s, func(d *facts.DCB) { d.MaxRate = facts.Some([8]facts.BitsPerSecond{3: 10e9}) })
	}, "warn odd-one-out mlx5_0/1"},
	{"ECN", roceHost, nil, func(s *facts.Snapshot) { s.Netdevs[0].ECN["roce_np/enable/3"] = 0 }, "warn ecn-off mlx5_0/1"},
	{"ToS of rdma_cm", roceHost, nil, func(s *facts.Snapshot) { port(s).CMRoCETOS = facts.Some(96) }, "warn odd-one-out mlx5_0/1"},
	{"traffic class", roceHost, func(s *facts.Snapshot) { port(s).TrafficClass = facts.Some(106) },
		func(s *facts.Snapshot) { port(s).TrafficClass = facts.Some(0) }, "warn odd-one-out mlx5_0/1"},
	{"RoCE mode of rdma_cm", roceHost, nil, func(s *facts.Snapshot) { port(s).CMRoCEMode = facts.Some(facts.GIDTypeRoCEv1) },
		"warn odd-one-out mlx5_0/1"},
	{"GID type", roceHost, nil, func(s *facts.Snapshot) { port(s).GIDs = port(s).GIDs[:1] }, "warn odd-one-out mlx5_0/1"},
	{"GID index", roceHost, nil, func(s *facts.Snapshot) { port(s).GIDs[1].Index = 5 }, "info gid-index-differs mlx5_0/1"},
	{"VLAN", roceHost, func(s *facts.Snapshot) { vlan(s, 100) }, func(s *facts.Snapshot) { s.Netdevs[3].VLANID = facts.Some(200) },
		"fail gid-vlan-mismatch mlx5_0/1"},
	{"VLAN on one only", roceHost, nil, func(s *facts.Snapshot) { vlan(s, 100) }, "info gid-vlan-mismatch mlx5_0/1"},
	{"another subnet in another VLAN", roceHost, func(s *facts.Snapshot) { vlan(s, 100) }, func(s *facts.Snapshot) {
		s.Netdevs[3].VLANID, s.Netdevs[3].Addresses[0].IP = facts.Some(200), "10.77.0.1"
	}, ""},
	{"no partition in common", ibHost, nil, func(s *facts.Snapshot) { port(s).PKeys = []facts.PKey{{Index: 0, Value: 0x8002}} },
		"fail pkey-mismatch mlx5_0/1"},
	{"both limited", ibHost, func(s *facts.Snapshot) { port(s).PKeys = []facts.PKey{{Index: 0, Value: 0x7fff}} }, func(*facts.Snapshot) {},
		"fail pkey-limited mlx5_0/1"},
	{"one limited", ibHost, nil, func(s *facts.Snapshot) { port(s).PKeys = []facts.PKey{{Index: 0, Value: 0x7fff}} }, ""},
	{"transport", roceHost, nil, func(s *facts.Snapshot) {
		s.Devices[1].Protocol, s.Devices[1].Ports[0].LinkLayer, s.Devices[1].Ports[0].Netdev = facts.Some("ib"), facts.Some(facts.InfiniBand), facts.Opt[string]{}
		s.Devices[1].Ports[0].ActiveMTU = facts.Opt[int]{}
	}, "fail transport-mismatch mlx5_1/1"},
	{"ARP", roceHost, nil, func(s *facts.Snapshot) { s.Netdevs[0].Sysctl["arp_ignore"] = 0 }, "warn odd-one-out mlx5_0/1"},
	{"max_map_count", ibHost, nil, func(s *facts.Snapshot) { s.Memory.MaxMapCount = facts.Some(1000) }, "warn odd-one-out mlx5_0/1"},
	{"names", roceHost, nil, func(s *facts.Snapshot) {
		s.Devices[0].Name, s.Devices[1].Name = "mlx5_1", "mlx5_0"
		s.Devices[0].Ports, s.Devices[1].Ports = s.Devices[1].Ports, s.Devices[0].Ports
	}, "warn rail-map-differs"},
}

// TestDifferences: each fact that must agree is found where it does not, of two
// hosts and of three, and nothing is where it does.
func TestDifferences(t *testing.T) {
	for _, tc := range differences {
		for _, n := range []int{2, 3} {
			t.Run(fmt.Sprintf("%s of %d", tc.name, n), func(t *testing.T) {
				hosts := alike(t, tc.good, n)
				for _, h := range hosts {
					if tc.all != nil {
						tc.all(h.Snapshot)
					}
				}
				odd := hosts[n-1].Snapshot
				tc.change(odd)
				var got []string
				for _, r := range judge(named(hosts)) {
					for _, f := range r.Findings {
						complete(t, f)
						if first, _, _ := strings.Cut(f.Subject, " "); first != odd.Host.Hostname && tc.name != "both limited" {
							t.Errorf("%s is named, want %s: %s", first, odd.Host.Hostname, f.Message)
						}
						_, place, _ := strings.Cut(f.Subject[:strings.Index(f.Subject, " ->")], " ")
						line := strings.TrimSpace(fmt.Sprintf("%s %s %s", f.Severity, f.Code, place))
						if !slices.Contains(got, line) {
							got = append(got, line)
						}
					}
					if (r.Status == checks.Unknown || r.Status == checks.Skipped) && r.Reason == "" {
						t.Errorf("%s is %s without a reason", r.ID, r.Status)
					}
				}
				if tc.name == "names" || tc.name == "driver version" || tc.name == "out of tree" { // Each port says it.
					got = slices.DeleteFunc(got, func(s string) bool { return s != tc.want })
				}
				if want := strings.Join(got, "; "); want != tc.want {
					t.Errorf("%q, want %q", want, tc.want)
				}
			})
		}
	}
}

// complete wants a finding to have all that its page needs.
func complete(t *testing.T, f checks.Finding) {
	t.Helper()
	p, ok := knowledge.Lookup(f.Code)
	if !ok {
		t.Errorf("%s has no page", f.Code)
		return
	}
	always, sometimes, ok := checks.ParamsOf(f.Code)
	for _, name := range always {
		if f.Params[name] == "" {
			t.Errorf("%s lacks the parameter %s, which its check gives", f.Code, name)
		}
	}
	for name := range f.Params {
		if ok && !slices.Contains(always, name) && !slices.Contains(sometimes, name) {
			t.Errorf("%s has the parameter %s, which its check does not give", f.Code, name)
		}
	}
	ds := knowledge.Explain([]checks.Result{{Findings: []checks.Finding{f}}}, nil)
	for _, step := range ds[0].Fix {
		if step.Where == "host" && strings.Contains(step.Command, "<") && !strings.Contains(fmt.Sprint(p.Fix), "<") {
			t.Errorf("%s: %q is not filled in", f.Code, step.Command)
		}
	}
	if len(f.Evidence) != 2 || f.Evidence[0].Value == "" || f.Evidence[1].Value == "" || f.Where.Host == "" {
		t.Errorf("%s: %+v, want evidence of both hosts and the place", f.Code, f)
	}
	if strings.Contains(f.Message, "  ") || strings.Contains(f.Message, "%!") {
		t.Errorf("message %q", f.Message)
	}
}

func TestIdentities(t *testing.T) {
	hosts := alike(t, roceHost, 3)
	hosts[2].Snapshot.Devices[0].NodeGUID = hosts[0].Snapshot.Devices[0].NodeGUID
	hosts[2].Snapshot.Netdevs[0].MAC = hosts[1].Snapshot.Netdevs[0].MAC
	hosts[1].Snapshot.Netdevs[1].Addresses[0].IP = hosts[0].Snapshot.Netdevs[1].Addresses[0].IP
	hosts[1].Snapshot.Netdevs[2].Addresses = []facts.Address{{IP: "172.17.0.1", PrefixLen: 16, Scope: "global"}}
	hosts[0].Snapshot.Netdevs[2].Addresses = hosts[1].Snapshot.Netdevs[2].Addresses // A container bridge carries no RDMA.
	r := identitiesDiffer(named(hosts))
	var got []string
	for _, f := range r.Findings {
		got = append(got, f.Code+" "+f.Subject)
		complete(t, f)
	}
	want := []string{"address-duplicate b eth3 -> a eth3", "guid-duplicate c mlx5_0 -> a mlx5_0", "address-duplicate c eth2 -> b eth2"}
	if r.Status != checks.Failed || !slices.Equal(got, want) {
		t.Errorf("%s %q, want %q", r.Status, got, want)
	}
	// The same host at two times is no duplicate of itself.
	twice := alike(t, roceHost, 1)
	if r := identitiesDiffer(named(append(twice, twice...))); r.Status != checks.Skipped || len(r.Findings) != 0 {
		t.Errorf("%s %+v, want it skipped", r.Status, r.Findings)
	}
}

func TestFewerDevices(t *testing.T) {
	for n, want := range map[int]checks.Severity{2: checks.Warn, 3: checks.Fail} {
		hosts := alike(t, roceHost, n)
		s := hosts[0].Snapshot
		s.Devices = s.Devices[:1]
		r := devicesAgree(named(hosts))
		if len(r.Findings) != 1 || r.Findings[0].Code != "device-missing" || r.Findings[0].Severity != want || r.Findings[0].Where.Host != "a" {
			t.Errorf("of %d hosts: %+v, want %s for a", n, r.Findings, want)
		}
	}
}

// IDs of results share the namespace of checks, codes and layers.
func TestIDs(t *testing.T) {
	names := doctor.Names()
	for _, r := range judge(named(alike(t, roceHost, 2))) {
		if slices.Contains(names, r.ID) {
			t.Errorf("%s is taken", r.ID)
		}
		names = append(names, r.ID)
		if r.Status != checks.Passed && r.ID != "partitions-agree" {
			t.Errorf("%s of two hosts that are alike: %s %s", r.ID, r.Status, r.Reason)
		}
	}
}
