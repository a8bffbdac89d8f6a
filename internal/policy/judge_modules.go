package policy

import (
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// modules judges the parameters of the modules that the policy lists and that
// are here.
func (j *judge) modules() {
	if len(j.Modules) > 0 && !j.snap.Has(facts.ModuleList) {
		j.unread(string(facts.ModuleList))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(j.Modules)) {
		m := j.snap.Module(name)
		if m == nil {
			j.unread("parameters of " + name + ": the module is not loaded")
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(j.Modules[name])) {
			what := "parameter " + key + " of " + name
			is, ok := m.Parameters[key]
			if !ok {
				j.unread(what)
				continue
			}
			j.result.Examined++
			if want := j.Modules[name][key]; is != want {
				j.mismatch("host", checks.Where{}, checks.Warn, what, orNone(is), want, "/sys/module/"+name+"/parameters/"+key)
			}
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}
