package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/netswitch"
)

// Outcome is how a scenario went on one kernel.
type Outcome struct {
	// Scenario is its id.
	Scenario string `json:"scenario"`
	// Kernel is the series.
	Kernel string `json:"kernel"`
	// Wanted is the code that should be on top, "" for a healthy host.
	Wanted string `json:"wanted"`
	// Got is the code on top.
	Got string `json:"got"`
	// Cured says that the finding was gone after the cure.
	Cured bool `json:"cured"`
	// OwnCure says that the scenario brought the cure.
	OwnCure bool `json:"own_cure"`
	// Undone says that Cured was reached by taking the fault back, since
	// information asks for nothing.
	Undone bool `json:"undone"`
	// ByHand says that Cured was reached so, since the fix is no command.
	ByHand bool `json:"by_hand"`
	// Problems are what went wrong, none if it passed.
	Problems []string `json:"problems"`
	// Broken says that no verdict on the doctor was reached: the scenario's
	// own steps or the guest failed.
	Broken bool `json:"broken"`
	// Seconds is how long it took, with the reset.
	Seconds float64 `json:"seconds"`
	// Report is the doctor's JSON, for looking into a failure.
	Report json.RawMessage `json:"report,omitempty"`
	// CuredReport is its JSON after the cure.
	CuredReport json.RawMessage `json:"cured_report,omitempty"`
}

// OK says whether the scenario passed.
func (o Outcome) OK() bool { return len(o.Problems) == 0 }

// flow runs one scenario on its guests.
type flow struct {
	s       Scenario
	suite   *Suite
	series  string
	guests  map[string]*lab.Guest // by host letter
	fabric  *netswitch.Fabric     // nil for a single host
	out     Outcome
	running []*lab.Process
	logs    []*logBuffer
}

// errBroken says that the doctor was not judged.
var errBroken = errors.New("scenario is broken")

// run runs the scenario and returns its outcome.
func (f *flow) run(ctx context.Context) Outcome {
	start := time.Now()
	f.out = Outcome{Scenario: f.s.ID, Kernel: f.series, OwnCure: f.s.OwnCure(),
		Problems: []string{}}
	if !f.s.Healthy() {
		f.out.Wanted = f.s.Want[0]
	}
	if err := f.steps(ctx); err != nil {
		f.out.Broken = errors.Is(err, errBroken)
		f.bad("%v", err)
	}
	f.out.Seconds = time.Since(start).Seconds()
	return f.out
}

func (f *flow) bad(format string, args ...any) {
	f.out.Problems = append(f.out.Problems, fmt.Sprintf(format, args...))
}

// steps goes through a scenario. It returns early only where going on makes
// no sense.
func (f *flow) steps(ctx context.Context) error {
	if err := f.prepare(ctx); err != nil {
		return err
	}
	if err := f.startDuring(ctx); err != nil {
		return err
	}
	modules, err := f.modules(ctx)
	if err != nil {
		return err
	}
	report, raw, err := f.check(ctx)
	f.out.Report = raw
	if err != nil {
		return err
	}
	f.out.Got = report.Top()
	if err := f.sameModules(ctx, modules, "check"); err != nil {
		return err
	}
	if f.s.fresh() { // Else what was read is recordings already.
		if err := f.replay(ctx, report); err != nil {
			return err
		}
	}
	if err := f.stopDuring(ctx); err != nil {
		return err
	}
	if f.s.Healthy() || report.Top() != f.s.Want[0] {
		return nil
	}
	top := report.Diagnoses[0]
	if top.Severity == "info" && !f.s.OwnCure() && len(f.s.Undo) == 0 {
		if _, err := runnable(top); err != nil {
			return nil // Information that asks for nothing.
		}
	}
	return f.cure(ctx, report)
}

// check runs the doctor and judges what it says, unless it is the check
// after the cure.
func (f *flow) check(ctx context.Context) (Report, json.RawMessage, error) {
	args := f.s.Args
	if f.s.fresh() && f.s.Probe == "" {
		args = append([]string{"--record", recordingPath}, args...)
	}
	r, err := f.examine(ctx, f.s.User, args)
	if err != nil {
		return Report{}, nil, err
	}
	if err := f.suite.valid(r.Stdout); err != nil {
		return Report{}, r.Stdout, fmt.Errorf("report of check is not valid: %w; "+
			"exit code %d, it says %q", err, r.ExitCode, tail(r.Stdout, r.Stderr))
	}
	report, err := ParseReport(r.Stdout)
	if err != nil {
		return Report{}, r.Stdout, err
	}
	f.out.Problems = append(f.out.Problems, f.s.Judge(report, r.ExitCode)...)
	return report, r.Stdout, nil
}

