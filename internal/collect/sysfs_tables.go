package collect

import (
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// collectPKeys reads the P_Key tables of all ports: the listings, then every
// slot.
func collectPKeys(r *Reader) {
	lists, slots := r.batch(), r.batch()
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
	})
	lists.run()
	slots.run()
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
