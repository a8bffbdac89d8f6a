package baseline

import (
	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/settings"
)

// lostCounters notes the known counters that were read then and are not read
// now. What they would tell is not known any more, which a check that finds no
// growth cannot see.
func (c *comparison) lostCounters(same map[string]string) {
	for i := range c.before.Devices {
		was := &c.before.Devices[i]
		is := c.now.Device(same[was.Name])
		if is == nil {
			continue
		}
		if lost := missing(was.Resources, is.Resources); len(lost) > 0 && c.now.Has(facts.RDMANetlink) {
			c.lose(is.Name, "resources", lost)
		}
		for j := range was.Ports {
			old := &was.Ports[j]
			port := portOf(is, old.Number)
			if port == nil || !c.now.Has(facts.SysfsRDMA) {
				continue
			}
			link := facts.LinkName(is.Name, port.Number)
			c.lose(link, "counters", known(counters.Port, missing(old.Counters, port.Counters)))
			c.lose(link, "hw_counters", known(counters.Device, missing(old.HWCounters, port.HWCounters)))
			c.lose(link, "cm_counters", known(counters.CM, missing(old.CM, port.CM)))
			if old.StateLast.Known() && c.now.Interval > 0 && !port.StateLast.Known() {
				c.lose(link, "state", []string{"of the second sample"})
			}
		}
	}
	near := settings.Netdevs(c.now)
	for i := range c.before.Netdevs {
		was := &c.before.Netdevs[i]
		is := c.now.Netdev(was.Name)
		if is == nil || !near[was.Name] {
			continue
		}
		if c.now.Has(facts.Ethtool) {
			c.lose(is.Name, "ethtool", known(counters.Ethtool, missing(was.Ethtool, is.Ethtool)))
		}
		if c.now.Has(facts.Links) {
			c.lose(is.Name, "stats", missing(was.Stats, is.Stats))
			if was.CarrierChanges.First.Known() && !is.CarrierChanges.First.Known() {
				c.lose(is.Name, "carrier_changes", []string{"(the counter)"})
			}
		}
	}
	for i := range c.before.PCI {
		was := &c.before.PCI[i]
		for j := range c.now.PCI {
			if is := &c.now.PCI[j]; is.Address == was.Address && c.now.Has(facts.PCISysfs) {
				c.lose(is.Address, "aer", missing(was.AER, is.AER))
			}
		}
	}
}

// lose notes counters of a folder of a thing as unread.
func (c *comparison) lose(thing, folder string, names []string) {
	for _, name := range names {
		c.unread[thing] = append(c.unread[thing], folder+" "+name)
	}
}

// missing are the names that before has and now has not.
func missing[T any](before, now map[string]T) (names []string) {
	for name := range before {
		if _, ok := now[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// known keeps the names of counters whose meaning is known: a driver has
// others for each queue, which come and go with its settings.
func known(at counters.Place, names []string) (kept []string) {
	for _, name := range names {
		if _, _, ok := counters.Lookup(at, name); ok {
			kept = append(kept, name)
		}
	}
	return kept
}
