package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
	"github.com/rdmadoctor/rdmadoctor/probes"
)

// probeFlags say what a probe may do and which way its packets take.
type probeFlags struct {
	plan, yes, busyOK, noRefusals bool
	gid, mtu, pkey, sl, tclass    int
	mrMax                         string
	repeat                        int
	libs                          verbs.Options
}

// notAsked is the value of a number that is chosen.
const notAsked = -1

func (f *probeFlags) add(c *cobra.Command) {
	fs := c.Flags()
	fs.BoolVar(&f.plan, "plan", false, "say what would be run and the load it makes, and run nothing")
	fs.BoolVar(&f.yes, "yes", false, "run what saturates a port, too, without asking")
	fs.BoolVar(&f.busyOK, "busy-ok", false, "treat a port that others use like one that nobody uses")
	fs.BoolVar(&f.noRefusals, "no-refusals", false, "leave out the accesses that must be refused, which raise error counters")
	fs.IntVar(&f.gid, "gid-index", notAsked, "use this `INDEX` of the GID table (default what ib_write_bw takes)")
	fs.IntVar(&f.mtu, "path-mtu", notAsked, "use this path MTU of `BYTES`: 256, 512, 1024, 2048, 4096 (default the port's active MTU)")
	fs.IntVar(&f.pkey, "pkey-index", notAsked, "use this `INDEX` of the partition table (default 0)")
	fs.IntVar(&f.sl, "sl", notAsked, "use this service `LEVEL`, 0 to 15 (default 0)")
	fs.IntVar(&f.tclass, "tclass", notAsked, "use this traffic `CLASS`, 0 to 255 (default what the host sets for RoCE)")
	fs.StringVar(&f.mrMax, "mr-max", "", "register up to this `SIZE`: 64M, 4G, 0 for none (default 1G, less where memory is short)")
	fs.IntVar(&f.repeat, "repeat", 0, "first run the ladders `N` times and see what they leave behind")
	_ = fs.MarkHidden("repeat") // It is for the lab.
	addLibraries(c, &f.libs)
}

// ask is what the flags ask for.
func (f *probeFlags) ask(e *examFlags) (probes.Ask, error) {
	a := probes.Ask{Device: e.device, Port: e.port, BusyOK: f.busyOK, NoRefuse: f.noRefusals}
	for _, n := range []struct {
		flag      string
		value     int
		most      int
		to        **int
		allowed   []int
		explained string
	}{
		{"gid-index", f.gid, 1 << 16, &a.GIDIndex, nil, "an index counts from 0"},
		{"path-mtu", f.mtu, 4096, &a.PathMTU, []int{256, 512, 1024, 2048, 4096}, "a path MTU is 256, 512, 1024, 2048 or 4096"},
		{"pkey-index", f.pkey, 1 << 16, &a.PkeyIndex, nil, "an index counts from 0"},
		{"sl", f.sl, 15, &a.SL, nil, "a service level is 0 to 15"},
		{"tclass", f.tclass, 255, &a.TClass, nil, "a traffic class is 0 to 255"},
	} {
		if n.value == notAsked {
			continue
		}
		if n.value < 0 || n.value > n.most || n.allowed != nil && !has(n.allowed, n.value) {
			return a, usagef(n.explained, "--%s %d is out of range", n.flag, n.value)
		}
		value := n.value
		*n.to = &value
	}
	if f.mrMax == "" {
		return a, nil
	}
	size, ok := parseSize(f.mrMax)
	if !ok {
		return a, usagef("a size is written 65536, 64K, 512M, 4G", "--mr-max: unknown size %q", f.mrMax)
	}
	a.MRMax = max(size, 1) // 0 chooses; 1 byte is less than the least region.
	return a, nil
}

func has(all []int, n int) bool {
	for _, v := range all {
		if v == n {
			return true
		}
	}
	return false
}

// parseSize reads a size in bytes with the suffixes K, M, G and T of 1024.
func parseSize(s string) (uint64, bool) {
	shift := map[byte]uint{'K': 10, 'M': 20, 'G': 30, 'T': 40}
	n := len(s)
	if n == 0 {
		return 0, false
	}
	by, suffixed := shift[s[n-1]&^0x20]
	if suffixed {
		s = s[:n-1]
	}
	var v uint64
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || v > 1<<40 {
			return 0, false
		}
		v = v*10 + uint64(c-'0')
	}
	return v << by, len(s) > 0 && v<<by>>by == v
}

func (p *program) probeCommand() *cobra.Command {
	c := &cobra.Command{}
	p.probeHost(c)
	c.AddCommand(p.probeSelfCommand())
	return c
}

