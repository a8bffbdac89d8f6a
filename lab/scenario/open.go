package scenario

import (
	"context"
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/lab"
)

// Session is a scenario that is held open: its guests are set up and sick.
type Session struct {
	// Scenario is what was opened.
	Scenario Scenario
	// Guest is host a.
	Guest *lab.Guest

	rig *rig
}

// Open boots the guests of the one scenario that the suite was made for, on
// one kernel, and makes them sick. What runs during a check runs until the
// session is closed.
func (s *Suite) Open(ctx context.Context) (*Session, error) {
	if len(s.scenarios) != 1 || len(s.opts.Kernels) != 1 {
		return nil, fmt.Errorf("open scenario: %d scenarios on %d kernels, want one on one",
			len(s.scenarios), len(s.opts.Kernels))
	}
	sc, series := s.scenarios[0], s.opts.Kernels[0]
	r := &rig{suite: s, series: series}
	guests, err := r.ready(ctx, sc)
	if err != nil {
		r.close()
		return nil, err
	}
	f := &flow{s: sc, suite: s, series: series, guests: guests, fabric: r.fabric}
	if err := f.prepare(ctx); err != nil {
		r.close()
		return nil, err
	}
	if err := f.startDuring(ctx); err != nil {
		r.close()
		return nil, err
	}
	return &Session{Scenario: sc, Guest: guests["a"], rig: r}, nil
}

// Close ends the guests.
func (s *Session) Close() { s.rig.close() }
