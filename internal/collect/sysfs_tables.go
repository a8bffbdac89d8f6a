package collect

import (
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// collectTables reads the P_Key and GID tables of all ports: the listings, then
// every slot, then type and netdev of the slots in use.
func collectTables(r *Reader) {
	lists, slots, attrs := r.batch(), r.batch(), r.batch()
	eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
		dir := portDir(d, p)
		pkeys := lists.dir
		if d.NodeType.Or("") == "RNIC" { // iWARP has no partitions.
			pkeys = lists.dirIf
		}
		pkeys(dir+"pkeys", func(names []string) {
			for _, index := range indexes(names) {
				path := dir + "pkeys/" + strconv.Itoa(index)
				slots.file(path, func(text string) { addPKey(r, p, index, path, text) })
			}
		})
		lists.dir(dir+"gids", func(names []string) {
			p.GIDTableLen = facts.Some(len(names))
			for _, index := range indexes(names) {
				path := dir + "gids/" + strconv.Itoa(index)
				slots.file(path, func(text string) { addGID(r, p, index, path, text) })
			}
		})
	})
	lists.run()
	slots.run()
	eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
		dir := portDir(d, p) + "gid_attrs/"
		for i := range p.GIDs {
			g := &p.GIDs[i]
			gidAttr(attrs, dir+"types", g, &g.Type)
			if p.LinkLayer.Or("") != facts.InfiniBand { // There no GID has a netdev.
				gidAttr(attrs, dir+"ndevs", g, &g.Netdev)
			}
		}
	})
	attrs.run()
	eachPort(r.Snap, func(_ *facts.Device, p *facts.Port) { p.Netdev = netdevOf(p.GIDs) })
}

// indexes are the slot numbers in a table's listing, in order.
func indexes(names []string) []int {
	var found []int
	for _, name := range names {
		if n, err := strconv.ParseUint(name, 10, 16); err == nil {
			found = append(found, int(n))
		}
	}
	slices.Sort(found)
	return found
}

func addPKey(r *Reader, p *facts.Port, index int, path, text string) {
	var key facts.Opt[uint16]
	store(r, path, text, &key, parseHex16)
	if v := key.Or(0); v != 0 {
		p.PKeys = append(p.PKeys, facts.PKey{Index: index, Value: v})
	}
}

func addGID(r *Reader, p *facts.Port, index int, path, text string) {
	var gid facts.Opt[string]
	store(r, path, text, &gid, parseGID)
	if v, ok := gid.Get(); ok {
		p.GIDs = append(p.GIDs, facts.GID{Index: index, Value: v})
	}
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
// the netdev come after.
func netdevOf(gids []facts.GID) facts.Opt[string] {
	for _, g := range gids {
		if g.Netdev.Known() {
			return g.Netdev
		}
	}
	return facts.Opt[string]{}
}
