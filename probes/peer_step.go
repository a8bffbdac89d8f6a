package probes

import (
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// pairStep does one step and says how it went.
func peerStep(name string, f func(*facts.ProbeStep) error) facts.ProbeStep {
	s := facts.ProbeStep{Name: name}
	began := time.Now()
	err := f(&s)
	s.Time = time.Since(began)
	s.Error = stepError("", err)
	return s
}

// fillPattern fills b so that shifted, stale and cut bytes show.
func fillPattern(b []byte, seed byte) {
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8)*31 ^ byte(i>>16)*17 ^ seed
	}
}

func holdsPattern(b []byte, seed byte) bool {
	for i := range b {
		if b[i] != byte(i)^byte(i>>8)*31^byte(i>>16)*17^seed {
			return false
		}
	}
	return true
}

// cutLink takes "mlx5_0/1" apart.
func cutLink(link string) (device, port string, ok bool) {
	return strings.Cut(link, "/")
}
