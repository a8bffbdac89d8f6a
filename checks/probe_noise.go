package checks

import (
	"slices"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// notReadySoftware is where waits for receives are worth a word on software
// devices whose SEND is not much slower than WRITE.
const notReadySoftware = 1e-2

// manyResent is how many packets sent again count where no gap was seen.
const manyResent = 10

// gaps reports whether a receiver met a gap in the sequence: a packet was lost,
// and not an answer late.
func gaps(ms []*facts.Measurement) bool {
	return slices.ContainsFunc(ms, func(m *facts.Measurement) bool {
		return slices.ContainsFunc(m.Moved, func(mv facts.CounterMove) bool {
			return mv.Delta > 0 && (mv.Name == "rcvd_seq_err" || mv.Name == "out_of_seq_request")
		})
	})
}

// accidental is how many lost packets are an accident.
const accidental = 3
