package worker

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// Arg is the hidden argument that makes this binary a worker, which only calls
// Serve.
const Arg = "worker"

// Process is a process as its parent sees it.
type Process interface {
	PID() int
	Signal(syscall.Signal) error
	// Wait returns when the process was reaped, which may be never.
	Wait() (Exit, error)
}

// Exit is how a process ended: by itself with Code, or by Signal.
type Exit struct {
	Code   int
	Signal syscall.Signal // 0: by itself
}

// Launch describes a process to be started.
type Launch struct {
	In, Out *os.File // file descriptors 3 and 4 of the process
	Log     *os.File // its standard output and error
	CPUs    []int    // it may run on only these; empty: on any
}

// Starter starts workers. The zero Exec is the usual one; the one of package
// spawner asks a process that was started before a sandbox.
type Starter interface {
	Start(context.Context, Launch) (Process, error)
}

// Exec starts workers as children of this process.
type Exec struct {
	Argv []string // nil: this binary with Arg
	Env  []string // nil: this process's environment
}

// Start starts the process. It is in a process group of its own, so that an
// interrupt key ends the parent only, which then ends it, and it dies with its
// parent.
func (e Exec) Start(_ context.Context, s Launch) (Process, error) {
	argv := e.Argv
	if len(argv) == 0 {
		argv = []string{hostio.OwnBinary(), Arg}
	}
	c := exec.Command(argv[0], argv[1:]...)
	c.Env, c.Stdout, c.Stderr = e.Env, s.Log, s.Log
	c.ExtraFiles = []*os.File{s.In, s.Out}
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := hostio.OnLastingThread(func() error { return startOn(c, s.CPUs) }); err != nil {
		return nil, err
	}
	return &child{c}, nil
}

// startOn starts c bound to cpus, which it inherits from the thread that forks
// it. CPUs that this thread may not use are left out; none left is no binding.
func startOn(c *exec.Cmd, cpus []int) error {
	var have, want unix.CPUSet
	if len(cpus) == 0 || unix.SchedGetaffinity(0, &have) != nil {
		return c.Start()
	}
	for _, n := range cpus {
		if n >= 0 && n < len(have)*64 && have.IsSet(n) {
			want.Set(n)
		}
	}
	if want.Count() == 0 || unix.SchedSetaffinity(0, &want) != nil {
		return c.Start()
	}
	defer func() { _ = unix.SchedSetaffinity(0, &have) }()
	return c.Start()
}

// child is a process that this one started.
type child struct{ cmd *exec.Cmd }

func (c *child) PID() int                      { return c.cmd.Process.Pid }
func (c *child) Signal(s syscall.Signal) error { return c.cmd.Process.Signal(s) }

func (c *child) Wait() (Exit, error) {
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Exit{}, err
	}
	return ExitOf(c.cmd.ProcessState.Sys().(syscall.WaitStatus)), nil
}

// ExitOf takes a wait status apart.
func ExitOf(ws syscall.WaitStatus) Exit {
	if ws.Signaled() {
		return Exit{Signal: ws.Signal()}
	}
	return Exit{Code: ws.ExitStatus()}
}

// Own are the signals that a process dies of by its own doing.
var own = []syscall.Signal{syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGABRT, syscall.SIGFPE, syscall.SIGILL,
	syscall.SIGTRAP, syscall.SIGSYS}

// byItself reports whether the signal is one of its own doing.
func (e Exit) byItself() bool { return slices.Contains(own, e.Signal) }

// SignalName is "SIGSEGV".
func SignalName(s syscall.Signal) string { return unix.SignalName(s) }
