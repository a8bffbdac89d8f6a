package checks

import (
	"cmp"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// byPID are the processes of the snapshot in the order of their PIDs.
func byPID(s *facts.Snapshot) []*facts.Process {
	ps := make([]*facts.Process, len(s.Processes))
	for i := range s.Processes {
		ps[i] = &s.Processes[i]
	}
	slices.SortFunc(ps, func(a, b *facts.Process) int { return cmp.Compare(a.PID, b.PID) })
	return ps
}
