// Package doctor runs one examination: collect, check, explain, told to a
// handler message by message. It decides the order and what is said when the
// run ends early; it reads nothing and judges nothing itself.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/policy"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// Options say what to examine and how.
type Options struct {
	Host     hostio.Host
	Origin   facts.Origin
	Interval time.Duration // between the two samples; 0 takes one
	Timeout  time.Duration // of the whole run; 0 has none
	Only     []string      // codes, check ids or layers; empty means all
	Skip     []string      // the same, left out
	Device   string        // judge only this device; "" means all
	Port     int           // judge only this port of it; 0 means all
	FailOn   checks.Severity
	// Baseline is this host when it was good; nil leaves the question out.
	Baseline *facts.Snapshot
	// Policy is what this host should look like; nil demands nothing.
	Policy  *policy.Policy
	Version string
	Args    []string
	// Gate asks whether the node is to be drained: see report.Gate.
	Gate bool
	// KeepSnapshot also hands the snapshot to the handler.
	KeepSnapshot bool
	// Probe adds what active probes find to the snapshot, after it was collected
	// and before it is judged, so that nothing that a probe moves is held against
	// the host. It tells its progress by send. Nil probes nothing.
	Probe func(ctx context.Context, snap *facts.Snapshot, send func(report.Message))
	// Compared gives what was judged of this host beside its peer, once it was
	// probed, with what belongs together on both. Nil compares nothing.
	Compared func() ([]checks.Result, knowledge.Relations)
}

// Examine runs one examination and reports it to h. The error is that of the
// handler; what went wrong with the host or the run is in the report.
func Examine(ctx context.Context, opt Options, h report.Handler) (report.Summary, error) {
	started := time.Now()
	cs, err := Select(opt.Only, opt.Skip)
	if err != nil {
		return report.Summary{}, err
	}
	cctx := ctx
	if opt.Timeout > 0 {
		var cancel context.CancelFunc
		cctx, cancel = context.WithTimeout(ctx, opt.Timeout)
		defer cancel()
	}
	// Progress comes while the collectors run, from this goroutine.
	var herr error
	send := func(m report.Message) {
		if herr == nil {
			herr = m.Send(h)
		}
	}
	host := hostio.One(cctx, opt.Host, hostio.Op{Kind: hostio.System, Name: "uname"})
	send(report.Message{Run: &report.Run{
		SchemaVersion: report.SchemaVersion,
		Tool:          report.Tool{Name: "rdmadoctor", Version: opt.Version},
		Host:          collect.Hostname(host), Origin: string(opt.Origin), Started: taken(opt.Host, started), Args: opt.Args,
	}})
	snap := collect.Run(cctx, opt.Host, collect.Options{
		Origin: opt.Origin, Interval: opt.Interval,
		Progress: func(step, text string) {
			send(report.Message{Progress: &report.Progress{Step: step, Text: text}})
		},
	})
	if opt.Probe != nil && missing(snap, opt) == nil {
		opt.Probe(cctx, snap, send)
		lookedAt(snap)
	}
	sum := Judge(ctx, snap, cs, opt, send)
	sum.DurationSeconds = time.Since(started).Seconds()
	send(report.Message{Summary: &sum})
	return sum, herr
}

// taken is when the facts are from: now, or when they were recorded.
func taken(h hostio.Host, now time.Time) time.Time {
	if r, ok := h.(hostio.Replayed); ok {
		if times := r.Times(); len(times) > 0 {
			return times[0]
		}
	}
	return now
}

