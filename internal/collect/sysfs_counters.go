package collect

import (
	"errors"
	"math"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// collectCounters reads ports/N/counters and hw_counters of all ports and puts
// each value where set says: the first or the last half of the counter.
func collectCounters(r *Reader, set func(*facts.Counter, uint64)) {
	lists, reads := r.batch(), r.batch()
	hw := map[*facts.Port]bool{}
	eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
		counters, hwCounters := portDir(d, p)+"counters", portDir(d, p)+"hw_counters"
		lists.dirIf(counters, func(names []string) {
			askCounters(reads, counters, names, &p.Counters, set)
		})
		lists.dirIf(hwCounters, func(names []string) {
			hw[p] = true
			askCounters(reads, hwCounters, names, &p.HWCounters, decoded(d, set))
		})
	})
	// Drivers such as iw_cxgb4 count for the device as a whole. Those counters
	// stand under its first port, unless ports have their own.
	for i := range r.Snap.Devices {
		d := &r.Snap.Devices[i]
		dir := deviceDir(d) + "hw_counters"
		lists.dirIf(dir, func(names []string) {
			for j := range d.Ports {
				if hw[&d.Ports[j]] {
					return
				}
			}
			if len(d.Ports) > 0 {
				askCounters(reads, dir, names, &d.Ports[0].HWCounters, set)
			}
		})
	}
	askCM := findCM(r, lists)
	lists.run()
	askCM(reads, set)
	reads.run()
}

// decoded leaves out what ionic prints for an entry that it cannot decode
// (ionic_hw_stats.c), all ones, so that the counter is there and not read.
func decoded(d *facts.Device, set func(*facts.Counter, uint64)) func(*facts.Counter, uint64) {
	if d.Provider.Or("") != "ionic" {
		return set
	}
	return func(c *facts.Counter, v uint64) {
		if v != math.MaxUint64 {
			set(c, v)
		}
	}
}

// askCounters asks for every counter of a directory. A directory that the
// driver does not serve is one gap, not one for each file.
func askCounters(b *batch, dir string, names []string, dst *map[string]facts.Counter, set func(*facts.Counter, uint64)) {
	for _, name := range names {
		if name == "lifespan" { // How long the driver caches, in ms; no counter.
			continue
		}
		path := dir + "/" + name
		b.add(hostio.Op{Kind: hostio.ReadFile, Name: path}, func(res hostio.Result) {
			if err := res.Err(); err != nil {
				b.r.Gap(dir, err)
				return
			}
			v, err := parseCounter(name, res.Text())
			switch {
			case errors.Is(err, errNoPMA):
				b.r.gap(dir, facts.Unsupported, errNoPMA.Error())
			case err != nil:
				b.r.Malformed(path, res.Text(), err.Error())
			default:
				if *dst == nil {
					*dst = map[string]facts.Counter{}
				}
				c := (*dst)[name]
				set(&c, v)
				(*dst)[name] = c
			}
		})
	}
}

// errNoPMA is what ib_core says, up to Linux 4.x as text, where the device has
// no performance management agent.
var errNoPMA = errors.New("N/A (no PMA)")

// parseCounter reads one counter. The kernel counts port_xmit_data and
// port_rcv_data in units of four octets; here they are octets.
func parseCounter(name, s string) (uint64, error) {
	if s == errNoPMA.Error() {
		return 0, errNoPMA
	}
	v, err := parseUint(s)
	if err == nil && (name == "port_xmit_data" || name == "port_rcv_data") {
		if v > math.MaxUint64/4 {
			return 0, form("units of four octets that fit 64 bits as octets")
		}
		v *= 4
	}
	return v, err
}
