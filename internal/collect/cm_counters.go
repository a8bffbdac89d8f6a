package collect

import (
	"slices"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// The directories in which ib_cm counts its messages, and the kinds of message
// that are sent today, a file each (drivers/infiniband/core/cm.c).
var (
	cmGroups   = []string{"cm_tx_msgs", "cm_tx_retries", "cm_rx_msgs", "cm_rx_duplicates"}
	cmMessages = []string{"req", "rep", "rtu", "rej", "mra", "dreq", "drep", "sidr_req", "sidr_rep"}
)

// classCM is where older kernels have the counters of all ports.
const classCM = "/sys/class/infiniband_cm/"

// findCM looks for the connection manager's counters. Each port has all of them
// or, as with iWARP or without ib_cm, none, so its directory decides. The func
// asks for those that were found.
func findCM(r *Reader, lists *batch) (ask func(reads *batch, set func(*facts.Counter, uint64))) {
	var old []string
	lists.dirIf(classCM, func(names []string) { old = names })
	own := map[*facts.Port]bool{}
	eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
		lists.add(hostio.Op{Kind: hostio.Stat, Name: portDir(d, p) + cmGroups[0]}, func(res hostio.Result) { own[p] = res.Err() == nil })
	})
	return func(reads *batch, set func(*facts.Counter, uint64)) {
		eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
			dir := portDir(d, p)
			if !own[p] {
				if !slices.Contains(old, d.Name) {
					return
				}
				dir = classCM + d.Name + "/" + strconv.Itoa(p.Number) + "/"
			}
			for _, group := range cmGroups {
				for _, message := range cmMessages {
					askMessage(reads, dir+group, group, message, p, set)
				}
			}
		})
	}
}

func askMessage(b *batch, dir, group, message string, p *facts.Port, set func(*facts.Counter, uint64)) {
	b.fileIf(dir+"/"+message, func(text string) {
		v, err := parseUint(text)
		if err != nil {
			b.r.Malformed(dir+"/"+message, text, err.Error())
			return
		}
		if p.CM == nil {
			p.CM = map[string]facts.Counter{}
		}
		name := group + "/" + message
		c := p.CM[name]
		set(&c, v)
		p.CM[name] = c
	})
}
