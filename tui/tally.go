package tui

import (
	"strconv"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/checks"
)

// tally counts how the checks of one layer ended.
type tally struct {
	layer                           checks.Layer
	fail, warn, unknown, pass, skip int
	idle                            int // skipped because too little moved
	info                            int // findings of severity info
}

// probed are the layers that only probes can fill.
var probed = map[checks.Layer]bool{checks.Verbs: true, checks.Performance: true}

// ladder are the layers in order, bottom up. Those that a plain examination of
// a host always has stand there from the start, so that nothing moves while
// results come in.
func (e *exam) ladder() []tally {
	var ts []tally
	at := map[checks.Layer]int{}
	for _, l := range checks.Layers() {
		if l == checks.Application || l == checks.Group {
			continue
		}
		at[l] = len(ts)
		ts = append(ts, tally{layer: l})
	}
	for _, r := range e.results {
		i, ok := at[r.Layer]
		if !ok {
			i = len(ts)
			at[r.Layer] = i
			ts = append(ts, tally{layer: r.Layer})
		}
		ts[i].add(r)
	}
	return ts
}

func (t *tally) add(r *checks.Result) {
	switch r.Status {
	case checks.Failed:
		t.fail++
	case checks.Warned:
		t.warn++
	case checks.Unknown:
		t.unknown++
	case checks.Passed:
		t.pass++
	case checks.Skipped:
		if idle(r) {
			t.idle++
		} else {
			t.skip++
		}
	}
	for _, f := range r.Findings {
		if f.Severity == checks.Info {
			t.info++
		}
	}
}

// idle reports whether a check was skipped because too little moved
// (checks.Pass.Idle).
func idle(r *checks.Result) bool {
	return r.Status == checks.Skipped && strings.HasPrefix(r.Reason, "idle")
}

func (t tally) total() int { return t.fail + t.warn + t.unknown + t.pass + t.skip + t.idle }

// counts spells the tally out, the worst first, so that a cut takes the least.
func (t tally) counts(th *theme, over bool) row {
	if t.total() == 0 {
		switch {
		case probed[t.layer]:
			return row{{th.skip + " not probed", dim}}
		case !over:
			return row{{th.waiting + " waiting", dim}}
		}
		return row{{th.skip + " nothing run", dim}}
	}
	var r row
	add := func(n int, sign string, tn tone) {
		if n == 0 {
			return
		}
		if len(r) > 0 {
			r = append(r, space(2))
		}
		r = append(r, span{sign + " " + strconv.Itoa(n), tn})
	}
	add(t.fail, th.fail, bad)
	add(t.warn, th.warn, warning)
	add(t.unknown, th.unknown, unsure)
	add(t.pass, th.pass, good)
	add(t.info, th.info, accent)
	add(t.idle, "idle", dim)
	add(t.skip, th.skip, dim)
	return r
}

// statusMark is the sign of one check's status.
func (t *theme) statusMark(r *checks.Result) span {
	switch r.Status {
	case checks.Failed:
		return span{t.fail, bad}
	case checks.Warned:
		return span{t.warn, warning}
	case checks.Passed:
		return span{t.pass, good}
	case checks.Unknown:
		return span{t.unknown, unsure}
	}
	return span{t.skip, dim}
}

// severityMark is the sign of a finding's severity.
func (t *theme) severityMark(s checks.Severity) span {
	switch s {
	case checks.Fail:
		return span{t.fail, bad}
	case checks.Warn:
		return span{t.warn, warning}
	}
	return span{t.info, accent}
}
