package checks

import (
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var latencyLow = register(&Check{
	ID:    "latency-low",
	Title: "small messages are as quick as the hardware is, and evenly so",
	Doc: "Between NICs on one site the median of a small WRITE or SEND is at most 2.5 us for half the round trip, of a READ 4.5 us " +
		"for the whole. A median that is fine with a far tail is sleep states, interrupts or loss; a high one with every peer is " +
		"this host. Software, guests and cloud adapters are held against a baseline only.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA, facts.Links, facts.PCISysfs, facts.CPUSource, facts.ProcLimits},
	Codes: []string{"latency-high", "latency-jitter", "cpu-power-saving", "numa-remote"},
	Params: Params{
		"latency-high": figureParams, "latency-jitter": figureParams, "cpu-power-saving": governorParams, "numa-remote": numaParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA, facts.Links, facts.PCISysfs, facts.CPUSource, facts.ProcLimits)
		for m := range p.Measurements("latency") {
			if m.SizeBytes > smallMessage || m.Mode != "" {
				continue
			}
			p.Examine(1)
			if _, ok := m.Quantile(0.5); !ok {
				p.Examine(-1)
				p.unmeasured([]*facts.Measurement{m}, "latency")
				continue
			}
			if judgeDelay(p, s, m) {
				continue
			}
			if _, ok := p.judgeable(m); ok {
				judgeLatency(p, s, m)
			}
		}
	},
})

const (
	governorParams = "governor? driver? preference?"
	smallMessage   = 64 // bytes that go inline and in one packet
)

// roundTrip is the whole way there and back of a latency: WRITE and SEND are
// told as half of it.
func roundTrip(m *facts.Measurement, ns float64) time.Duration {
	if m.Op == "write" || m.Op == "send" {
		ns *= 2
	}
	return time.Duration(ns)
}

// The tail that is far: the 99th percentile three times the median, or the
// 99.9th ten times, where that is more than timers and one interrupt make.
const (
	tail99  = 3
	tail999 = 10
	tailMin = 20 * time.Microsecond
)

func judgeLatency(p *Pass, s *facts.Snapshot, m *facts.Measurement) {
	at := endOfMeasurement(s, m)
	median, _ := m.Quantile(0.5)
	warn, fail := expect.LatencyWarn, expect.LatencyFail
	if m.Op != "write" && m.Op != "send" {
		warn, fail = expect.ReadLatencyWarn, expect.ReadLatencyFail
	}
	f := Finding{
		Code: "latency-high", Severity: Warn, Subject: at.Subject, Confidence: Likely, Where: at.Where,
		Evidence: []Evidence{latencyEvidence(m)},
		Params:   at.figureOf(m, "figure", expect.Time(median), "expected", expect.Time(float64(warn))),
	}
	p99, _ := m.Quantile(0.99)
	p999, _ := m.Quantile(0.999)
	enough := m.Iterations >= 1000 || len(m.Samples) >= 1000 || m.Quantiles != nil && m.Quantiles.Count >= 1000
	far := p99 > tail99*median && p99-median > float64(tailMin) || p999 > tail999*median && p999-median > float64(tailMin)
	switch {
	case median > float64(warn):
		f.Message = fmt.Sprintf("%s takes %s in the median; hardware on one site takes at most %s", title(m), expect.Time(median), expect.Time(float64(warn)))
		if median > float64(fail) {
			f.Severity = Fail
		}
	case far && enough:
		f.Code = "latency-jitter"
		f.Message = fmt.Sprintf("%s takes %s in the median, %s at 99 %% and %s at 99.9 %%", title(m), expect.Time(median), expect.Time(p99), expect.Time(p999))
	default:
		return
	}
	ms := []*facts.Measurement{m}
	if why := reasons(ms); why != "" {
		f.Message += "; meanwhile " + why
		f.Params["reason"] = "moved"
	} else {
		f.Message += "; no counter of loss, pause or congestion moved, so look at processors before the network"
		f.Params["reason"] = "host"
		judgeGovernor(p, s, f.Severity)
		judgeNUMA(p, at, &f)
	}
	for _, st := range stirs(ms) {
		if _, tells := classWords[st.class]; tells {
			f.Evidence = append(f.Evidence, moveEvidence(st.most))
		}
	}
	p.Report(f)
}

// latencyEvidence shows the quantiles.
func latencyEvidence(m *facts.Measurement) Evidence {
	text := ""
	for _, q := range []struct {
		name string
		at   float64
	}{{"min", 0}, {"median", 0.5}, {"99 %", 0.99}, {"99.9 %", 0.999}, {"max", 1}} {
		if v, ok := m.Quantile(q.at); ok {
			text += fmt.Sprintf(", %s %s", q.name, expect.Time(v))
		}
	}
	if text == "" {
		text = "  no quantiles"
	}
	return Evidence{"probe latency, " + title(m), text[2:]}
}

// judgeGovernor tells that processors save power, now that it does harm.
func judgeGovernor(p *Pass, s *facts.Snapshot, harm Severity) {
	driver := s.CPU.FreqDriver.Or("")
	slow := s.CPU.Governors["powersave"]
	if slow == 0 || driver == "" || scalesItself(driver) && !savesEnergy(s.CPU.EPP.Or("")) {
		return
	}
	f := Finding{
		Code: "cpu-power-saving", Severity: harm, Subject: hostSubject, Confidence: Likely,
		Message:  fmt.Sprintf("governor powersave of %s keeps processors slow, and latency shows it", driver),
		Evidence: []Evidence{{cpufreq + "scaling_driver", driver}, {cpufreq + "scaling_governor", fmt.Sprintf("powersave (%d of %d policies looked at)", slow, total(s.CPU.Governors))}},
		Params:   params("governor", "powersave", "driver", driver, "preference", s.CPU.EPP.Or("")),
	}
	p.Report(f)
}

// judgeDelay tells that a netem qdisc delays packets on purpose, which is seen
// on software devices as well. It reports whether it found one.
func judgeDelay(p *Pass, s *facts.Snapshot, m *facts.Measurement) bool {
	at := endOfMeasurement(s, m)
	median, _ := m.Quantile(0.5)
	for _, host := range hostsOf(s, at) {
		for i := range host.snap.Netdevs {
			n := &host.snap.Netdevs[i]
			for _, q := range n.Qdiscs {
				delay, ok := q.Delay.Get()
				if q.Kind != "netem" || !ok || float64(delay) < median/4 || float64(delay) > 4*median || !carriesPort(host.snap, n) {
					continue
				}
				source := "tc qdisc show dev " + n.Name
				if host.name != "" {
					source = host.name + ": " + source
				}
				p.Report(Finding{
					Code: "latency-high", Severity: Warn, Subject: at.Subject, Confidence: Likely, Where: at.Where,
					Message:  fmt.Sprintf("%s takes %s in the median, and a netem qdisc on %s delays what it sends by %v", title(m), expect.Time(median), n.Name, delay),
					Evidence: []Evidence{latencyEvidence(m), {source, fmt.Sprintf("netem %s delay %v", q.Parent, delay)}},
					Params:   at.figureOf(m, "figure", expect.Time(median), "reason", "netem"),
				})
				return true
			}
		}
	}
	return false
}

// carriesPort reports whether an RDMA port sends by the netdev.
func carriesPort(s *facts.Snapshot, n *facts.Netdev) bool {
	for _, ref := range ports(s) {
		if on := s.Netdev(ref.Netdev.Or("")); on != nil && (on == n || s.Beneath(on) == n) {
			return true
		}
	}
	return false
}
