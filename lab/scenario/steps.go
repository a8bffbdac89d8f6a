package scenario

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
)

// doctorPath is where guests have the doctor.
const doctorPath = "/lab/bin/rdmadoctor"

// recordingPath is where the check of a sick host leaves what it read.
const recordingPath = "/tmp/lab-recording.tar.gz"

// cgroup is the control group of the scenario's processes.
func (f *flow) cgroup() string { return "lab/" + f.s.ID }

// prepare sets up and breaks what the scenario says.
func (f *flow) prepare(ctx context.Context) error {
	for host, guest := range f.guests {
		for _, m := range f.s.Modules {
			script, err := f.suite.load(ctx, guest, f.series, m)
			if err != nil {
				return fmt.Errorf("%w: %w", errBroken, err)
			}
			if err := f.runStep(ctx, "modules", Step{On: host, Run: script}); err != nil {
				return err
			}
		}
	}
	var setup []Step
	for _, name := range f.s.Use {
		setup = append(setup, Step{Run: f.suite.scripts[name]})
	}
	if err := f.runSteps(ctx, "setup", append(setup, f.s.Setup...)); err != nil {
		return err
	}
	return f.runSteps(ctx, "fault", f.s.Fault)
}

// runSteps runs steps in order.
func (f *flow) runSteps(ctx context.Context, what string, steps []Step) error {
	for _, step := range steps {
		if err := f.runStep(ctx, what, step); err != nil {
			return err
		}
	}
	return nil
}

// runStep runs a step, which must succeed: a fault that was not made would
// be searched for in the doctor.
func (f *flow) runStep(ctx context.Context, what string, step Step) error {
	if step.On == network {
		if err := f.fabric.Command(step.Run); err != nil {
			return fmt.Errorf("%w: %s: %w", errBroken, what, err)
		}
		return nil
	}
	r, err := f.guest(step).Run(ctx, lab.Cmd{Script: "set -e\n" + step.Run,
		Cgroup: f.cgroup()})
	if err == nil && r.TimedOut {
		err = fmt.Errorf("did not end in time")
	}
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("exit code %d: %s", r.ExitCode, tail(r.Stdout, r.Stderr))
	}
	if err != nil {
		return fmt.Errorf("%w: %s %q: %w", errBroken, what, step.Run, err)
	}
	return nil
}

// guest returns the guest of a step.
func (f *flow) guest(step Step) *lab.Guest {
	if step.On == "" {
		return f.guests["a"]
	}
	return f.guests[step.On]
}

// startDuring starts what runs while the doctor looks, and waits until the
// scenario says that it is under way.
func (f *flow) startDuring(ctx context.Context) error {
	for _, step := range f.s.During {
		log := &logBuffer{}
		p, err := f.guest(step).Start(lab.Cmd{Script: "set -e\n" + step.Run,
			Cgroup: f.cgroup(), Timeout: time.Hour}, log, log)
		if err != nil {
			return fmt.Errorf("%w: during %q: %w", errBroken, step.Run, err)
		}
		f.running, f.logs = append(f.running, p), append(f.logs, log)
	}
	if f.s.Ready == "" {
		return nil
	}
	// One program asks again and again: to start one takes a tenth of a
	// second in a guest.
	script := "until { " + f.s.Ready + "\n} >/dev/null 2>&1; do sleep 0.1; done"
	r, err := f.guests["a"].Run(ctx, lab.Cmd{Script: script, Cgroup: f.cgroup(),
		Timeout: f.suite.opts.ReadyLimit})
	if err != nil {
		return fmt.Errorf("%w: ready: %w", errBroken, err)
	}
	if r.TimedOut {
		return fmt.Errorf("%w: ready: %q does not hold after %v%s", errBroken,
			f.s.Ready, f.suite.opts.ReadyLimit, f.duringSaid())
	}
	return nil
}

// stopDuring kills what runs. What has failed meanwhile was no load.
func (f *flow) stopDuring(ctx context.Context) error {
	var failed []string
	for i, p := range f.running {
		if p.Running() {
			if err := p.Kill(ctx); err != nil {
				return fmt.Errorf("%w: during %q: %w", errBroken, f.s.During[i].Run, err)
			}
			continue
		}
		if r, err := p.Wait(ctx); err != nil || r.ExitCode != 0 {
			failed = append(failed, fmt.Sprintf("%q: exit code %d, %v",
				f.s.During[i].Run, r.ExitCode, err))
		}
	}
	said := f.duringSaid()
	f.running, f.logs = nil, nil
	if len(failed) > 0 {
		return fmt.Errorf("%w: during failed: %s%s", errBroken,
			strings.Join(failed, "; "), said)
	}
	return nil
}

// duringSaid is the output of what runs, in the form of a suffix.
func (f *flow) duringSaid() string {
	var said strings.Builder
	for i, log := range f.logs {
		fmt.Fprintf(&said, "; %q said %q", f.s.During[i].Run, tail(log.Bytes()))
	}
	return said.String()
}

// modules lists the modules of host a.
func (f *flow) modules(ctx context.Context) ([]string, error) {
	b, err := f.guests["a"].Get(ctx, "/proc/modules")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	var names []string
	for line := range strings.Lines(string(b)) {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// sameModules compares the module list with the one before: looking must
// change nothing.
func (f *flow) sameModules(ctx context.Context, before []string, what string) error {
	after, err := f.modules(ctx)
	if err != nil {
		return err
	}
	for _, name := range after {
		if !slices.Contains(before, name) {
			f.bad("%s loaded module %s", what, name)
		}
	}
	for _, name := range before {
		if !slices.Contains(after, name) {
			f.bad("%s unloaded module %s", what, name)
		}
	}
	return nil
}

// logBuffer keeps what a background program says.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	const most = 1 << 20
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() < most {
		l.b.Write(p)
	}
	return len(p), nil
}

// Bytes returns a copy.
func (l *logBuffer) Bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}
