package doctor

import (
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/baseline"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/policy"
)

// expected judges the host by what it should be like here: the results beside
// those of the checks, and the names that must work.
func expected(s *facts.Snapshot, opt Options) (results []checks.Result, names []string) {
	if opt.Baseline != nil {
		results = append(results, baseline.Changes(opt.Baseline, s))
		names = append(names, baseline.Wanted(opt.Baseline, s)...)
	}
	if opt.Policy != nil {
		results = append(results, policy.Judge(opt.Policy, s))
		names = append(names, opt.Policy.Wanted(s)...)
	}
	results = slices.DeleteFunc(results, func(r checks.Result) bool { return !resultWanted(opt, r) })
	for i := range results {
		results[i].Findings = slices.DeleteFunc(results[i].Findings, func(f checks.Finding) bool {
			return !codeWanted(opt, f.Code) || opt.Device != "" && !concerns(f.Where, opt)
		})
	}
	return results, names
}

// concerns reports whether a place is the device or port that the user named.
func concerns(w checks.Where, opt Options) bool {
	return w.Device == opt.Device && (opt.Port == 0 || w.Port == 0 || w.Port == opt.Port)
}

// expectedCodes are, by id, the codes of the results that are no checks.
var expectedCodes = map[string][]string{baseline.ID: baseline.Codes, policy.ID: policy.Codes}

// resultWanted reports whether --only and --skip leave a result: by its id, its
// layer or a code of it.
func resultWanted(opt Options, r checks.Result) bool {
	if slices.Contains(opt.Skip, r.ID) || slices.Contains(opt.Skip, r.Layer.String()) {
		return false
	}
	return len(opt.Only) == 0 || slices.ContainsFunc(append([]string{r.ID, r.Layer.String()}, expectedCodes[r.ID]...),
		func(name string) bool { return slices.Contains(opt.Only, name) })
}

// demand makes of a finding what the expectation makes of it: information about
// a setting that is legitimate elsewhere is a finding where this host should
// have another.
func demand(r *checks.Result, wanted []checks.Result) {
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, w := range wanted {
			for _, g := range w.Findings {
				if g.Code != f.Code || g.Subject != f.Subject || rank(g.Severity) <= rank(f.Severity) {
					continue
				}
				f.Severity, f.Confidence, f.Params = g.Severity, g.Confidence, maps.Clone(g.Params)
				f.Message = g.Message
				f.Evidence = append(slices.Clone(f.Evidence), g.Evidence...)
			}
		}
		switch {
		case f.Severity == checks.Fail:
			r.Status, r.Reason = checks.Failed, ""
		case f.Severity == checks.Warn && r.Status != checks.Failed:
			r.Status, r.Reason = checks.Warned, ""
		}
	}
}

func rank(s checks.Severity) int {
	return slices.Index([]checks.Severity{checks.Info, checks.Warn, checks.Fail}, s)
}
