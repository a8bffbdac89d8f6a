package report

import (
	"fmt"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// The values of Summary.Status.
const (
	StatusPass        = "pass"
	StatusWarn        = "warn"
	StatusFail        = "fail"
	StatusUnknown     = "unknown"
	StatusInterrupted = "interrupted"
	StatusError       = "error"
)

// withoutRDMA are the codes that say there is nothing here to judge.
var withoutRDMA = []string{"no-rdma-device", "kernel-without-rdma"}

// elsewhere are the codes whose trouble is not in RDMA at all.
var elsewhere = []string{"gpu-fault"}

// wholeHost is the subject of findings about no part of the host in particular.
const wholeHost = "host"

// Summarize closes a run: it counts, gives the exit code by the precedence
// that every format shares, and the advice of the first line. rerr is why the
// run ended early, or nil. failOn is the mildest severity that is a non-zero
// exit: Warn, or Fail to let warnings exit 0.
func Summarize(results []checks.Result, diagnoses []knowledge.Diagnosis, rerr *Error, failOn checks.Severity) Summary {
	s := count(results)
	bare := hasCode(results, withoutRDMA)
	switch kind := kindOf(rerr); {
	case kind == InterruptedError:
		s.Status, s.ExitCode = StatusInterrupted, ExitInterrupted
	case kind == InternalError:
		s.Status, s.ExitCode = StatusError, ExitInternal
	case kind == UsageError:
		s.Status, s.ExitCode = StatusError, ExitUsage
	case s.Fail > 0:
		s.Status, s.ExitCode = StatusFail, ExitFailures
	case s.Warn > 0 && failOn == checks.Fail:
		s.Status, s.ExitCode = StatusWarn, ExitHealthy
	case s.Warn > 0:
		s.Status, s.ExitCode = StatusWarn, ExitWarnings
	case s.Pass == 0 || bare || unseen(results) != nil || kind == TimeoutError:
		s.Status, s.ExitCode = StatusUnknown, ExitUnknown
	default:
		s.Status, s.ExitCode = StatusPass, ExitHealthy
	}
	s.Advice, s.AdviceReason = advise(s, results, diagnoses, rerr)
	return s
}

func count(results []checks.Result) Summary {
	var s Summary
	for i := range results {
		switch results[i].Status {
		case checks.Passed:
			s.Pass++
		case checks.Warned:
			s.Warn++
		case checks.Failed:
			s.Fail++
		case checks.Skipped:
			s.Skip++
		default:
			// A status that this version does not know is never taken for health.
			s.Unknown++
		}
		for _, f := range results[i].Findings {
			if f.Severity == checks.Info {
				s.Info++
			}
		}
	}
	return s
}

func kindOf(e *Error) ErrorKind {
	if e == nil {
		return ""
	}
	return e.Kind
}

func hasCode(results []checks.Result, codes []string) bool {
	return slices.ContainsFunc(results, func(r checks.Result) bool {
		return slices.ContainsFunc(r.Findings, func(f checks.Finding) bool { return slices.Contains(codes, f.Code) })
	})
}

// unseen is the result of looking for RDMA devices where nothing could be
// looked at, else nil. What else of the host is well (its memory) is no health
// of RDMA.
func unseen(results []checks.Result) *checks.Result {
	i := slices.IndexFunc(results, func(r checks.Result) bool {
		return r.ID == deviceCheck && r.Status == checks.Unknown && r.Examined == 0
	})
	if i < 0 {
		return nil
	}
	return &results[i]
}

// deviceCheck is the check that looks for RDMA devices.
const deviceCheck = "rdma-device"

// advise answers what the reader has to decide now: may jobs run here?
func advise(s Summary, results []checks.Result, ds []knowledge.Diagnosis, rerr *Error) (Advice, string) {
	if kind := kindOf(rerr); kind == UsageError || kind == InternalError {
		return NoIdea, "nothing was examined: " + rerr.Message
	}
	// Only a failure takes a node out of work, and only where it hurts the work.
	for _, d := range ds {
		if d.Severity == checks.Fail && !slices.Contains(elsewhere, d.Code) && d.Impact != knowledge.AtRisk && d.Impact != knowledge.None {
			return Drain, about(d)
		}
	}
	if s.Fail > 0 && len(ds) == 0 {
		return Drain, unexplained(results)
	}
	if i := slices.IndexFunc(ds, func(d knowledge.Diagnosis) bool { return slices.Contains(elsewhere, d.Code) }); i >= 0 {
		return NotRDMA, about(ds[i])
	}
	if i := slices.IndexFunc(ds, func(d knowledge.Diagnosis) bool { return slices.Contains(withoutRDMA, d.Code) }); i >= 0 {
		return NotRDMA, about(ds[i])
	}
	if hasCode(results, withoutRDMA) {
		// What explains that no device is here is worth more than that.
		for _, d := range ds {
			if slices.ContainsFunc(d.Findings, func(f knowledge.FindingRef) bool { return slices.Contains(withoutRDMA, f.Code) }) {
				return NotRDMA, about(d)
			}
		}
		return NotRDMA, "no RDMA device on this host"
	}
	switch {
	case rerr != nil && s.Warn+s.Fail == 0:
		return NoIdea, rerr.Message
	case s.Warn+s.Fail > 0 && len(ds) > 0:
		return Keep, "it works, but: " + about(ds[0])
	case s.Warn > 0:
		return Keep, "it works, but: " + unexplained(results)
	case s.Pass == 0:
		return NoIdea, blind(s, results)
	case unseen(results) != nil:
		return NoIdea, fmt.Sprintf("no RDMA device could be looked at: %s", unseen(results).Reason)
	case s.Unknown > s.Pass:
		return Keep, fmt.Sprintf("nothing is known against it, but only %d of %s could look", s.Pass, plural(s.Pass+s.Unknown, "check"))
	case s.Unknown > 0:
		return Keep, fmt.Sprintf("%s passed, %d could not look", plural(s.Pass, "check"), s.Unknown)
	}
	return Keep, plural(s.Pass, "check") + " passed"
}

func about(d knowledge.Diagnosis) string {
	title := d.Title
	if title == "" {
		title = d.Code
	}
	switch n := len(d.Subjects); {
	case d.Subject == "" || d.Subject == wholeHost:
		return title
	case n > 1:
		return fmt.Sprintf("%s (%s and %d more)", title, d.Subject, n-1)
	}
	return title + " (" + d.Subject + ")"
}

// unexplained is the worst finding itself, where no page explains it.
func unexplained(results []checks.Result) string {
	for _, want := range []checks.Severity{checks.Fail, checks.Warn} {
		for _, r := range results {
			for _, f := range r.Findings {
				if f.Severity == want {
					return f.Subject + ": " + f.Message
				}
			}
		}
	}
	return "a check did not pass"
}

// blind says why nothing was judged.
func blind(s Summary, results []checks.Result) string {
	for _, want := range []checks.Status{checks.Unknown, checks.Skipped} {
		for _, r := range results {
			if r.Status == want && r.Reason != "" {
				return fmt.Sprintf("nothing could be judged: %s: %s", r.ID, r.Reason)
			}
		}
	}
	return "nothing was examined"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
