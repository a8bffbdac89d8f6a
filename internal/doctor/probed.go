package doctor

import (
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// unprobed says why no port could be probed, "" where one was or none was to
// be.
func unprobed(s *facts.Snapshot) string {
	why := ""
	for i := range s.Ladders {
		end := s.Ladders[i].End
		if end.Outcome != facts.Unavailable {
			return ""
		}
		why = end.Detail
	}
	return why
}

// lookedAt adds to the gaps the ports that probes could not look at.
func lookedAt(s *facts.Snapshot) {
	for i := range s.Ladders {
		if l := &s.Ladders[i]; l.End.Outcome == facts.Unavailable {
			s.Gaps = append(s.Gaps, facts.Gap{Source: facts.Probes, What: l.Local, Kind: facts.Unsupported, Detail: l.End.Detail})
		}
	}
}

// proveNothing takes the verdict of health from a run that was to prove
// something with verbs and could not.
func proveNothing(s *facts.Snapshot, sum *report.Summary) {
	why := unprobed(s)
	if why == "" || sum.ExitCode != report.ExitHealthy || sum.Status != report.StatusPass {
		return
	}
	sum.Status, sum.ExitCode = report.StatusUnknown, report.ExitUnknown
	sum.Advice, sum.AdviceReason = report.NoIdea, "no port could be probed: "+why
}
