package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/peer"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/probes"
)

// hostFlags say where the far end is and what is measured.
type hostFlags struct {
	probeFlags
	host       string
	joinFile   string
	peerDevice string
	peerGID    int
	each       time.Duration
	ladderOnly bool
}

// hostTimeout bounds a whole probe of a pair.
const hostTimeout = 30 * time.Minute

func (f *hostFlags) addHost(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&f.joinFile, "join-file", "", "reach the far end's agent by the join line in `FILE` (- is stdin), not by ssh")
	fs.StringVar(&f.peerDevice, "peer-device", "", "probe against this `DEVICE` of the far host, or one port of it (mlx5_0/1)")
	fs.IntVar(&f.peerGID, "peer-gid-index", notAsked, "use this `INDEX` of the far port's GID table")
	fs.DurationVar(&f.each, "each", time.Second, "measure each thing for this `TIME`")
	fs.BoolVar(&f.ladderOnly, "ladder-only", false, "connect and move data once, and measure nothing")
}

// probeHostCommand is the far half of probe: it takes the host's name, so it is
// no command of its own.
func (p *program) probeHost(c *cobra.Command) {
	var exam examFlags
	var format formatFlags
	var flags hostFlags
	c.Use = "probe self|HOST"
	c.Short = "prove with real verbs where RDMA breaks and how fast it is"
	c.Long = `Probe HOST examines this host and another, compares them, and then connects a
port here to one there: step by step, with data verified at both ends; then it
measures latency, rate and bandwidth, and says why a figure is low. The far end
is started over ssh, as ssh HOST reaches it (a copy of this program that
removes itself), or is a waiting rdmadoctor agent.

What saturates a port is run only with --yes or after an answer. A port that
others use gets a hundred small messages. --plan shows everything and runs
nothing. Probe self connects each port of this host to itself.`
	c.Example = `  rdmadoctor probe self
  rdmadoctor probe gpu-018 --plan
  rdmadoctor probe gpu-018 --device mlx5_0 --peer-device mlx5_0
  rdmadoctor probe HOST --join-file join.txt --yes --json`
	c.Annotations = judges
	c.Args = arguments(1, 1, "self or a host")
	c.RunE = p.runs(func(ctx context.Context, args []string) error {
		flags.host = args[0]
		return p.pair(ctx, &exam, &format, &flags)
	})
	exam.addCommon(c)
	flags.add(c)
	flags.addHost(c)
	format.add(c, formats)
	c.Flags().Lookup("timeout").Usage = "end the run after this `TIME` (default 30m)"
}

// pair probes this host against another.
func (p *program) pair(ctx context.Context, exam *examFlags, format *formatFlags, flags *hostFlags) error {
	word, err := probeFormat(exam, format, hostTimeout)
	if err != nil {
		return err
	}
	run := &pairRun{program: p, flags: flags, near: unsealed(flags.libs)}
	defer run.near.close()
	if run.askNear, err = flags.ask(exam); err != nil {
		return err
	}
	if run.askFar, err = flags.askPeer(run.askNear); err != nil {
		return err
	}
	if flags.each <= 0 || flags.each > time.Minute {
		return usagef(timeHint, "--each %v is not above 0 and up to a minute", flags.each)
	}
	if run.ticket, err = p.ticket(flags.joinFile); err != nil {
		return err
	}
	src, err := p.source("")
	if err != nil {
		return err
	}
	defer src.close()
	opt := exam.options(p.args)
	if err := p.expect(ctx, exam, &opt); err != nil {
		return err
	}
	opt.Probe, opt.Compared = run.probe, run.compared
	if err := p.redirect(format.output); err != nil {
		return err
	}
	p.noColor = format.noColor
	p.report = newSink(p, word)
	p.report.failOn = checks.Severity(exam.failOn)
	h, done := p.progress(p.report)
	err = src.examine(ctx, opt, h)
	done()
	run.close()
	if err != nil {
		return err
	}
	if e := p.report.fold.Document().Error; e != nil && e.Kind == report.UsageError {
		p.complain(e)
	}
	p.code, err = p.report.finish()
	return err
}

// askPeer is what is asked of the far port: what is of the path is the same.
func (f *hostFlags) askPeer(near probes.Ask) (probes.Ask, error) {
	a := near
	a.Device, a.Port, a.GIDIndex = f.peerDevice, 0, nil
	if device, port, ok := strings.Cut(f.peerDevice, "/"); ok {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 {
			return a, usagef("a port is written mlx5_0/1", "--peer-device %q: no port %q", f.peerDevice, port)
		}
		a.Device, a.Port = device, n
	}
	if f.peerGID != notAsked {
		if f.peerGID < 0 || f.peerGID > 255 {
			return a, usagef("an index counts from 0", "--peer-gid-index %d is out of range", f.peerGID)
		}
		a.GIDIndex = &f.peerGID
	}
	return a, nil
}

// ticket reads the join line, nil where ssh is the way.
func (p *program) ticket(file string) (*peer.Ticket, error) {
	var in io.Reader
	switch file {
	case "":
		return nil, nil
	case "-":
		in = p.in
	default:
		f, err := os.Open(file)
		if err != nil {
			return nil, &usageError{fmt.Errorf("open %q: %w", file, cause(err)), "rdmadoctor agent --listen ADDRESS:PORT prints the line"}
		}
		defer f.Close()
		in = f
	}
	line, err := bufio.NewReader(io.LimitReader(in, 4<<10)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, &usageError{fmt.Errorf("read %q: %w", file, cause(err)), ""}
	}
	t, err := peer.ParseTicket(line)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--join-file: %w", err), "rdmadoctor agent --listen ADDRESS:PORT prints the line"}
	}
	return t, nil
}

// reach connects to the far end.
func (r *pairRun) reach(ctx context.Context) (*peer.Peer, []string, error) {
	if r.ticket != nil {
		conn, err := r.ticket.Join(ctx)
		if err != nil {
			return nil, nil, err
		}
		far, err := peer.Connect(ctx, conn, version)
		return far, nil, err
	}
	conn, notes, err := peer.SSH{Host: r.flags.host, Binary: hostio.OwnBinary(), Ask: isTerminal(r.program.in)}.Start(ctx)
	if err != nil {
		return nil, nil, err
	}
	far, err := peer.Connect(ctx, conn, version)
	return far, notes, err
}
