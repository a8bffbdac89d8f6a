// Rdmadoctor finds why RDMA is broken or slow on this host, names the cause,
// and shows the evidence and the fix. It changes nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// version is set by the linker.
var version = "devel"

// oneSignal is how long a further signal is the same one: timeout(1) sends its
// signal to the program and to all of its group. One that comes later ends the
// program at once.
const oneSignal = 500 * time.Millisecond

func main() { os.Exit(start(os.Args[1:])) }

func start(args []string) int {
	notAVerdict()
	runBriefly()
	// Writing to a reader that went away is an error like any other.
	signal.Ignore(syscall.SIGPIPE)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // Under nohup it is.
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(oneSignal, stop) })
	p := &program{args: args, in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	return p.run(ctx)
}

// notAVerdict makes the Go runtime end what nothing can recover (memory or
// threads that a limit denies, a panic outside run) by SIGABRT: its own exit
// code, 2, would say that this host failed. No core is left behind.
func notAVerdict() {
	debug.SetTraceback("crash")
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// program is one invocation.
type program struct {
	args     []string
	in       io.Reader
	out, err io.Writer
	environ  []string

	noColor bool
	// drain is what the child of a gate said.
	drain bool
	// file is what out writes to, where that is a file of the user's.
	file *outFile
	// running is whether the command line was accepted.
	running bool
	// report is what is being written, nil before a command has begun one.
	report *sink
	// code is the exit code of a command that returned no error.
	code int
}

// run carries out the command and returns the exit code in the words of
// whoever asks: a person, a monitoring plugin's caller, or a gate.
func (p *program) run(ctx context.Context) int {
	code := p.keepReport(p.carryOut(ctx))
	switch {
	case gateAsked(p.args):
		return p.gateCode()
	case machineFormat(p.args) == "nagios":
		return report.NagiosCode(code)
	}
	return code
}

// carryOut does what the command line asks for. Every way out leaves a valid
// report where one was asked for.
func (p *program) carryOut(ctx context.Context) (code int) {
	defer func() {
		if v := recover(); v != nil {
			code = p.panicked(v, debug.Stack())
		}
	}()
	root := p.rootCommand()
	root.SetArgs(p.args)
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return p.code
	}
	return p.failed(err)
}

// usageError is a command line, or a file named on it, that cannot be used.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(hint, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), hint}
}

// failed reports why a command could not do its work.
func (p *program) failed(err error) int {
	if errors.Is(err, syscall.EPIPE) {
		return p.code // Nobody reads on, which is no news to anyone.
	}
	var u *usageError
	if !errors.As(err, &u) && !p.running { // What cobra itself says.
		u = &usageError{err, "rdmadoctor --help lists the commands"}
	}
	if u != nil {
		return p.abort(&report.Error{Kind: report.UsageError, Message: u.Error(), Hint: u.hint})
	}
	return p.abort(&report.Error{Kind: report.InternalError, Message: err.Error(),
		Hint: "if this is not about where the report is written to, it is a fault of rdmadoctor: please report it"})
}

// panicked reports a fault of the program itself.
func (p *program) panicked(v any, stack []byte) int {
	fmt.Fprintf(p.err, "rdmadoctor: internal error: %v\n%s", v, stack)
	return p.abort(&report.Error{Kind: report.InternalError, Message: fmt.Sprint(v),
		Hint: "this is a fault of rdmadoctor: please report it with what stands on stderr"})
}

// complain says on stderr what is wrong and what to do.
func (p *program) complain(e *report.Error) {
	fmt.Fprintf(p.err, "rdmadoctor: %s\n", report.Clean(e.Message))
	if e.Hint != "" {
		fmt.Fprintf(p.err, "rdmadoctor: hint: %s\n", report.Clean(e.Hint))
	}
}

// abort says e on stderr and, where the command line asks for a format that
// machines read, on stdout.
func (p *program) abort(e *report.Error) int {
	p.complain(e)
	s := p.report
	if s == nil {
		s = newSink(p, machineFormat(p.args))
	}
	return s.abort(e)
}
