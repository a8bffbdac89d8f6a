// Package probes exercises the verbs of a port: it makes queue pairs, moves
// data and tries what must be refused. It runs in a worker process, tells each
// step as it goes, and never judges: it fills [facts.Ladder] and
// [facts.Measurement].
package probes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// Reporter is how a probe tells what it does. Package worker has it.
type Reporter interface {
	// Begin says that a step begins that takes at most limit; 0 is the usual.
	Begin(step string, limit time.Duration)
	// Step says that a step of the ladder with this ID ended.
	Step(ladder int, refused bool, s facts.ProbeStep)
	// Ladder says what is known of a ladder, in place of what was said before.
	Ladder(id int, l *facts.Ladder)
	Measurement(*facts.Measurement)
	Log(format string, args ...any)
	// Send and Receive exchange blobs with the far end of a pair.
	Send([]byte) error
	Receive(context.Context) ([]byte, error)
}

// unavailable is the error of a probe that this build or host has no verbs for.
type unavailable struct{ error }

// Unavailable tells package worker.
func (unavailable) Unavailable() bool { return true }
func (u unavailable) Unwrap() error   { return u.error }

// A Probe is one kind of task.
type probe func(ctx context.Context, lib *verbs.Library, params json.RawMessage, tell Reporter) error

// byName are the probes that a task may name.
var byName = map[string]probe{}

// register makes a probe known. Files of this package call it for theirs.
func register(name string, p probe) bool {
	byName[name] = p
	return true
}

// Run carries out the task of a worker. The libraries are opened here, in the
// process that they may take down.
func Run(ctx context.Context, libs verbs.Options, name string, params json.RawMessage, tell Reporter) error {
	p := byName[name]
	if p == nil {
		return fmt.Errorf("no such probe %q", name)
	}
	tell.Begin("load", 10*time.Second)
	lib, err := verbs.Load(libs)
	if err != nil {
		return unavailable{err}
	}
	return p(ctx, lib, params, tell)
}

// decode reads params strictly: both ends are the same program.
func decode(params json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(params))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("parameters: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("parameters: more than one value")
	}
	return nil
}
