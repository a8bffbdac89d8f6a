package baseline

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// services compares the limits of the services that launch RDMA programs,
// which what they start inherits.
func (c *comparison) services() {
	if !c.before.Has(facts.ProcessList) || !c.now.Has(facts.ProcessList) {
		return
	}
	for i := range c.before.Processes {
		was := &c.before.Processes[i]
		if len(was.Services) == 0 || i != slices.IndexFunc(c.before.Processes, named(was.Comm)) {
			continue
		}
		at := slices.IndexFunc(c.now.Processes, named(was.Comm))
		if at < 0 {
			c.serviceChange(was, checks.Info, "the service", "running", "not there")
			continue
		}
		is := &c.now.Processes[at]
		for _, name := range slices.Sorted(maps.Keys(was.Limits)) {
			limit, ok := is.Limits[name]
			switch {
			case !ok:
				c.unread["service "+was.Comm] = append(c.unread["service "+was.Comm], "limit "+name)
			case limit != was.Limits[name]:
				c.serviceChange(is, checks.Warn, "limit "+name, limitText(was.Limits[name]), limitText(limit))
			}
		}
	}
}

func named(comm string) func(facts.Process) bool {
	return func(p facts.Process) bool { return p.Comm == comm && len(p.Services) > 0 }
}

func (c *comparison) serviceChange(p *facts.Process, severity checks.Severity, what, was, is string) {
	source := fmt.Sprintf("/proc/%d/limits", p.PID)
	c.report(checks.Finding{
		Code: ChangedCode, Severity: severity, Subject: p.Comm, Confidence: checks.Proved, Where: checks.Where{PID: p.PID},
		Message:  fmt.Sprintf("%s of %s is %s, and was %s when the baseline was recorded", what, p.Comm, is, was),
		Evidence: []checks.Evidence{{Source: source, Value: is}, {Source: "the baseline's " + source, Value: was}},
		Params:   map[string]string{"what": what + " of " + p.Comm, "was": was, "is": is},
	})
}

// limitText shows soft and hard limit as /proc/PID/limits does.
func limitText(l facts.Limit) string {
	text := func(v uint64, unlimited bool) string {
		if unlimited {
			return "unlimited"
		}
		return fmt.Sprint(v)
	}
	return text(l.Soft, l.SoftUnlimited) + " (hard " + text(l.Hard, l.HardUnlimited) + ")"
}
