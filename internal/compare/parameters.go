package compare

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// parameters compares the parameters of modules over all hosts that have them.
func parameters(hosts []Host, r *checks.Result) {
	type one struct{ host, value string }
	all := map[[2]string][]one{} // by module and parameter
	for _, h := range hosts {
		for i := range h.Snapshot.Modules {
			m := &h.Snapshot.Modules[i]
			for name, value := range m.Parameters {
				k := [2]string{m.Name, name}
				all[k] = append(all[k], one{h.Name, value})
			}
		}
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		ones := all[k]
		if len(ones) < 2 {
			continue // Another version of the module, which is compared itself.
		}
		r.Examined++
		values := make([]string, len(ones))
		for i := range ones {
			values[i] = ones[i].value
		}
		want, others, odds := odd(values, nil)
		good := ones[slices.Index(values, want)]
		what := "parameter " + k[1] + " of " + k[0]
		path := " /sys/module/" + k[0] + "/parameters/" + k[1]
		for _, i := range odds {
			with := good.host + " has " + orEmpty(want)
			if others > 1 {
				with = fmt.Sprintf("%d others have %s", others, orEmpty(want))
			}
			r.Findings = append(r.Findings, checks.Finding{
				Code: oddOneOut, Severity: checks.Warn, Confidence: checks.Proved,
				Subject:  fmt.Sprintf("%s %s -> %s %s", ones[i].host, k[0], good.host, k[0]),
				Message:  fmt.Sprintf("%s on %s is %s, and %s; wanted the same on all", what, ones[i].host, orEmpty(values[i]), with),
				Evidence: []checks.Evidence{{Source: ones[i].host + path, Value: orEmpty(values[i])}, {Source: good.host + path, Value: orEmpty(want)}},
				Where:    checks.Where{Host: ones[i].host}, Params: map[string]string{"what": what},
			})
		}
	}
}

// orEmpty is a value that is seen though it is empty.
func orEmpty(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}
