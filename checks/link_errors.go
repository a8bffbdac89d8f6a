package checks

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var linkErrors = register(&Check{
	ID:    "link-errors",
	Title: "links carry bits without errors",
	Doc: "Symbol and receive errors that grow are a bad cable, module or connector on this link. Packets that arrive " +
		"already marked as damaged were damaged on another link, so this cable is not the one to change. Errors that " +
		"forward error correction mends are not counted.",
	Layer: Link,
	Needs: []facts.Source{facts.SysfsRDMA},
	Uses:  []facts.Source{facts.Links, facts.Ethtool, facts.PCISysfs},
	Codes: []string{"link-symbol-errors", "link-errors-upstream"},
	Params: Params{
		"link-symbol-errors":   "device port netdev? pci? counter",
		"link-errors-upstream": "device port netdev? pci? counter",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Links, facts.Ethtool, facts.PCISysfs)
		for port := range p.Ports(nil) {
			if p.virtualFunction(port.Device) {
				p.NotApplicable("owned by the host: %s is a virtual function", port.Device.Name)
				continue
			}
			var owners []*facts.Netdev
			if n := s.Netdev(port.Netdev.Or("")); n != nil {
				owners = s.Hardware(n)
			}
			judgeLinkErrors(p, port, owners)
		}
	},
})

// corrected are counters of the physical class that count work, not harm: bits
// that FEC mended, and the denominator of error rates.
var corrected = []string{"rx_bits_phy", "rx_bits", "rx_corrected_bits_phy", "rx_corrected_bits", "rx_err_lane_#_phy",
	"rx_fec_corrected_blocks", "DcXmitCorr", "DcRcvCorrCnt", "corrected_blocks", "corrected_bits"}

// fewDamaged is how many packets lost between two samples are a fault for which a
// node is taken out of work, and not only a warning.
const fewDamaged = 3

func harmful(gs []grown) []grown {
	return slices.DeleteFunc(gs, func(g grown) bool { return slices.Contains(corrected, g.Counter.Name) })
}

func judgeLinkErrors(p *Pass, port PortRef, owners []*facts.Netdev) {
	type place struct {
		at  counters.Place
		m   map[string]facts.Counter
		dir string
		src facts.Source
		on  string // the netdev that counts, "" for the RDMA device
	}
	places := []place{{counters.Port, port.Counters, port.Path("counters/"), facts.SysfsRDMA, ""},
		{counters.Device, port.HWCounters, port.Path("hw_counters/"), facts.SysfsRDMA, ""}}
	busy := !idle(port, nil)
	for _, owner := range owners {
		places = append(places, place{counters.Ethtool, owner.Ethtool, "ethtool -S " + owner.Name + " ", facts.Ethtool, owner.Name},
			place{counters.FEC, owner.FECCounters, "ethtool -I --show-fec " + owner.Name + " ", facts.Ethtool, owner.Name})
		if !port.Device.Software() { // Its netdev may be a device of the kernel alone.
			places = append(places, place{counters.Netdev, owner.Stats, "ip -s -s link show " + owner.Name + " ", facts.Links, owner.Name})
		}
		busy = busy || !idle(port, owner)
	}
	there, twice, found := false, false, false
	report := func(code string, class counters.Class, message string) {
		var all []grown
		var evidence []Evidence
		on := ""
		for _, pl := range places {
			t, tw := sampled(pl.at, pl.m, class)
			there, twice = there || t, twice || tw
			gs := harmful(grew(pl.at, pl.m, class))
			for _, g := range gs {
				evidence = append(evidence, g.evidence(pl.dir, p.snap.Between(pl.src)))
			}
			all = append(all, gs...)
			if len(gs) > 0 && pl.on != "" {
				on = pl.on
			}
		}
		if len(all) == 0 {
			return
		}
		found = true
		most := biggest(all)
		f := Finding{
			Code: code, Severity: Warn, Subject: port.String(), Confidence: Proved, Where: port.Where(), Evidence: evidence,
			Message: fmt.Sprintf("%s: %s grew by %d between the samples", message, most.Name, most.Delta),
			Params:  port.Params("netdev", cmp.Or(on, port.Netdev.Or("")), "counter", most.Name),
		}
		// Lost packets are harm; symbols alone may have been mended by a retry of the
		// link. A few between two samples is what a good link has now and then, too.
		if code == "link-symbol-errors" && slices.ContainsFunc(all, func(g grown) bool { return g.Unit == "packets" && g.Delta >= fewDamaged }) {
			f.Severity = Fail
		}
		p.Report(f)
	}
	report("link-symbol-errors", counters.Physical, "this link damages what it carries")
	report("link-errors-upstream", counters.PhysicalUpstream, "packets arrive that another link damaged")
	switch {
	case found:
	case !there:
		p.NotApplicable("%s counts no link errors", port)
	case !twice:
		p.Unread(port.String(), "second sample of the error counters")
	case !busy:
		p.Idle(port.String())
	}
}
