package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// ladders shows what probes did, step by step.
func (p *page) ladders(d *Document) {
	for i := range d.Ladders {
		p.blank()
		p.ladder(&d.Ladders[i])
	}
}

func (p *page) ladder(l *facts.Ladder) {
	title := "Probe of " + l.Local
	if l.Remote != "" && l.Remote != l.Local {
		title += " -> " + l.Remote
	}
	p.heading(Clean(title))
	p.para("  ", 2, ladderPath(l.Path))
	for i := range l.Steps {
		p.step(&l.Steps[i])
	}
	p.ended(l)
	for _, v := range l.Varied {
		how := "works"
		if v.Error != nil {
			how = "fails: " + errorShort(v.Error)
		}
		p.para("     ", 5, fmt.Sprintf("%s with %s %s instead of %s: %s", v.Step, v.Attribute, v.To, v.From, how))
	}
	if text := registrations(l.Regions); text != "" {
		p.para("  ", 4, text)
	}
	p.refusals(l)
	for _, s := range l.Skipped {
		p.para("  "+p.mark(checks.Skipped)+" ", 5, s.What+" left out: "+s.Why)
	}
	for _, part := range l.Planned {
		p.para("  - ", 4, part.What+" ("+part.Load+")")
	}
	if text := eventNames(l.Events); text != "" {
		p.para("  ", 4, "Events meanwhile: "+text)
	}
	if text := moves(l.Moved); text != "" {
		p.para("  ", 4, "Counters that moved: "+text)
	}
}

// ladderPath is the way that the packets took.
func ladderPath(path facts.Path) string {
	parts := []string{strings.TrimSpace(path.Transport + " " + path.Service)}
	if path.ByCM {
		parts = append(parts, "by rdma_cm")
	}
	number := func(name string, v facts.Opt[int]) {
		if n, ok := v.Get(); ok {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	number("GID index", path.SGIDIndex)
	if path.SGID != "" {
		parts = append(parts, path.SGID)
	}
	parts = append(parts, path.Netdev)
	if path.PathMTU > 0 {
		parts = append(parts, fmt.Sprintf("path MTU %d", path.PathMTU))
	}
	number("LID", path.DLID)
	number("SL", path.ServiceLevel)
	number("traffic class", path.TrafficClass)
	number("priority", path.Priority)
	return joined(parts)
}

// stepWidth is the cells of a step's name, stepTime those of its time.
const (
	stepWidth = 30
	stepTime  = 9
)

func (p *page) step(s *facts.ProbeStep) {
	mark, said := checks.Passed, s.Detail
	if s.Error != nil {
		mark, said = checks.Failed, s.Error.Text
	} else if s.Verified.Or(false) {
		said = strings.TrimPrefix(s.Detail+", data verified", ", ")
	}
	p.para(fmt.Sprintf("  %s %s %*s  ", p.mark(mark), pad(stepName(s), stepWidth), stepTime, took(s.Time)), 5+stepWidth+1+stepTime+2, said)
}

// stepName is a step with its role, op and size.
func stepName(s *facts.ProbeStep) string {
	name := s.Name
	if s.Op != "" {
		name += " " + s.Op
	}
	if s.Bytes > 0 {
		name += " " + sizeText(s.Bytes)
	}
	if s.Role != "" {
		name += " (" + s.Role + ")"
	}
	return Clean(name)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-len(s)))
}

// took is a time of three digits or so.
func took(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%d ns", d.Nanoseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%d us", d.Microseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.0f s", d.Seconds())
}

func sizeText(n int) string {
	for _, u := range []struct {
		shift uint
		name  string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if n >= 1<<u.shift && n&(1<<u.shift-1) == 0 {
			return fmt.Sprintf("%d %s", n>>u.shift, u.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}

// ended says how a probe ended that did not come to its end.
func (p *page) ended(l *facts.Ladder) {
	if l.End.Outcome == facts.Completed || l.End.Outcome == "" {
		return
	}
	text := string(l.End.Outcome)
	if l.End.Signal != "" {
		text += " (" + l.End.Signal + ")"
	}
	if l.End.Step != "" {
		text += " in step " + l.End.Step
	}
	if l.End.Detail != "" {
		text += ": " + l.End.Detail
	}
	mark := checks.Failed
	switch l.End.Outcome {
	case facts.NotRun, facts.Stopped, facts.Unavailable:
		mark = checks.Unknown
	}
	p.para("  "+p.mark(mark)+" ", 5, text)
}

// registrations says how much memory was registered and what it cost.
func registrations(rs []facts.Registration) string {
	var most, refused *facts.Registration
	for i := range rs {
		switch r := &rs[i]; {
		case r.Error == nil:
			most = r
		case refused == nil:
			refused = r
		}
	}
	text := ""
	if most != nil {
		text = "Registered up to " + sizeText(most.Bytes)
		if mib := float64(most.Bytes) / (1 << 20); mib >= 1 {
			text += fmt.Sprintf(" (%s a MiB)", took(time.Duration(float64(most.Register)/mib)))
		}
	}
	if refused != nil {
		text += fmt.Sprintf("; %s were refused: %s", sizeText(refused.Bytes), errorShort(refused.Error))
	}
	return strings.TrimPrefix(text, "; ")
}

// refusals shows the accesses that must not succeed.
func (p *page) refusals(l *facts.Ladder) {
	if len(l.Refused) == 0 {
		return
	}
	p.para("  ", 4, "Must be refused:")
	for i := range l.Refused {
		s := &l.Refused[i]
		said := "it completed with success"
		if s.Error != nil {
			said = errorShort(s.Error)
		}
		if s.Detail != "" {
			said += ", " + s.Detail
		}
		p.para(fmt.Sprintf("     %s %*s  ", pad(stepName(s), stepWidth), stepTime, took(s.Time)), 5+stepWidth+1+stepTime+2, said)
	}
	if changed, ok := l.Canary.Get(); ok && changed {
		p.para("     ", 5, "Memory was written that no access was allowed to.")
	}
}

// errorShort is an error by its number.
func errorShort(e *facts.StepError) string {
	var parts []string
	switch status, ok := e.WCStatus.Get(); {
	case ok:
		parts = append(parts, fmt.Sprintf("status %d", status))
	case e.Name != "":
		parts = append(parts, e.Name)
	case e.Event != "":
		parts = append(parts, e.Event)
	case e.TimedOut:
		parts = append(parts, "no answer in time")
	default:
		parts = append(parts, e.Text)
	}
	if e.QPState != "" {
		parts = append(parts, "QP in "+e.QPState)
	}
	return strings.Join(parts, ", ")
}

func eventNames(es []facts.AsyncEvent) string {
	var order []string
	count := map[string]int{}
	for _, e := range es {
		if count[e.Name] == 0 {
			order = append(order, e.Name)
		}
		count[e.Name]++
	}
	for i, name := range order {
		if n := count[name]; n > 1 {
			order[i] = fmt.Sprintf("%s %d times", name, n)
		}
	}
	return strings.Join(order, ", ")
}

func moves(ms []facts.CounterMove) string {
	var parts []string
	for _, m := range ms {
		name := m.Name
		if m.Host != "" {
			name = m.Host + " " + name
		}
		parts = append(parts, fmt.Sprintf("%s +%d", name, m.Delta))
	}
	return strings.Join(parts, ", ")
}
