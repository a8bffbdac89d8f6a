package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// A gate's exit code drains a node whatever it is, so nothing that befalls this
// program may become one. The examination runs in a child of this binary that
// is marked by gateMark and says "drain" with a code that no crash has; every
// other end of it is 0.
const (
	gateMark  = "RDMADOCTOR_GATE"
	gateDrain = 101
	// gateGrace is what the child has beyond its own time limit.
	gateGrace = 10 * time.Second
)

// gateAsked reports whether the words ask for a gate. It looks at the words
// only, since a line that cannot be parsed must not drain a node either.
func gateAsked(args []string) bool {
	for _, a := range args {
		switch name, value, has := strings.Cut(a, "="); {
		case a == "--":
			return false
		case name == "--gate":
			no, err := strconv.ParseBool(value)
			return !has || err != nil || no
		}
	}
	return false
}

// gated reports whether this process is the child of a gate.
func (p *program) gated() bool { return slices.Contains(p.environ, gateMark+"=1") }

// gateCode is the exit code of a gate: whether the report or the child says that
// the node is to be drained, whatever else the program ended with.
func (p *program) gateCode() int {
	drain := p.drain
	if p.report != nil && p.report.closed {
		g := p.report.fold.Document().Summary.Gate
		drain = drain || g != nil && g.Drain
	}
	switch {
	case drain && p.gated():
		return gateDrain
	case drain:
		return report.ExitWarnings
	}
	return report.ExitHealthy
}

// guard runs the examination in a child that cannot take this process along,
// for at most limit, and takes over its verdict. It is false where no child could
// be started.
func (p *program) guard(ctx context.Context, limit time.Duration) bool {
	c := exec.Command(hostio.OwnBinary(), p.args...)
	c.Args[0] = os.Args[0] // What ps shows.
	c.Stdin, c.Stdout, c.Stderr = p.in, p.out, p.err
	c.Env = append(slices.Clone(p.environ), gateMark+"=1")
	c.WaitDelay = time.Second
	if c.Start() != nil {
		return false
	}
	ended := make(chan int, 1)
	go func() {
		_ = c.Wait()
		ended <- c.ProcessState.ExitCode()
	}()
	over := time.NewTimer(limit + gateGrace)
	defer over.Stop()
	select {
	case code := <-ended:
		p.drain = code == gateDrain
		return true
	case <-over.C:
	case <-ctx.Done():
	}
	// A child that the kernel holds is left behind.
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = c.Process.Signal(sig)
		select {
		case code := <-ended:
			p.drain = code == gateDrain
			return true
		case <-time.After(2 * time.Second):
		}
	}
	return true
}
