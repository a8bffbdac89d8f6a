package collect

import (
	"context"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A slotHost has one GID table: values by index, and the rest empty.
type slotHost struct {
	size int
	used map[int]string
	read map[int]int // how often each slot was read
}

func (h *slotHost) Do(_ context.Context, ops []hostio.Op) []hostio.Result {
	rs := make([]hostio.Result, len(ops))
	for i, op := range ops {
		rs[i] = h.one(op)
	}
	return rs
}

func (h *slotHost) one(op hostio.Op) hostio.Result {
	const dir = "/sys/class/infiniband/mlx5_0/ports/1/"
	rest, ok := strings.CutPrefix(op.Name, dir)
	if !ok {
		return hostio.Result{NotInForm: true}
	}
	if rest == "gids" && op.Kind == hostio.ReadDir {
		var names strings.Builder
		for i := range h.size {
			fmt.Fprintln(&names, i)
		}
		return hostio.Result{Data: []byte(names.String())}
	}
	index, err := strconv.Atoi(path.Base(rest))
	if err != nil {
		return hostio.Result{NotInForm: true}
	}
	if strings.HasPrefix(rest, "gids/") {
		h.read[index]++
		if v, ok := h.used[index]; ok {
			return hostio.Result{Data: []byte(v + "\n")}
		}
		return hostio.Result{Data: []byte("0000:0000:0000:0000:0000:0000:0000:0000\n")}
	}
	return hostio.Result{Data: []byte("RoCE v2\n")}
}

const (
	gidLinkLocal = "fe80:0000:0000:0000:0200:5eff:fe00:5301"
	gidFirst     = "0000:0000:0000:0000:0000:ffff:c633:6401" // 198.51.100.1
	gidVLAN      = "0000:0000:0000:0000:0000:ffff:cb00:7101" // 203.0.113.1
	gidOther     = "0000:0000:0000:0000:0000:ffff:c000:0201"
)

// readTable reads the table of a port of eth2, which a VLAN is on.
func readTable(t *testing.T, h *slotHost, known bool) *facts.Port {
	t.Helper()
	s := &facts.Snapshot{Origin: facts.Live, Sources: []facts.Source{facts.SysfsRDMA, facts.Links},
		Devices: []facts.Device{{Name: "mlx5_0", Ports: []facts.Port{{Number: 1, LinkLayer: facts.Some(facts.Ethernet)}}}},
		Netdevs: []facts.Netdev{
			{Name: "eth2", Addresses: []facts.Address{{IP: "fe80::200:5eff:fe00:5301"}, {IP: "198.51.100.1"}}},
			{Name: "eth2.100", Kind: facts.Some("vlan"), Lower: facts.Some("eth2"), Addresses: []facts.Address{{IP: "203.0.113.1"}}},
			{Name: "peer", Kind: facts.Some("veth"), Lower: facts.Some("eth2"), Addresses: []facts.Address{{IP: "192.0.2.2"}}},
			{Name: "eth3", Addresses: []facts.Address{{IP: "192.0.2.1"}}},
		}}
	if known {
		s.Devices[0].Ports[0].Netdev = facts.Some("eth2")
	}
	h.read = map[int]int{}
	for _, c := range All() {
		if c.Source == facts.SysfsRDMA && c.Again == nil {
			(&Reader{ctx: t.Context(), host: h, src: c.Source, Snap: s}).run(c.Read)
		}
	}
	for index, n := range h.read {
		if n != 1 {
			t.Errorf("slot %d was read %d times", index, n)
		}
	}
	return &s.Devices[0].Ports[0]
}

// A table is read until every GID that must be there is found and a run of
// empty slots follows; where something is missing it is read to its end.
func TestGIDTableReads(t *testing.T) {
	for _, test := range []struct {
		name  string
		size  int
		used  map[int]string
		blind bool // the netdev of the port is not known
		found int  // GIDs
		reads int
	}{
		{name: "as usual", size: 1024, used: map[int]string{0: gidLinkLocal, 1: gidFirst, 2: gidVLAN}, found: 3, reads: 19},
		{name: "after a gap", size: 1024, used: map[int]string{0: gidLinkLocal, 1: gidFirst, 200: gidVLAN}, found: 3, reads: 217},
		{name: "a gap and another's", size: 256, used: map[int]string{0: gidLinkLocal, 1: gidFirst, 2: gidVLAN, 18: gidOther}, found: 4, reads: 35},
		{name: "an address without a GID", size: 256, used: map[int]string{0: gidLinkLocal, 1: gidFirst, 250: gidOther}, found: 3, reads: 256},
		{name: "the last slot", size: 256, used: map[int]string{0: gidLinkLocal, 1: gidFirst, 255: gidVLAN}, found: 3, reads: 256},
		{name: "small", size: 16, used: map[int]string{0: gidLinkLocal, 1: gidFirst, 2: gidVLAN}, found: 3, reads: 16},
		{name: "empty", size: 128, found: 0, reads: 128},
		{name: "no netdev known", size: 256, used: map[int]string{0: gidLinkLocal, 1: gidFirst, 2: gidVLAN}, blind: true, found: 3, reads: 256},
		{name: "no slot", size: 0, found: 0, reads: 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &slotHost{size: test.size, used: test.used}
			p := readTable(t, h, !test.blind)
			if len(p.GIDs) != test.found || len(h.read) != test.reads {
				t.Errorf("got %d GIDs in %d reads, want %d in %d", len(p.GIDs), len(h.read), test.found, test.reads)
			}
			if got := p.GIDSlotsRead.Or(-1); got != test.reads {
				t.Errorf("got %d slots that were looked at, want %d", got, test.reads)
			}
			if got := p.GIDTableLen.Or(-1); got != test.size {
				t.Errorf("got a table of %d slots, want %d", got, test.size)
			}
			for i, g := range p.GIDs {
				if test.used[g.Index] != g.Value || i > 0 && p.GIDs[i-1].Index >= g.Index {
					t.Errorf("GID %d is %+v", i, g)
				}
			}
		})
	}
}

// The netdev of a port is that of its lowest GID, or where that one is another
// namespace's, the one that has a GID's address here.
func TestNetdevOfGIDs(t *testing.T) {
	gid := func(ip, netdev string) facts.GID {
		return facts.GID{Value: gidOf(netip.MustParseAddr(ip)), Netdev: facts.Some(netdev)}
	}
	host := []facts.GID{gid("fe80::1", "eth2"), gid("192.0.2.1", "eth2"), gid("192.0.2.9", "mv0")}
	here := func(name, ip string) *facts.Snapshot {
		return &facts.Snapshot{Netdevs: []facts.Netdev{{Name: name, Addresses: []facts.Address{{IP: ip}}}}}
	}
	for _, tc := range []struct {
		s    *facts.Snapshot
		gids []facts.GID
		want string
	}{
		{here("eth2", "192.0.2.1"), host, "eth2"},
		{here("eth2", "198.51.100.1"), host, "eth2"},
		{here("mv0", "192.0.2.9"), host, "mv0"},
		{here("mv0", "198.51.100.1"), host, "eth2"}, // Another one of that name.
		{&facts.Snapshot{}, host, "eth2"},
		{here("mv0", "no address"), host, "eth2"},
		{here("mv0", "192.0.2.9"), nil, ""},
	} {
		if got := netdevOf(tc.s, tc.gids).Or(""); got != tc.want {
			t.Errorf("with %+v: netdev %q, want %q", tc.s.Netdevs, got, tc.want)
		}
	}
}