// Judge checks and explains a snapshot that is already there. It sends
// everything but the Run and the Summary, which it returns.
func Judge(ctx context.Context, snap *facts.Snapshot, cs []*checks.Check, opt Options, send func(report.Message)) report.Summary {
	full := snap
	if rerr := missing(full, opt); rerr != nil {
		send(report.Message{Error: rerr})
		sum := report.Summarize(nil, nil, rerr, opt.FailOn)
		if opt.Gate {
			(&report.Gate{Reason: "no verdict: " + rerr.Message}).Close(&sum)
		}
		return sum
	}
	if opt.Device != "" {
		snap = narrow(snap, opt.Device, opt.Port)
	}
	for i := range full.Gaps {
		send(report.Message{Gap: &full.Gaps[i]})
	}
	if opt.KeepSnapshot {
		send(report.Message{Snapshot: full})
	}
	for i := range full.Ladders {
		send(report.Message{Ladder: &full.Ladders[i]})
	}
	for i := range full.Measured {
		send(report.Message{Measurement: &full.Measured[i]})
	}
	send(report.Message{Progress: &report.Progress{Step: "judge", Text: fmt.Sprintf("%d checks", len(cs))}})
	var results []checks.Result
	names := judge(full, snap, cs, opt, func(r checks.Result) {
		results = append(results, r)
		send(report.Message{Result: &r})
	})
	relations := Relations(full)
	if opt.Compared != nil {
		compared, rel := opt.Compared()
		for i := range compared {
			results = append(results, compared[i])
			send(report.Message{Result: &compared[i]})
		}
		relations = append(relations, rel...)
	}
	diagnoses := knowledge.Explain(results, relations)
	for i := range diagnoses {
		send(report.Message{Diagnosis: &diagnoses[i]})
	}
	var rerr *report.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		rerr = &report.Error{Kind: report.InterruptedError, Message: "interrupted",
			Hint: "what was read until then is in the report"}
	case timedOut(full):
		rerr = &report.Error{Kind: report.TimeoutError, Message: fmt.Sprintf("the examination did not end within %v", opt.Timeout),
			Hint: "what was read until then is in the report; give --timeout more"}
	}
	if rerr != nil {
		send(report.Message{Error: rerr})
	}
	sum := report.Summarize(results, diagnoses, rerr, opt.FailOn)
	proveNothing(full, &sum)
	if opt.Gate {
		judgeGate(snap, checks.Options{Wanted: names}, results).Close(&sum)
	}
	return sum
}

// judge gives each what the checks say of snap, the part of full that the user
// asked for, and what is expected of the host. It returns the names that must
// work.
func judge(full, snap *facts.Snapshot, cs []*checks.Check, opt Options, each func(checks.Result)) []string {
	beside, names := expected(full, opt)
	names = append(wanted(opt), names...)
	judged := checks.Options{Wanted: names}
	if opt.Baseline != nil {
		judged.Before = opt.Baseline.Measured
	}
	checks.Run(snap, cs, judged, func(r checks.Result) {
		demand(&r, beside)
		r.Findings = slices.DeleteFunc(r.Findings, func(f checks.Finding) bool { return !codeWanted(opt, f.Code) })
		each(r)
	})
	for _, r := range beside {
		checks.NameEnds(full, &r)
		each(r)
	}
	return names
}

// timedOut reports whether the run's own time ended before a collector began or
// a probe was done.
func timedOut(s *facts.Snapshot) bool {
	return slices.ContainsFunc(s.Ladders, func(l facts.Ladder) bool { return l.End.Outcome == facts.Stopped }) || slices.ContainsFunc(s.Gaps, func(g facts.Gap) bool {
		return g.Kind == facts.Timeout && g.Detail == collect.RunTimeOver
	})
}

// missing says that the device or port the user named is none of this host's.
// Where the host has no device at all, that is for the checks to say.
func missing(s *facts.Snapshot, opt Options) *report.Error {
	if opt.Device == "" || len(s.Devices) == 0 {
		return nil
	}
	var names, links []string
	for i := range s.Devices {
		d := &s.Devices[i]
		names = append(names, d.Name)
		for j := range d.Ports {
			links = append(links, facts.LinkName(d.Name, d.Ports[j].Number))
		}
	}
	link := facts.LinkName(opt.Device, opt.Port)
	switch {
	case !slices.Contains(names, opt.Device):
		return &report.Error{Kind: report.UsageError, Message: fmt.Sprintf("no RDMA device %q here", opt.Device),
			Hint: "the devices are " + strings.Join(names, ", ")}
	case opt.Port > 0 && !slices.Contains(links, link):
		return &report.Error{Kind: report.UsageError, Message: fmt.Sprintf("no port %q here", link),
			Hint: "the ports are " + strings.Join(links, ", ")}
	}
	return nil
}

// wanted are the names that the user asked for.
func wanted(opt Options) []string {
	if opt.Device == "" {
		return nil
	}
	if opt.Port > 0 {
		return []string{facts.LinkName(opt.Device, opt.Port)}
	}
	return []string{opt.Device}
}

// narrow keeps one device and, if port is not 0, one port of it.
func narrow(s *facts.Snapshot, device string, port int) *facts.Snapshot {
	n := *s
	n.Devices = nil
	for _, d := range s.Devices {
		if d.Name != device {
			continue
		}
		if port > 0 {
			d.Ports = slices.DeleteFunc(slices.Clone(d.Ports), func(p facts.Port) bool { return p.Number != port })
		}
		n.Devices = append(n.Devices, d)
	}
	return &n
}
