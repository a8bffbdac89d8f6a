package checks

import (
	"fmt"
	"slices"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/counters"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var probesUndisturbed = register(&Check{
	ID:    "probes-undisturbed",
	Title: "nothing on the way hampers what probes send",
	Doc: "The counters of both hosts are read around each measurement. Packets sent again, receivers that were not ready, pause, " +
		"congestion signals and processors that others keep busy are why a figure is low, on software devices too.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA},
	Codes: []string{"loss-retransmit", "ack-timeout", "rnr-stall", "receiver-drops", "pause-sent", "pause-received", "pfc-storm",
		"congestion", "corruption", "cpu-busy"},
	Params: Params{
		"loss-retransmit": "device port netdev? pci? counter netem?",
		"ack-timeout":     "device port netdev? pci? counter netem?",
		"rnr-stall":       "device port netdev? pci? counter?",
		"receiver-drops":  "device port netdev? pci? counter",
		"pause-sent":      pauseParams,
		"pause-received":  pauseParams,
		"pfc-storm":       "device port netdev? pci? priority? direction percent? counter?",
		"congestion":      "device port netdev? pci? counter priority?",
		"corruption":      requestParams,
		"cpu-busy":        "peer? process? percent?",
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA)
		for _, ms := range p.pairs() {
			at := endOfMeasurement(s, ms[0])
			if !moving(ms) {
				p.unmeasured(ms, "what moves while data does")
				continue
			}
			p.Examine(1)
			// What starves the receiver on purpose says nothing of the host.
			plain := slices.DeleteFunc(slices.Clone(ms), func(m *facts.Measurement) bool { return m.Mode == "few-receives" })
			byCode := map[string]Finding{}
			for _, st := range stirs(plain) {
				if f := judgeStir(p, plain, at, st); f.Severity != "" {
					byCode[f.Code] = worse(byCode[f.Code], f)
				}
			}
			for _, f := range byCode {
				p.Report(f)
			}
			judgeLoad(p, plain, at)
		}
	},
})

const pauseParams = "device port netdev? pci? priority? percent?"

// lossWarnSoftware is where loss is worth a warning on software devices: their
// socket queues drop a packet now and then under full load.
const lossWarnSoftware = 1e-4

func moving(ms []*facts.Measurement) bool {
	return slices.ContainsFunc(ms, func(m *facts.Measurement) bool { return m.Bytes > 0 || m.Messages > 0 || m.Iterations > 0 })
}

// worse is the worse of two findings with one code, with what both show: both
// ends count the same packet.
func worse(a, b Finding) Finding {
	rank := []Severity{"", Info, Warn, Fail}
	if slices.Index(rank, b.Severity) > slices.Index(rank, a.Severity) {
		a, b = b, a
	}
	a.Evidence = append(a.Evidence, b.Evidence...)
	return a
}

// judgeStir judges one kind of counter that moved while a pair was measured. A
// finding without a severity is none.
func judgeStir(p *Pass, ms []*facts.Measurement, at end, st stir) Finding {
	f := Finding{Subject: at.Subject, Confidence: Proved, Where: at.Where, Evidence: []Evidence{moveEvidence(st.most)},
		Params: at.portParams("counter", st.most.Name)}
	all := packetsOf(ms)
	share := 0.0
	if all > 0 {
		share = float64(st.most.Delta) / float64(all)
	}
	seen := fmt.Sprintf("%s of %s grew by %d in %d packets", st.most.Name, place(st), st.most.Delta, all)
	switch st.class {
	case counters.Loss:
		f.Code, f.Message = "loss-retransmit", "packets of the probes were lost and sent again: "+seen
		f.Severity = shareSeverity(share, at.software())
		if st.most.Delta < accidental && f.Severity == Fail {
			f.Severity = Warn
		}
		if at.software() && !gaps(ms) {
			f.Severity = "" // A processor that is late sends again as well.
			if share >= lossFail && st.most.Delta >= manyResent {
				f.Severity, f.Confidence = Warn, Likely
			}
		}
		if at.Port != nil && f.Severity != "" {
			blameNetem(p.snap, &f, *at.Port)
		}
	case counters.Timeout:
		f.Code, f.Severity, f.Message = "ack-timeout", Warn, "answers to the probes stayed away: "+seen
		if t := elapsed(ms); st.unit == "QPs" || t > 0 && time.Duration(st.most.Delta)*time.Second > t {
			f.Severity = Fail // One a second costs a fifteenth of the rate already.
		}
	case counters.ReceiveNotReady:
		f.Code, f.Message = "rnr-stall", "the probes waited for receives: "+seen
		if f.Severity = shareSeverity(share, at.software()); f.Severity == Fail && !starved(ms) {
			f.Severity = Warn
		}
		if at.software() && !starved(ms) && share < notReadySoftware {
			f.Severity = "" // Receiver and sender may share one processor.
		}
	case counters.Corruption:
		f.Code, f.Severity, f.Message = "corruption", Fail, "packets of the probes were damaged: "+seen
	case counters.ECN:
		f.Code, f.Severity, f.Message = "congestion", Info, "the network signalled congestion to the probes: "+seen
		if share >= lossFail {
			f.Severity = Warn
		}
	case counters.CongestionTX, counters.CongestionRX, counters.PauseStorm:
		judgeHeld(&f, ms, at, st, share)
	}
	return f
}

