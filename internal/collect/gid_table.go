package collect

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// gidTables reads the GID tables. A port has up to 1,024 slots, each a file,
// and few are used. It runs after netlink, which knows the netdev of each port
// and the addresses whose GIDs must be there.
var _ = register(Collector{
	Source: facts.SysfsRDMA,
	After:  21,
	Read: func(r *Reader) {
		if !r.Snap.Has(facts.SysfsRDMA) {
			return
		}
		tables := listGIDTables(r)
		for open := tables; len(open) > 0; {
			open = readGIDs(r, open)
		}
		readGIDAttrs(r)
		eachPort(r.Snap, func(_ *facts.Device, p *facts.Port) { fill(&p.Netdev, netdevOf(r.Snap, p.GIDs)) })
	},
})

// emptyRun is how many empty slots in a row end a table in which every GID that
// must be there was found. The kernel fills the lowest empty slot, so that a
// gap is what removed addresses have left, or another network namespace's.
const emptyRun = 16

// A gidTable is being read.
type gidTable struct {
	port  *facts.Port
	dir   string
	slots []int           // indexes not read yet
	want  map[string]bool // GIDs not found yet, by facts.GID.Value
	whole bool            // nothing says when to stop
	empty int             // slots in a row
}

func listGIDTables(r *Reader) []*gidTable {
	var tables []*gidTable
	b := r.batch()
	eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
		if d.Index.Known() && !p.LinkLayer.Known() {
			return // Netlink's word alone: /sys shows no such port.
		}
		t := &gidTable{port: p, dir: portDir(d, p) + "gids", want: wantedGIDs(r.Snap, p)}
		t.whole = len(t.want) == 0
		b.dir(t.dir, func(names []string) {
			p.GIDTableLen = facts.Some(len(names))
			t.slots = indexes(names)
			tables = append(tables, t)
		})
	})
	b.run()
	return tables
}

// readGIDs reads on in each table and returns those that are not done.
func readGIDs(r *Reader, tables []*gidTable) []*gidTable {
	b := r.batch()
	for _, t := range tables {
		n := len(t.slots)
		switch {
		case t.whole:
		case len(t.want) > 0:
			n = min(n, emptyRun)
		default: // What is missing to a run of empty slots.
			n = min(n, emptyRun-t.empty)
		}
		for _, index := range t.slots[:n] {
			path := t.dir + "/" + strconv.Itoa(index)
			b.file(path, func(text string) { t.add(r, index, path, text) })
		}
		t.slots = t.slots[n:]
	}
	b.run()
	for _, t := range tables {
		t.port.GIDSlotsRead = facts.Some(t.port.GIDTableLen.Or(0) - len(t.slots))
	}
	var open []*gidTable
	for _, t := range tables {
		if len(t.slots) > 0 && (len(t.want) > 0 || t.empty < emptyRun) {
			open = append(open, t)
		}
	}
	return open
}

func (t *gidTable) add(r *Reader, index int, path, text string) {
	var gid facts.Opt[string]
	store(r, path, text, &gid, parseGID)
	v, ok := gid.Get()
	if !ok {
		t.empty++
		return
	}
	t.empty = 0
	delete(t.want, v)
	t.port.GIDs = append(t.port.GIDs, facts.GID{Index: index, Value: v})
}

// wantedGIDs are the GIDs of the addresses that the netdev of a port and the
// netdevs on top of it have. Nil where that is not known.
func wantedGIDs(s *facts.Snapshot, p *facts.Port) map[string]bool {
	base, ok := p.Netdev.Get()
	if !ok {
		return nil
	}
	on := map[string]bool{base: true}
	for range 8 { // Deeper stacks of netdevs are loops in hostile input.
		before := len(on)
		for i := range s.Netdevs {
			n := &s.Netdevs[i]
			if stacked[n.Kind.Or("")] && on[n.Lower.Or("")] { // A veth's is its peer.
				on[n.Name] = true
			}
			if master, ok := n.Master.Get(); ok && on[n.Name] {
				on[master] = true
			}
		}
		if len(on) == before {
			break
		}
	}
	want := map[string]bool{}
	for i := range s.Netdevs {
		if n := &s.Netdevs[i]; on[n.Name] {
			for _, a := range n.Addresses {
				if ip, err := netip.ParseAddr(a.IP); err == nil {
					want[gidOf(ip)] = true
				}
			}
		}
	}
	return want
}

// gidOf is the GID that the kernel makes of an address: of an IPv4 address, its
// IPv4-mapped IPv6 address.
func gidOf(ip netip.Addr) string {
	return netip.AddrFrom16(ip.As16()).StringExpanded()
}

// readGIDAttrs reads type and netdev of the slots in use.
func readGIDAttrs(r *Reader) {
	b := r.batch()
	eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
		dir := portDir(d, p) + "gid_attrs/"
		for i := range p.GIDs {
			g := &p.GIDs[i]
			gidAttr(b, dir+"types", g, &g.Type)
			if p.LinkLayer.Or("") != facts.InfiniBand { // There no GID has a netdev.
				gidAttr(b, dir+"ndevs", g, &g.Netdev)
			}
		}
	})
	b.run()
}

// parseGID accepts eight groups of four hexadecimal digits. An empty slot, or
// one of another network namespace, holds zeros.
func parseGID(s string) (string, error) {
	switch {
	case !groupsOfHex(s, 8):
		return "", form("eight groups of four hexadecimal digits")
	case s == "0000:0000:0000:0000:0000:0000:0000:0000":
		return "", errNoValue
	}
	return s, nil
}

// gidAttr asks for an attribute of a GID in use. EINVAL says that the slot is
// empty by now or belongs to another network namespace; that is one gap for
// the directory, not one for each slot.
func gidAttr(b *batch, dir string, g *facts.GID, dst *facts.Opt[string]) {
	path := dir + "/" + strconv.Itoa(g.Index)
	b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
		if err := res.Err(); err != nil {
			b.r.Gap(dir, err)
			return
		}
		store(b.r, path, res.Text(), dst, parseText)
	})
}

// netdevOf is the netdev of the port itself: that of the lowest GID, since the
// lowest slots are reserved for the default GIDs, and those of VLANs on top of
// the netdev come after. Sysfs names netdevs of other network namespaces, too:
// where that one is not here, as in a pod with a macvlan on the host's port, it
// is the first that has the address of its GID here.
func netdevOf(s *facts.Snapshot, gids []facts.GID) facts.Opt[string] {
	var lowest facts.Opt[string]
	for _, g := range gids {
		name, ok := g.Netdev.Get()
		switch n := s.Netdev(name); {
		case !ok:
		case n != nil && (!lowest.Known() || hasGID(n, g)):
			return g.Netdev
		case !lowest.Known():
			lowest = g.Netdev
		}
	}
	return lowest
}

// hasGID reports whether a GID is of an address of the netdev.
func hasGID(n *facts.Netdev, g facts.GID) bool {
	return slices.ContainsFunc(n.Addresses, func(a facts.Address) bool {
		ip, err := netip.ParseAddr(a.IP)
		return err == nil && gidOf(ip) == g.Value
	})
}
