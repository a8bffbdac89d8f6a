package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/scenario"
)

// open boots a scenario's guests and gives the user rdmadoctor in it.
func open(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("lab open", flag.ContinueOnError)
	series := flags.String("kernel", "", "kernel `series`; the scenario's first "+
		"if empty")
	doctor := flags.String("doctor", "", "`file` of the rdmadoctor to open; "+
		"built if empty")
	shell := flags.Bool("shell", false, "open a shell, with rdmadoctor in PATH")
	if err := flags.Parse(args); err != nil {
		return 0, errUsage
	}
	if flags.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "lab open: want the id of one scenario, as in "+
			"lab/scenarios")
		return 0, errUsage
	}
	o, done, err := suiteOptions(ctx, *doctor)
	if err != nil {
		return 0, err
	}
	defer done()
	o.Only = flags.Args()
	all, _, err := scenario.Load(o.Dir)
	if err != nil {
		return 0, err
	}
	for _, s := range all {
		if s.ID == o.Only[0] {
			o.Kernels = s.Kernels[:1]
		}
	}
	if *series != "" {
		o.Kernels = []string{*series}
	}
	suite, err := scenario.New(ctx, o)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(os.Stderr, "booting a guest and making it sick: %s...\n",
		suite.Scenarios()[0].About)
	s, err := suite.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	argv := []string{"rdmadoctor"}
	if *shell {
		fmt.Fprintln(os.Stderr, "this is the sick host; try: rdmadoctor check")
		argv = []string{"bash", "-i"}
	}
	// The doctor's exit code tells of the sick host, which is no failure here.
	_, err = attach(ctx, s.Guest, argv)
	return 0, err
}

// attach runs a program in a guest on the user's terminal. Without one, its
// output is printed.
func attach(ctx context.Context, g *lab.Guest, argv []string) (int, error) {
	c := lab.Cmd{Argv: argv, Dir: "/root", Timeout: 24 * time.Hour}
	t, err := openTerminal()
	if err != nil {
		return 0, err
	}
	if t == nil {
		p, err := g.Start(c, os.Stdout, os.Stderr)
		if err != nil {
			return 0, err
		}
		if err := p.CloseInput(); err != nil {
			return 0, err
		}
		r, err := p.Wait(ctx)
		return r.ExitCode, err
	}
	defer t.restore()
	size := t.size()
	c.Terminal = &size
	for _, name := range []string{"TERM", "COLORTERM", "NO_COLOR"} {
		if value, ok := os.LookupEnv(name); ok {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	p, err := g.Start(c, os.Stdout, os.Stderr)
	if err != nil {
		return 0, err
	}
	t.follow(p)
	r, err := p.Wait(ctx)
	return r.ExitCode, err
}
