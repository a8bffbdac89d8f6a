// Package compare judges hosts side by side: what must agree between them and
// does not, and which of them is the odd one out.
package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// A Host is one of those compared.
type Host struct {
	// Name tells it apart from the others. Empty: the one it calls itself.
	Name     string
	Snapshot *facts.Snapshot
}

// Options shape the run.
type Options struct {
	FailOn  checks.Severity
	Version string
	Args    []string
}

// sources are what the comparison looks at. A host's name is with the
// namespaces; what else is missing there does not matter here.
var sources = []facts.Source{facts.SysfsRDMA, facts.RDMANetlink, facts.Links, facts.Namespaces, facts.RecordingFile,
	facts.Ethtool, facts.DCBNetlink, facts.SysctlNet, facts.PCISysfs, facts.ModuleList, facts.ConfigFS, facts.MemorySource, facts.CPUSource}

// Collect reads of a host what is compared, once: it stands still.
func Collect(ctx context.Context, h hostio.Host, origin facts.Origin) *facts.Snapshot {
	return collect.Run(ctx, h, collect.Options{Origin: origin, Only: sources})
}

// Run compares hosts and reports to h. The error is that of the handler.
func Run(ctx context.Context, hosts []Host, opt Options, h report.Handler) error {
	started := time.Now()
	var failed error
	send := func(m report.Message) {
		if failed == nil {
			failed = m.Send(h)
		}
	}
	hosts = named(hosts)
	var names []string
	for _, host := range hosts {
		names = append(names, host.Name)
	}
	send(report.Message{Run: &report.Run{SchemaVersion: report.SchemaVersion,
		Tool: report.Tool{Name: report.ToolName, Version: opt.Version}, Host: strings.Join(names, " "),
		Origin: origin(hosts), Started: started, Args: opt.Args}})
	var rel knowledge.Relations
	for i := range hosts {
		s := hosts[i].Snapshot
		send(report.Message{Host: &report.HostRow{Host: hosts[i].Name, Origin: string(s.Origin), Summary: row(s)}})
		for _, r := range doctor.Relations(s) {
			r.Host = hosts[i].Name
			rel = append(rel, r)
		}
		for _, g := range s.Gaps {
			if !slices.Contains(sources, g.Source) || g.Source == facts.Namespaces {
				continue
			}
			g.What = hosts[i].Name + ": " + g.What
			send(report.Message{Gap: &g})
		}
	}
	results := judge(hosts)
	for i := range results {
		send(report.Message{Result: &results[i]})
	}
	diagnoses := knowledge.Explain(results, rel)
	for i := range diagnoses {
		send(report.Message{Diagnosis: &diagnoses[i]})
	}
	var rerr *report.Error
	if ctx.Err() != nil {
		rerr = &report.Error{Kind: report.InterruptedError, Message: "interrupted", Hint: "what was read until then is in the report"}
		send(report.Message{Error: rerr})
	}
	sum := report.Summarize(results, diagnoses, rerr, opt.FailOn)
	sum.DurationSeconds = time.Since(started).Seconds()
	send(report.Message{Summary: &sum})
	return failed
}

// Judge compares hosts and gives what belongs together on each. The hosts get
// names of their own where they share one.
func Judge(hosts []Host) ([]checks.Result, knowledge.Relations) {
	hosts = named(hosts)
	var rel knowledge.Relations
	for i := range hosts {
		for _, r := range doctor.Relations(hosts[i].Snapshot) {
			r.Host = hosts[i].Name
			rel = append(rel, r)
		}
	}
	return judge(hosts), rel
}

// judge compares everything that must agree, in the order of the layers.
func judge(hosts []Host) []checks.Result {
	ss := slots(hosts)
	return []checks.Result{driversAgree(hosts, ss), pcieAgrees(ss), linksAgree(ss), mtuAgrees(ss), losslessAgrees(ss),
		transportAgrees(hosts, ss), gidsAgree(hosts, ss), partitionsAgree(ss), identitiesDiffer(hosts), sysctlsAgree(ss),
		devicesAgree(hosts)}
}

// named gives every host a name of its own.
func named(hosts []Host) []Host {
	out := make([]Host, len(hosts))
	taken := map[string]int{}
	for i, h := range hosts {
		if h.Name == "" {
			h.Name = h.Snapshot.Host.Hostname
		}
		if h.Name == "" {
			h.Name = "host"
		}
		if taken[h.Name]++; taken[h.Name] > 1 {
			h.Name = fmt.Sprintf("%s#%d", h.Name, taken[h.Name])
		}
		out[i] = h
	}
	return out
}

// origin is that of all hosts, or "" where they differ.
func origin(hosts []Host) string {
	var o facts.Origin
	for i, h := range hosts {
		if i > 0 && h.Snapshot.Origin != o {
			return ""
		}
		o = h.Snapshot.Origin
	}
	return string(o)
}