// replay compares what a check of the recording diagnoses with what the check
// that made it did. It runs on this host and not in the guest: a recording must
// be judged alike wherever it is read, and it is quicker.
func (f *flow) replay(ctx context.Context, live Report) error {
	recording, err := f.recorded(ctx)
	if err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	files := make(map[string][]byte)
	for _, arg := range f.s.Args {
		if !strings.HasPrefix(arg, "/") {
			continue
		}
		if files[arg], err = f.guests["a"].Get(ctx, arg); err != nil {
			return fmt.Errorf("%w: file of args: %w", errBroken, err)
		}
	}
	args := f.s.Args
	if f.s.Probe != "" {
		args = nil // They are a probe's.
	}
	out, code, err := f.suite.replay(ctx, recording, args, files)
	if err != nil {
		return err
	}
	if err := f.suite.valid(out); err != nil {
		return fmt.Errorf("report of the recording is not valid: %w; exit code %d, "+
			"it says %q", err, code, tail(out))
	}
	replayed, err := ParseReport(out)
	if err != nil {
		return err
	}
	for _, problem := range consistent(replayed, code) {
		f.bad("recording: %s", problem)
	}
	if got, want := replayed.diagnosed(), live.diagnosed(); !slices.Equal(got, want) {
		f.bad("recording is diagnosed as %q, live it was %q", got, want)
	}
	return nil
}

// recorded is what the examination can be judged from again: a recording, or
// the report of a probe with its facts.
func (f *flow) recorded(ctx context.Context) ([]byte, error) {
	if f.s.Probe != "" {
		return f.out.Report, nil
	}
	return f.guests["a"].Get(ctx, recordingPath)
}

// cure runs the fix of the top diagnosis, or the scenario's own, and checks
// again.
func (f *flow) cure(ctx context.Context, sick Report) error {
	if commands, err := runnable(sick.Diagnoses[0]); f.s.ByHand() && err == nil {
		f.bad("undo: the report has a fix that can be run: %q", commands)
	}
	if len(f.s.Undo) > 0 {
		if err := f.runSteps(ctx, "undo", f.s.Undo); err != nil {
			return err
		}
		f.out.Undone, f.out.ByHand = !f.s.ByHand(), f.s.ByHand()
	} else if f.s.OwnCure() {
		if err := f.runSteps(ctx, "cure", f.s.Cure); err != nil {
			return err
		}
	} else {
		commands, err := runnable(sick.Diagnoses[0])
		if err != nil {
			return err
		}
		for _, command := range commands {
			r, err := f.guests["a"].Run(ctx, lab.Cmd{
				Argv: []string{"sh", "-c", command}, Cgroup: f.cgroup()})
			if err != nil {
				return fmt.Errorf("%w: fix %q: %w", errBroken, command, err)
			}
			if r.ExitCode != 0 || r.TimedOut {
				return fmt.Errorf("fix %q: exit code %d: %s", command, r.ExitCode,
					tail(r.Stdout, r.Stderr))
			}
		}
	}
	if err := f.startDuring(ctx); err != nil {
		return err
	}
	r, err := f.examine(ctx, f.s.RecheckUser, f.s.Args)
	if err != nil {
		return err
	}
	f.out.CuredReport = r.Stdout
	if err := f.suite.valid(r.Stdout); err != nil {
		return fmt.Errorf("report after the cure is not valid: %w", err)
	}
	cured, err := ParseReport(r.Stdout)
	if err != nil {
		return err
	}
	for _, problem := range consistent(cured, r.ExitCode) {
		f.bad("after the cure: %s", problem)
	}
	// A doctor that has stopped looking finds nothing either.
	if n := f.s.judged(cured); n < f.s.MinPass {
		f.bad("after the cure: %d checks passed, want at least %d", n, f.s.MinPass)
	}
	for _, finding := range cured.Findings() {
		if finding.Code == f.s.Want[0] {
			f.bad("after the cure still: %v", finding)
		}
	}
	f.out.Cured = !cured.Has(f.s.Want[0])
	return f.stopDuring(ctx)
}

// tail is the end of what a program said, for a message.
func tail(parts ...[]byte) string {
	const most = 600
	var all string
	for _, p := range parts {
		all += string(p)
	}
	all = strings.TrimSpace(all)
	return all[max(0, len(all)-most):]
}

// shellJoin quotes words for a shell.
func shellJoin(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
