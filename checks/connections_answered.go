package checks

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

var connectionsAnswered = register(&Check{
	ID:    "connections-answered",
	Title: "peers answer connection requests",
	Doc: "rdma_cm repeats a request every few seconds until the peer accepts or refuses. Requests that are sent again " +
		"while no answer of any kind has ever come say that the peer is not reached by RDMA, which ping and TCP do not tell.",
	Layer: Verbs,
	Needs: []facts.Source{facts.SysfsRDMA},
	Codes: []string{"cm-unreachable"},
	Params: Params{
		"cm-unreachable": ladderParams,
	},
	Run: func(p *Pass) {
		for port := range p.Ports(nil) {
			judgeConnections(p, port)
		}
	},
})

// silentRetries is how many requests must have been sent again before silence
// means something: a listener may be slow to start.
const silentRetries = 3

func judgeConnections(p *Pass, port PortRef) {
	if len(port.CM) == 0 {
		p.NotApplicable("the connection manager counts nothing on %s", port)
		return
	}
	total := func(names ...string) (n uint64) {
		for _, name := range names {
			v, _ := port.CM[name].Value()
			n += v
		}
		return n
	}
	for _, kind := range []struct {
		request string
		answers []string
	}{
		{"req", []string{"cm_rx_msgs/rep", "cm_rx_msgs/rej", "cm_rx_msgs/mra"}},
		{"sidr_req", []string{"cm_rx_msgs/sidr_rep"}},
	} {
		name := "cm_tx_retries/" + kind.request
		retries := port.CM[name]
		if _, ok := retries.Last.Get(); !ok {
			p.Unread(port.String(), "second sample of "+name)
			return
		}
		grown, ok := retries.Delta()
		answered := total(kind.answers...)
		if !ok || grown == 0 || answered > 0 {
			continue
		}
		f := Finding{
			Code: "cm-unreachable", Severity: Info, Subject: port.String(), Confidence: Possible, Where: port.Where(),
			Message: fmt.Sprintf("%d connection requests were sent again between the samples, and none was ever answered", grown),
			Evidence: []Evidence{moved(port.Path(name), retries, grown, p.snap.Between(facts.SysfsRDMA)),
				{port.Path("cm_tx_msgs/" + kind.request), fmt.Sprint(total("cm_tx_msgs/" + kind.request))}},
			Params: port.Params(),
		}
		for _, a := range kind.answers {
			f.Evidence = append(f.Evidence, Evidence{port.Path(a), fmt.Sprint(total(a))})
		}
		if total(name) >= silentRetries {
			f.Severity, f.Confidence = Warn, Likely
		}
		p.Report(f)
	}
}
