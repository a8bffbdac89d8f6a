// Command lab boots the lab's guests.
//
//	lab setup                    download the kernels
//	lab run [flags]              run the scenarios
//	lab open [flags] ID          rdmadoctor in a sick guest, on this terminal
//	lab exec [flags] SCRIPT...   boot a guest, run the script in it
//
// Exit codes: 0; 1 a scenario failed; the script's own; 64 usage; 69 something is missing on this
// host; 70 the guest or the lab failed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// Exit codes, of sysexits.h.
const (
	exitUsage       = 64
	exitUnavailable = 69
	exitInternal    = 70
)

// errUsage says that the command line is wrong. What is wrong has been said.
var errUsage = errors.New("usage")

// command is a word of the command line. It returns an exit code.
type command struct {
	name, args, about string
	run               func(ctx context.Context, args []string) (int, error)
}

func commands() []command {
	return []command{
		{"setup", "", "download the kernels into the cache", setup},
		{"run", "[-kernel 6.1] [-only ID,...] [-doctor FILE] [-json]",
			"run scenarios and print their table", runScenarios},
		{"open", "[-kernel 6.1] [-doctor FILE] [-shell] ID",
			"boot a scenario and open rdmadoctor, or a shell, in it", open},
		{"exec", "[-kernel 6.1] [-user NAME] [-tools FILE,...] SCRIPT...",
			"boot a guest and run a script in it", execute},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt,
		syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run runs a command line and returns the exit code.
func run(ctx context.Context, args []string) int {
	if len(args) == 0 {
		usage(os.Stderr)
		return exitUsage
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		code, err := c.run(ctx, args[1:])
		if err == nil {
			return code
		}
		return explain(err)
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(os.Stdout)
		return 0
	}
	fmt.Fprintf(os.Stderr, "lab: unknown command %q\n", args[0])
	usage(os.Stderr)
	return exitUsage
}

// explain prints an error and returns the exit code for it.
func explain(err error) int {
	if errors.Is(err, errUsage) || errors.Is(err, flag.ErrHelp) {
		return exitUsage
	}
	fmt.Fprintf(os.Stderr, "lab: %v\n", err)
	var missing *tool.MissingError
	if errors.As(err, &missing) {
		fmt.Fprintln(os.Stderr, "lab: scripts/packages lab installs it")
		return exitUnavailable
	}
	return exitInternal
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage:")
	for _, c := range commands() {
		fmt.Fprintf(w, "  lab %s\n      %s\n",
			strings.TrimSpace(c.name+" "+c.args), c.about)
	}
}

// setup makes all kernels ready.
func setup(ctx context.Context, args []string) (int, error) {
	if len(args) > 0 {
		fmt.Fprintf(os.Stderr, "lab setup: unexpected %q\n", args[0])
		return 0, errUsage
	}
	for _, series := range kernels.Series() {
		k, err := lab.Ready(ctx, series)
		if err != nil {
			return 0, err
		}
		fmt.Printf("%-5s %s\n", series, k.Release)
	}
	return 0, nil
}

// execute boots a guest and runs a script.
func execute(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("lab exec", flag.ContinueOnError)
	series := flags.String("kernel", "6.1", "kernel `series`")
	user := flags.String("user", "root", "`user` to run the script as")
	tools := flags.String("tools", "", "`files` of programs to bring along, "+
		"separated by commas")
	limit := flags.Duration("timeout", 10*time.Minute, "when to kill the script")
	if err := flags.Parse(args); err != nil {
		return 0, errUsage
	}
	if flags.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "lab exec: no script")
		return 0, errUsage
	}
	k, err := lab.Ready(ctx, *series)
	if err != nil {
		return 0, err
	}
	o := lab.Options{Kernel: k}
	if *tools != "" {
		o.Tools = strings.Split(*tools, ",")
	}
	g, err := lab.Boot(ctx, o)
	if err != nil {
		return 0, err
	}
	defer g.Close()
	p, err := g.Start(lab.Cmd{Script: strings.Join(flags.Args(), " "), User: *user,
		Timeout: *limit}, os.Stdout, os.Stderr)
	if err != nil {
		return 0, err
	}
	r, err := p.Wait(ctx)
	return r.ExitCode, err
}