func (p *program) probeSelfCommand() *cobra.Command {
	var exam examFlags
	var format formatFlags
	var flags probeFlags
	c := &cobra.Command{
		Use:   "self",
		Short: "connect each port to itself, step by step, and try what must be refused",
		Long: `Probe self examines this host and then connects each RDMA port to itself: it
opens the device, registers memory of growing size, makes queue pairs and moves
them to RTS, moves data and verifies it, and tries what must be refused. Each
step is shown with its time and errno; where one fails, single attributes are
varied to find the one that makes it pass.

It makes its own queue pairs and memory and leaves nothing behind. A port that
others use gets only what disturbs nobody; one that carries storage or the
default route is probed only when --device names it.`,
		Example: `  rdmadoctor probe self --plan
  rdmadoctor probe self
  rdmadoctor probe self --device mlx5_0/1 --gid-index 3 --json`,
		Annotations: judges,
		Args:        arguments(0, 0, ""),
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			return p.probeSelf(ctx, &exam, &format, &flags)
		}),
	}
	exam.addCommon(c)
	flags.add(c)
	format.add(c, formats)
	c.Flags().Lookup("timeout").Usage = "end the run after this `TIME` (default 10m)"
	return c
}

// probeTimeout bounds a run of probes; each has a limit of its own besides.
const probeTimeout = 10 * time.Minute

// ladderLimit bounds the ladders of one port.
const ladderLimit = 3 * time.Minute

// probeFormat checks the flags that all probes share, and returns the format of
// the report. The run ends after limit where no other time was given.
func probeFormat(exam *examFlags, format *formatFlags, limit time.Duration) (string, error) {
	word, err := format.choose(formats, "text")
	if err != nil {
		return "", err
	}
	if exam.timeout == 0 {
		exam.timeout = limit
	}
	return word, exam.check()
}

// probeSelf examines this host and probes its ports.
func (p *program) probeSelf(ctx context.Context, exam *examFlags, format *formatFlags, flags *probeFlags) error {
	word, err := probeFormat(exam, format, probeTimeout)
	if err != nil {
		return err
	}
	ask, err := flags.ask(exam)
	if err != nil {
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
	opt.Probe = func(ctx context.Context, snap *facts.Snapshot, send func(report.Message)) {
		for _, planned := range probes.Plan(snap, ask) {
			l := &planned.Params
			l.Repeat = max(flags.repeat, 0)
			if n, ok := checks.RoCEPriority(snap, l.Device, l.Port, l.TClass); ok {
				l.Priority = &n
			}
			snap.Ladders = append(snap.Ladders, p.ladders(ctx, planned, flags, send)...)
		}
	}
	if err := p.redirect(format.output); err != nil {
		return err
	}
	p.noColor = format.noColor
	p.report = newSink(p, word)
	p.report.failOn = checks.Severity(exam.failOn)
	h, done := p.progress(p.report)
	err = src.examine(ctx, opt, h)
	done()
	if err != nil {
		return err
	}
	if e := p.report.fold.Document().Error; e != nil && e.Kind == report.UsageError {
		p.complain(e)
	}
	p.code, err = p.report.finish()
	return err
}

// ladders runs what is planned for one port, in a worker.
func (p *program) ladders(ctx context.Context, planned probes.Planned, flags *probeFlags, send func(report.Message)) []facts.Ladder {
	switch {
	case planned.Skip != "":
		return []facts.Ladder{planned.Ladder(planned.Skip)}
	case flags.plan:
		return []facts.Ladder{planned.Ladder("--plan: nothing was run")}
	case !verbs.Supported:
		l := planned.Ladder(verbs.ErrUnsupported.Error())
		l.End.Outcome, l.Planned = facts.Unavailable, nil
		return []facts.Ladder{l}
	case ctx.Err() != nil:
		l := planned.Ladder("the run was over before")
		l.End.Outcome, l.Planned = facts.Stopped, nil
		return []facts.Ladder{l}
	}
	params, err := json.Marshal(planned.Params)
	if err != nil {
		l := planned.Ladder(err.Error())
		return []facts.Ladder{l}
	}
	link := facts.LinkName(planned.Params.Device, planned.Params.Port)
	told := make(chan *worker.Message, 64)
	w, err := worker.Start(ctx, worker.Options{
		Task:    worker.Task{Probe: probes.LadderProbe, Params: params, Limit: ladderLimit * time.Duration(1+planned.Params.Repeat)},
		Starter: worker.Exec{Argv: workerArgv(flags.libs)}, CPUs: planned.CPUs, Phase: 15 * time.Second,
		Tell: func(m *worker.Message) {
			select {
			case told <- m:
			default: // Progress may be dropped without loss.
			}
		},
	})
	if err != nil {
		l := planned.Ladder(err.Error())
		l.End = facts.ProbeEnd{Outcome: facts.Unavailable, Step: "start", Detail: err.Error()}
		return []facts.Ladder{l}
	}
	for running := true; running; {
		select {
		case m := <-told:
			if m.Begun != nil {
				send(report.Message{Progress: &report.Progress{Step: "probe", Text: fmt.Sprintf("%s: %s", link, m.Begun.Step)}})
			}
		case <-w.Done():
			running = false
		}
	}
	return completed(planned, w.Wait())
}

// completed are the ladders of a worker, or why there are none.
func completed(planned probes.Planned, r worker.Result) []facts.Ladder {
	if len(r.Ladders) > 0 && r.End.Outcome != facts.Unavailable {
		return r.Ladders
	}
	l := planned.Ladder("")
	l.End, l.Planned = r.End, nil
	if l.End.Outcome == facts.Completed { // It could not begin, and said why.
		l.End.Outcome = facts.Unavailable
	}
	return []facts.Ladder{l}
}
