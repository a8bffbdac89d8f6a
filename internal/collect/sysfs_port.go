package collect

import (
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// collectPorts reads the attributes of each port, as ib_core's port_*_show
// functions print them.
func collectPorts(r *Reader) {
	b := r.batch()
	eachPort(r.Snap, func(d *facts.Device, p *facts.Port) {
		dir := portDir(d, p)
		attr(b, dir+"state", &p.State, parsePortState)
		attr(b, dir+"phys_state", &p.PhysState, parseName)
		attr(b, dir+"link_layer", &p.LinkLayer, parseText)
		attr(b, dir+"lid", &p.LID, parseHex32)
		attr(b, dir+"sm_lid", &p.SMLID, parseHex32)
		attr(b, dir+"lid_mask_count", &p.LMC, parseInt)
		attr(b, dir+"sm_sl", &p.SMSL, parseInt)
		attr(b, dir+"cap_mask", &p.CapMask, parseHex32)
		b.file(dir+"rate", func(text string) {
			var v facts.Opt[rate]
			store(r, dir+"rate", text, &v, parseRate)
			if got, ok := v.Get(); ok {
				p.Rate, p.Width = facts.Some(got.rate), facts.Some(got.width)
				if got.speed != "" {
					p.Speed = facts.Some(got.speed)
				}
			}
		})
		tc := trafficClassFile(d, p)
		attrIf(b, tc, &p.TrafficClass, parseTrafficClass)
	})
	b.run()
	eachPort(r.Snap, func(_ *facts.Device, p *facts.Port) {
		if p.LinkLayer.Or("") == facts.InfiniBand { // On Ethernet the pair is made up.
			p.DataRate = dataRate(p)
		}
	})
}

// dataRate is the rate after line coding. A kernel that does not know a speed
// prints another one's word (rate_show), so word and figure have to agree.
func dataRate(p *facts.Port) facts.Opt[facts.BitsPerSecond] {
	speed, width := p.Speed.Or(""), p.Width.Or(0)
	lane, _ := facts.LaneRate(speed)
	rate, ok := facts.DataRate(speed, width)
	if !ok || lane*facts.BitsPerSecond(width) != p.Rate.Or(0) {
		return facts.Opt[facts.BitsPerSecond]{}
	}
	return facts.Some(rate)
}

// parsePortState reads "4: ACTIVE". The number decides where a later kernel
// spells a state in another way.
func parsePortState(s string) (facts.PortState, error) {
	states := []facts.PortState{facts.StateNOP, facts.StateDown, facts.StateInit,
		facts.StateArmed, facts.StateActive, facts.StateActiveDefer}
	n, _, err := parseNumbered(s)
	if err != nil || n >= len(states) {
		return "", form(`"NUMBER: STATE", NUMBER 0 to 5`)
	}
	return states[n], nil
}

// trafficClassFile is where MLNX_OFED lets an administrator override the
// traffic class of every QP. Kernels without that patch lack it.
func trafficClassFile(d *facts.Device, p *facts.Port) string {
	return strings.Replace(portDir(d, p), "/ports/", "/tc/", 1) + "traffic_class"
}

// parseTrafficClass reads "Global tclass=106" and, on lines of their own,
// rules for single addresses. Without an override the file is empty.
func parseTrafficClass(s string) (int, error) {
	var class int
	err := error(errNoValue)
	for line := range strings.Lines(s) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "Global tclass=")
		if !ok {
			continue
		}
		if class, err = parseInt(value); err != nil || class < 0 || class > 255 {
			return 0, form(`"Global tclass=N", N 0 to 255`)
		}
	}
	return class, err
}
