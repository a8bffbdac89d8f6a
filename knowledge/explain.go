package knowledge

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// Explain turns the findings of a run into diagnoses, the answer first. A
// finding that another one at the same place explains is folded under it;
// findings of one code that need the same fix are one diagnosis with several
// subjects. It is a function of its arguments only.
func Explain(results []checks.Result, rel Relations) []Diagnosis {
	all := symptoms(results, rel)
	causes := directCauses(all)
	for i := range all {
		all[i].root = root(all, causes, i)
	}
	var groups []*group
	byKey := map[string]*group{}
	for i := range all {
		if all[i].root != i {
			continue
		}
		key := all[i].groupKey()
		g := byKey[key]
		if g == nil {
			g = &group{}
			byKey[key] = g
			groups = append(groups, g)
		}
		g.causes = append(g.causes, i)
		for j := range all {
			if j != i && all[j].root == i {
				g.consequences = append(g.consequences, j)
			}
		}
	}
	ds := make([]Diagnosis, 0, len(groups))
	for _, g := range groups {
		ds = append(ds, g.diagnosis(all))
	}
	slices.SortStableFunc(ds, compare)
	return ds
}

// symptom is one finding with what is needed to place it in the cause graph.
type symptom struct {
	checks.Finding
	page *Page
	at   spot
	root int // index of the finding whose cause explains this one
}

// symptoms lists the findings in a fixed order; what two checks say with the
// same words and parameters stands once. Retired codes, which only an old
// report can hold, are left out.
func symptoms(results []checks.Result, rel Relations) []symptom {
	var all []symptom
	for _, r := range results {
		for _, f := range r.Findings {
			if slices.Contains(checks.Retired, f.Code) {
				continue
			}
			p, ok := Lookup(f.Code)
			if !ok {
				p = pageless(f, r.Layer)
			}
			same := slices.IndexFunc(all, func(s symptom) bool { return s.says(f) })
			switch {
			case same < 0:
				all = append(all, symptom{Finding: f, page: p, at: rel.spot(f.Where)})
			case severityRank(f.Severity) < severityRank(all[same].Severity):
				all[same].Finding = f
			}
		}
	}
	slices.SortStableFunc(all, func(a, b symptom) int {
		return cmp.Or(compare(a.alone(), b.alone()), cmp.Compare(a.Message, b.Message))
	})
	return all
}

// says reports whether s is the same finding as f, whatever its severity.
func (s symptom) says(f checks.Finding) bool {
	return s.Code == f.Code && s.Subject == f.Subject && s.Where.Host == f.Where.Host && maps.Equal(s.Params, f.Params)
}

// pageless stands in for a code of a newer program's report.
func pageless(f checks.Finding, layer checks.Layer) *Page {
	return &Page{Code: f.Code, Title: f.Message, Confidence: checks.Possible, Impact: AtRisk, Layer: layer}
}

// directCauses lists, for each finding, the findings that explain it.
// Information explains information only: what harms nobody here is not the
// cause of what does.
func directCauses(all []symptom) [][]int {
	causes := make([][]int, len(all))
	for c := range all {
		for _, s := range all[c].page.Explains.scopes() {
			for k := range all {
				if k == c || all[c].Severity == checks.Info && all[k].Severity != checks.Info {
					continue
				}
				if slices.Contains(s.Codes, all[k].Code) && near(s.Scope, all[c].at, all[k].at) &&
					!slices.Contains(causes[k], c) {
					causes[k] = append(causes[k], c)
				}
			}
		}
	}
	return causes
}

// root follows the causes of finding i to those that nothing explains and
// takes the one that ranks first: all is in that order. The pages' graph has
// no cycle, so this ends.
func root(all []symptom, causes [][]int, i int) int {
	best := -1
	seen := map[int]bool{}
	var up func(int)
	up = func(k int) {
		if seen[k] {
			return
		}
		seen[k] = true
		if len(causes[k]) == 0 && (best < 0 || k < best) {
			best = k
		}
		for _, c := range causes[k] {
			up(c)
		}
	}
	up(i)
	if best < 0 {
		return i
	}
	return best
}

// groupKey is equal for findings that one diagnosis shows together.
func (s *symptom) groupKey() string {
	harm := "harm"
	if s.Severity == checks.Info {
		harm = "information"
	}
	return s.Code + "\x00" + harm + "\x00" + string(s.confidence()) + "\x00" + s.Where.Host + "\x00" +
		applicable(s.page.Fix, s.values())
}

func (s *symptom) values() values { return values{s.Params, s.Where} }

func (s *symptom) confidence() checks.Confidence {
	if s.Confidence != "" {
		return s.Confidence
	}
	return s.page.Confidence
}

// ConfidenceOf is how sure a finding is: its own word, or that of its page.
func ConfidenceOf(f checks.Finding) checks.Confidence {
	if page, ok := Lookup(f.Code); ok && f.Confidence == "" {
		return page.Confidence
	}
	return f.Confidence
}
