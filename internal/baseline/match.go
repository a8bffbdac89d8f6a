package baseline

import (
	"maps"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// names tells by which name each device of the recording goes now. A device is
// the same where name and PCI place agree, else where the place, the node GUID
// or at last the name does. One that is gone is not in it.
func names(before, now *facts.Snapshot) map[string]string {
	same := map[string]string{}
	taken := map[string]bool{}
	for _, alike := range []func(a, b *facts.Device) bool{
		func(a, b *facts.Device) bool {
			return a.Name == b.Name && (equal(a.PCI, b.PCI) || !a.PCI.Known() || !b.PCI.Known())
		},
		func(a, b *facts.Device) bool { return equal(a.PCI, b.PCI) },
		func(a, b *facts.Device) bool {
			return equal(a.NodeGUID, b.NodeGUID) && strings.Trim(a.NodeGUID.Or(""), "0:") != ""
		},
		func(a, b *facts.Device) bool { return a.Name == b.Name },
	} {
		for i := range before.Devices {
			a := &before.Devices[i]
			for j := range now.Devices {
				b := &now.Devices[j]
				if same[a.Name] == "" && !taken[b.Name] && alike(a, b) {
					same[a.Name] = b.Name
					taken[b.Name] = true
				}
			}
		}
	}
	return same
}

func equal(a, b facts.Opt[string]) bool {
	x, ok1 := a.Get()
	y, ok2 := b.Get()
	return ok1 && ok2 && x == y && x != ""
}

// pair is a thing then and now. One of them is nil where it was not there.
type pair struct{ before, now *settings.Thing }

// pairs puts the things of both together.
func pairs(before, now *facts.Snapshot) []pair {
	same := names(before, now)
	type key struct {
		kind settings.Kind
		name string
	}
	byKey := map[key]*pair{}
	var order []key
	at := func(k key) *pair {
		if byKey[k] == nil {
			byKey[k] = &pair{}
			order = append(order, k)
		}
		return byKey[k]
	}
	for _, t := range settings.Things(now) {
		at(key{t.Kind, t.Name}).now = &t
	}
	for _, t := range settings.Things(before) {
		at(key{t.Kind, nameNow(t, same)}).before = &t
	}
	ps := make([]pair, 0, len(order))
	for _, k := range order {
		ps = append(ps, *byKey[k])
	}
	return ps
}

// nameNow is what a thing of the recording would be called now.
func nameNow(t settings.Thing, same map[string]string) string {
	switch t.Kind {
	case settings.Device:
		if name, ok := same[t.Name]; ok {
			return name
		}
		return "gone " + t.Name
	case settings.Port:
		device, number, _ := strings.Cut(t.Name, "/")
		if name, ok := same[device]; ok {
			return name + "/" + number
		}
		return "gone " + t.Name
	}
	return t.Name
}

// Wanted names what the recording says must work here and does not: the ports
// that were active or had a routable GID and are or have not, by their names of
// now, and the devices that are gone. A port that is as it was is not named:
// what the checks say of it they said then, too.
func Wanted(before, now *facts.Snapshot) []string {
	same := names(before, now)
	want := map[string]bool{}
	for i := range before.Devices {
		d := &before.Devices[i]
		for j := range d.Ports {
			was := &d.Ports[j]
			name, here := same[d.Name]
			is := portOf(now.Device(name), was.Number)
			switch {
			case !here && active(was):
				want[d.Name] = true
			case is == nil:
			case active(was) && !active(is), routable(was) && !routable(is) && !elsewhere(now, was):
				want[facts.LinkName(name, is.Number)] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(want))
}

func portOf(d *facts.Device, number int) *facts.Port {
	if d == nil {
		return nil
	}
	for i := range d.Ports {
		if d.Ports[i].Number == number {
			return &d.Ports[i]
		}
	}
	return nil
}

func active(p *facts.Port) bool { return p.StateLast.Or(p.State.Or("")) == facts.StateActive }

// elsewhere reports whether a port has a routable GID that was another's: then
// the address moved, and the cable perhaps with it.
func elsewhere(now *facts.Snapshot, was *facts.Port) bool {
	for i := range now.Devices {
		for _, p := range now.Devices[i].Ports {
			if slices.ContainsFunc(p.GIDs, func(g facts.GID) bool {
				return !g.LinkLocal() && slices.ContainsFunc(was.GIDs, func(o facts.GID) bool { return o.Value == g.Value })
			}) {
				return true
			}
		}
	}
	return false
}

func routable(p *facts.Port) bool {
	return slices.ContainsFunc(p.GIDs, func(g facts.GID) bool { return !g.LinkLocal() })
}
