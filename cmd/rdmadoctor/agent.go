package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/peer"
	"github.com/rdmadoctor/rdmadoctor/internal/sandbox"
	"github.com/rdmadoctor/rdmadoctor/internal/spawner"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// agentFlags say where an agent waits and how long it lives.
type agentFlags struct {
	listen     string
	stdio, own bool
	lasts      time.Duration
	libs       verbs.Options
}

// mostAgent bounds the life of an agent.
const mostAgent = 24 * time.Hour

func (p *program) agentCommand() *cobra.Command {
	var f agentFlags
	c := &cobra.Command{
		Use:   "agent --listen ADDRESS:PORT",
		Short: "be the far end of a probe, for one peer, once",
		Long: `Agent waits at one address of this host for one rdmadoctor probe, and serves it:
it reads this host's facts and runs the far half of fixed, bounded probes. It
runs no command and changes nothing. It prints one line, the join line, which
holds a secret: give it to the probe by --join-file, not on a command line.
TLS 1.3; each end knows the other's key from that line. It ends with the peer,
or when its time is over.`,
		Example: `  rdmadoctor agent --listen 192.0.2.7:7471 > join.txt
  rdmadoctor probe host --join-file join.txt`,
		Args: arguments(0, 0, ""),
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			switch {
			case f.stdio == (f.listen != ""):
				return usagef("rdmadoctor agent --listen 192.0.2.7:7471", "agent needs --listen ADDRESS:PORT")
			case f.lasts <= 0 || f.lasts > mostAgent:
				return usagef(timeHint, "--for %v: an agent lives up to %v", f.lasts, mostAgent)
			}
			ctx, cancel := context.WithTimeout(ctx, f.lasts)
			defer cancel()
			if f.own {
				if err := peer.RemoveOwn(); err != nil {
					return err
				}
			}
			far, err := sealed(ctx, f.libs)
			if err != nil {
				return err
			}
			defer far.close()
			if f.stdio {
				return p.agentStdio(ctx, far)
			}
			return p.agentListen(ctx, &f, far)
		}),
	}
	fs := c.Flags()
	fs.StringVar(&f.listen, "listen", "", "wait at this `ADDRESS:PORT` of this host; port 0 is any that is free")
	fs.DurationVar(&f.lasts, "for", 10*time.Minute, "end after this `TIME`")
	fs.BoolVar(&f.stdio, "stdio", false, "speak over standard input and output")
	fs.BoolVar(&f.own, "own", false, "remove the file and folder of this program first")
	_ = fs.MarkHidden("stdio")
	_ = fs.MarkHidden("own")
	addLibraries(c, &f.libs)
	return c
}

// agentStdio is the far end that ssh started.
func (p *program) agentStdio(ctx context.Context, far *farHost) error {
	in, ok := p.in.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(p.in)
	}
	return peer.ServeStdio(ctx, in, p.out, far.far())
}

func (p *program) agentListen(ctx context.Context, f *agentFlags, far *farHost) error {
	addr, err := netip.ParseAddrPort(f.listen)
	if err != nil {
		return usagef("it is an address, not a name: 192.0.2.7:7471 or [2001:db8::7]:7471", "--listen %q is no ADDRESS:PORT", f.listen)
	}
	w, err := peer.Listen(ctx, addr)
	if err != nil {
		return &usageError{fmt.Errorf("--listen: %w", err), "ip -brief address lists the addresses of this host"}
	}
	defer w.Close()
	if _, err := fmt.Fprintln(p.out, w.Ticket.String()); err != nil {
		return err
	}
	fmt.Fprintf(p.err, "rdmadoctor: waiting for one peer until %s; the line above is a secret\n", time.Now().Add(f.lasts).Format(time.TimeOnly))
	conn, err := w.Accept(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Fprintf(p.err, "rdmadoctor: nobody came within %v\n", f.lasts)
		p.code = exitNobody
		return nil
	case err != nil:
		return err
	}
	fmt.Fprintf(p.err, "rdmadoctor: %s came\n", conn.RemoteAddr())
	peer.Serve(ctx, conn, far.far())
	return nil
}

// exitNobody is the exit code of an agent to which no peer came.
const exitNobody = 3

// farHost is this host as a far end shows it.
type farHost struct {
	child   *hostio.Child
	starter worker.Starter
	spawner *spawner.Spawner // nil: workers are children of this process
	notes   []string
}

// sealed is this host for a process that speaks to the network: what it needs
// runs beside it, and it can run no program any more. A reader of the host that
// hangs cannot be replaced from then on.
func sealed(ctx context.Context, libs verbs.Options) (*farHost, error) {
	s, err := spawner.Start(workerArgv(libs)[2:]...)
	if err != nil {
		return nil, err
	}
	h := &farHost{child: hostio.NewChild(), starter: s, spawner: s}
	hostio.One(ctx, h.child, hostio.Op{Kind: hostio.ReadFile, Name: "/proc/modules"}) // Starts it.
	if r := sandbox.Seal(); !r.Seccomp {
		h.notes = append(h.notes, r.String())
	}
	return h, nil
}

// unsealed is this host for the near end, which people started themselves.
func unsealed(libs verbs.Options) *farHost {
	return &farHost{child: hostio.NewChild(), starter: worker.Exec{Argv: workerArgv(libs)}}
}

func (h *farHost) close() {
	_ = h.child.Close()
	if h.spawner != nil {
		_ = h.spawner.Close()
	}
}

func (h *farHost) far() peer.Far {
	name, _ := os.Hostname()
	return peer.Far{Version: version, Hostname: name, UID: os.Getuid(), Notes: h.notes, Read: h.read, Start: h.start}
}

func (h *farHost) read(ctx context.Context, sources []facts.Source, interval time.Duration) *facts.Snapshot {
	return collect.Run(ctx, h.child, collect.Options{Origin: facts.Live, Interval: interval, Only: sources})
}

func (h *farHost) start(ctx context.Context, opt worker.Options) (*worker.Worker, error) {
	opt.Starter = h.starter
	return worker.Start(ctx, opt)
}
