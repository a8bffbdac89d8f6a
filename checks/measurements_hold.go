package checks

import (
	"fmt"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/internal/expect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var measurementsHold = register(&Check{
	ID:    "measurements-hold",
	Title: "probes measure what they measured before",
	Doc: "The same probe between the same ports, of the same size and number of queue pairs, is held against what it measured when " +
		"the baseline was recorded. Three percent is noise, five is a change; both are widened by what the samples differ among " +
		"themselves, and for software devices by a fifth. It is the only verdict that software, guests and cloud adapters get.",
	Layer: Performance,
	Needs: []facts.Source{facts.Probes},
	Uses:  []facts.Source{facts.SysfsRDMA},
	Codes: []string{"bandwidth-low", "latency-high", "message-rate-low"},
	Params: Params{
		"bandwidth-low": figureParams, "latency-high": figureParams, "message-rate-low": figureParams,
	},
	Run: func(p *Pass) {
		s := p.Read(facts.Probes, facts.SysfsRDMA)
		if len(p.opt.Before) == 0 {
			p.Otherwise("no baseline with measurements was given")
			return
		}
		p.Otherwise("the baseline holds no measurement of the same kind")
		for _, ms := range p.pairs("latency", "bandwidth", "message-rate") {
			judgeAgain(p, s, ms)
		}
	},
})

// softwareNoise is what figures of software devices differ by from run to run:
// they are made by the processors that everything else runs on.
const softwareNoise = 0.20

// judgeAgain holds one pair's measurements against those of the baseline, and
// reports the worst of each kind.
func judgeAgain(p *Pass, s *facts.Snapshot, ms []*facts.Measurement) {
	worst := map[string]Finding{}
	share := map[string]float64{}
	for _, m := range ms {
		was := earlier(p.opt.Before, m)
		if was == nil {
			continue
		}
		p.Examine(1)
		at := endOfMeasurement(s, m)
		rate, noise, ok := held(was, m, at)
		if !ok {
			p.Unread(m.Local, "figure of "+m.Probe+" "+title(m))
			continue
		}
		old, _ := was.Figure()
		now, _ := m.Figure()
		if rate >= expect.BaselinePass-noise {
			continue
		}
		code := map[string]string{"latency": "latency-high", "bandwidth": "bandwidth-low", "message-rate": "message-rate-low"}[m.Probe]
		if had, ok := share[code]; ok && had <= rate {
			continue
		}
		share[code] = rate
		f := Finding{
			Code: code, Severity: Warn, Subject: at.Subject, Confidence: Proved, Where: at.Where,
			Message: fmt.Sprintf("%s %s gives %s, and gave %s when the baseline was recorded", m.Probe, title(m), shown(m, now), shown(m, old)),
			Evidence: []Evidence{figureEvidence(m, now), {"the same in the baseline", shown(was, old)},
				{"noise allowed for", percent(1 - expect.BaselinePass + noise)}},
			Params: at.figureOf(m, "figure", shown(m, now), "expected", shown(was, old), "reason", "baseline"),
		}
		if rate < expect.BaselineFail-noise {
			f.Severity = Fail
		}
		shaper, limited := shaperOf(s, at)
		switch why := reasons([]*facts.Measurement{m}); {
		case limited:
			f.Message += "; " + shaper.Value
			f.Evidence = append(f.Evidence, shaper)
		case why != "":
			f.Message += "; meanwhile " + why
		default:
			f.Message += "; no counter of loss, pause or congestion moved, so look at the processors of both hosts"
		}
		worst[code] = f
	}
	for _, f := range worst {
		p.Report(f)
	}
}

// held is what share of the earlier figure is left, and the noise to allow for.
func held(was, m *facts.Measurement, at end) (rate, noise float64, ok bool) {
	old, ok1 := was.Figure()
	now, ok2 := m.Figure()
	if !ok1 || !ok2 || old <= 0 || now <= 0 {
		return 0, 0, false
	}
	rate = now / old
	if m.Unit == "ns" {
		rate = old / now // Longer is worse.
	}
	noise = max(spread(was), spread(m))
	if at.software() {
		noise = max(noise, softwareNoise)
	}
	return rate, noise, true
}

// slower reports whether any of the measurements is below its baseline.
func slower(p *Pass, ms []*facts.Measurement) bool {
	for _, m := range ms {
		if was := earlier(p.opt.Before, m); was != nil {
			if rate, noise, ok := held(was, m, endOfMeasurement(p.snap, m)); ok && rate < expect.BaselinePass-noise {
				return true
			}
		}
	}
	return false
}

// earlier is the measurement of the baseline that was made in the same way. The
// far host may be written in another way than the far port.
func earlier(before []facts.Measurement, m *facts.Measurement) *facts.Measurement {
	for i := range before {
		b := &before[i]
		if b.Probe == m.Probe && b.Local == m.Local && strings.EqualFold(b.Remote, m.Remote) && b.Op == m.Op && b.SizeBytes == m.SizeBytes &&
			b.QPs == m.QPs && b.Depth == m.Depth && b.Direction == m.Direction && b.Mode == m.Mode {
			return b
		}
	}
	return nil
}
