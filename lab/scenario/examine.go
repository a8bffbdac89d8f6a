package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rdmadoctor/rdmadoctor/lab"
)

// examine runs the doctor over what the scenario is of: a check or probe of
// host a, or a comparison of all hosts.
func (f *flow) examine(ctx context.Context, user string, args []string) (
	lab.Result, error) {
	if f.s.Compare {
		return f.compare(ctx, user, args)
	}
	if len(f.s.Command) > 0 {
		return f.doctor(ctx, user, append([]string{doctorPath}, f.s.Command...))
	}
	if f.s.Probe != "" {
		// The report holds all facts, so that it can be judged again.
		argv := append([]string{doctorPath, "probe"}, strings.Fields(f.s.Probe)...)
		return f.doctor(ctx, user, append(append(argv, "--json", "--snapshot", "--interval", "1s"), args...))
	}
	return f.doctor(ctx, user, append([]string{doctorPath, "check", "--json",
		"--interval", "1s"}, args...))
}

// compare records every host and compares the recordings on host a.
func (f *flow) compare(ctx context.Context, user string, args []string) (
	lab.Result, error) {
	argv := append([]string{doctorPath, "compare", "--json"}, args...)
	for _, host := range f.s.Hosts() {
		file := "/tmp/lab-" + host + ".tar.gz"
		r, err := f.doctorOn(ctx, host, user, []string{doctorPath, "record",
			"--interval", f.s.interval(), "-o", file})
		if err != nil {
			return r, err
		}
		if r.ExitCode != 0 {
			return r, fmt.Errorf("record on host %s: exit code %d: %s", host,
				r.ExitCode, tail(r.Stdout, r.Stderr))
		}
		if host != "a" {
			if err := f.carry(ctx, host, file); err != nil {
				return lab.Result{}, fmt.Errorf("%w: %w", errBroken, err)
			}
		}
		argv = append(argv, file)
	}
	return f.doctor(ctx, user, argv)
}

// interval is the time between the doctor's samples: a recording has the one
// that the check is told, else a busy host may be idle in it.
func (s Scenario) interval() string {
	if i := slices.Index(s.Args, "--interval"); i >= 0 && i+1 < len(s.Args) {
		return s.Args[i+1]
	}
	return "1s"
}

// carry copies a file from a host to host a.
func (f *flow) carry(ctx context.Context, host, file string) error {
	b, err := f.guests[host].Get(ctx, file)
	if err != nil {
		return err
	}
	return f.guests["a"].Put(ctx, file, 0o644, b)
}

// doctor runs one command of the doctor as a user.
func (f *flow) doctor(ctx context.Context, user string, argv []string) (
	lab.Result, error) {
	return f.doctorOn(ctx, "a", user, argv)
}

// doctorOn runs it on one of the hosts.
func (f *flow) doctorOn(ctx context.Context, host, user string, argv []string) (
	lab.Result, error) {
	c := lab.Cmd{Argv: argv, Cgroup: f.cgroup(), Timeout: f.s.Timeout}
	if user != "root" {
		// A login, so that pam_limits sets what a person would have.
		c.Argv = []string{"su", "-s", "/bin/sh", "-c", shellJoin(argv), user}
	}
	if f.s.Within != "" {
		c.Argv = append([]string{"sh", "-c", f.s.Within + ` "$@"`, "sh"}, c.Argv...)
	}
	if f.s.Netns != "" {
		c.Argv = append([]string{"ip", "netns", "exec", f.s.Netns}, c.Argv...)
	}
	r, err := f.guests[host].Run(ctx, c)
	if err != nil {
		return r, fmt.Errorf("%w: %w", errBroken, err)
	}
	if r.TimedOut {
		return r, fmt.Errorf("%s did not end in %v", strings.Join(argv[1:], " "),
			f.s.Timeout)
	}
	return r, nil
}
