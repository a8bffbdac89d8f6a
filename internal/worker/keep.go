package worker

import (
	"maps"
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// keeper holds what a process has told, so that a ladder which ends with its
// process is there as far as it got.
type keeper struct {
	step     string // begun and not ended
	current  int    // the ladder that spoke last
	open     map[int]*facts.Ladder
	measured []facts.Measurement
}

func (k *keeper) take(m *Message) {
	switch {
	case m.Begun != nil:
		k.step = m.Begun.Step
	case m.Ended != nil:
		k.step = ""
		l := k.ladder(m.Ended.Ladder)
		if m.Ended.Refused {
			l.Refused = append(l.Refused, m.Ended.Step)
		} else {
			l.Steps = append(l.Steps, m.Ended.Step)
		}
	case m.Ladder != nil:
		*k.ladder(m.Ladder.ID) = m.Ladder.Ladder
	case m.Measurement != nil:
		k.step = ""
		k.measured = append(k.measured, *m.Measurement)
	case m.Done != nil:
		k.step = ""
	}
}

func (k *keeper) ladder(id int) *facts.Ladder {
	if k.open == nil {
		k.open = map[int]*facts.Ladder{}
	}
	if k.open[id] == nil {
		k.open[id] = &facts.Ladder{}
	}
	k.current = id
	return k.open[id]
}

// close says of the ladders that have no end how the process ended. Only the
// one that spoke last was in a step.
func (k *keeper) close(end facts.ProbeEnd) {
	for id, l := range k.open {
		switch {
		case l.End.Outcome != "":
		case id == k.current:
			l.End = end
		default:
			l.End = facts.ProbeEnd{Outcome: end.Outcome}
		}
	}
}

func (k *keeper) ladders() []facts.Ladder {
	var ls []facts.Ladder
	for _, id := range slices.Sorted(maps.Keys(k.open)) {
		ls = append(ls, *k.open[id])
	}
	return ls
}