// place is where a counter moved, in words.
func place(st stir) string {
	if st.host != "" {
		return st.host + " " + st.most.Subject
	}
	return st.most.Subject
}

// shareSeverity weighs events by their share of the packets; "" is nothing.
func shareSeverity(share float64, software bool) Severity {
	warn := lossWarn
	if software {
		warn = lossWarnSoftware
	}
	switch {
	case share >= lossFail:
		return Fail
	case share >= warn:
		return Warn
	case software:
		return ""
	}
	return Info
}

// starved reports whether SEND reached less than half of what WRITE did, or
// was alone and stood still for most of the time.
func starved(ms []*facts.Measurement) bool {
	send, slow := best(ms, func(m *facts.Measurement) bool { return plainLarge(m) && m.Op == "send" && m.Probe == "bandwidth" })
	write, fast := best(ms, func(m *facts.Measurement) bool { return plainLarge(m) && m.Op == "write" && m.Probe == "bandwidth" })
	return send != nil && write != nil && slow < fast/2
}

// judgeHeld judges pause and drops: time in microseconds by its share, drops by
// packets. Pause that the peer sends is pause that this host receives.
func judgeHeld(f *Finding, ms []*facts.Measurement, at end, st stir, ofPackets float64) {
	sent := st.dir == counters.TX == (st.host == "")
	direction, code, says := "received", "pause-received", "was held back by pause"
	if sent {
		direction, code, says = "sent", "pause-sent", "paused the network"
	}
	c := at.Subject
	if st.host != "" {
		c = st.host
	}
	switch {
	case st.unit == "microseconds":
		t := elapsed(ms)
		if t <= 0 {
			return
		}
		share := float64(st.most.Delta) / float64(t.Microseconds())
		f.Code, f.Severity = code, pauseSeverity(share)
		f.Message = fmt.Sprintf("%s %s for %s of the probes' time", at.Subject, says, percent(share))
		f.Params = at.portParams("percent", percent(share))
		if f.Severity == Fail {
			f.Code = "pfc-storm"
			f.Params = at.portParams("direction", direction, "percent", percent(share), "counter", st.most.Name)
		}
		if share < pauseTrace {
			f.Severity = ""
		}
	case st.class == counters.CongestionRX && st.unit == "packets" && st.dir == counters.RX:
		f.Code = "receiver-drops"
		if f.Severity = shareSeverity(ofPackets, at.software()); f.Severity == Fail {
			f.Severity = Warn
		}
		f.Message = fmt.Sprintf("%s dropped %d packets of the probes for want of buffers: %s", c, st.most.Delta, st.most.Name)
	}
}

// pauseTrace is the pause time that is the normal work of flow control.
const pauseTrace = 0.01

// Shares of a processor's time from which on others hamper a probe.
const (
	busyAll = 0.9  // of all processors of the host
	busyTop = 0.25 // of one processor, by one process
)

// judgeLoad tells that another process keeps the processors of an end busy.
func judgeLoad(p *Pass, ms []*facts.Measurement, at end) {
	worst := map[string]facts.HostLoad{}
	for _, m := range ms {
		for _, l := range m.Load {
			if had, ok := worst[l.Host]; !ok || topShare(l) > topShare(had) {
				worst[l.Host] = l
			}
		}
	}
	for host, l := range worst {
		all := float64(l.Processors) * float64(l.Elapsed)
		if all <= 0 || float64(l.Busy) < busyAll*all || topShare(l) < busyTop {
			continue
		}
		who, peer := "this host", ""
		if host != "" {
			who, peer = host, host
		}
		harm := Info
		if slower(p, ms) {
			harm = Warn
		}
		p.Report(Finding{
			Code: "cpu-busy", Severity: harm, Subject: at.Subject, Confidence: Likely, Where: at.Where,
			Message: fmt.Sprintf("%s took %s of a processor of %s while probes ran, and none was idle", orUnnamed(l.Top, "another process"),
				percent(topShare(l)), who),
			Evidence: []Evidence{{who + ": /proc/stat during the probe", fmt.Sprintf("busy %v of %v on %d processors, %v of it the probe's own",
				l.Busy.Round(time.Millisecond), l.Elapsed.Round(time.Millisecond), l.Processors, l.Own.Round(time.Millisecond))}},
			Params: params("peer", peer, "process", l.Top, "percent", percent(topShare(l))),
		})
	}
}

// topShare is the share of one processor that the busiest other process took.
func topShare(l facts.HostLoad) float64 {
	if l.Elapsed <= 0 {
		return 0
	}
	return float64(l.TopTime) / float64(l.Elapsed)
}
