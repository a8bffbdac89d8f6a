package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

func (p *program) checkCommand() *cobra.Command {
	var exam examFlags
	var format formatFlags
	c := &cobra.Command{
		Use:   "check",
		Short: "examine this host, or a recording of one",
		Example: `  rdmadoctor check
  rdmadoctor check --json --interval 0s
  rdmadoctor check --device mlx5_0/1 --only link,mtu
  rdmadoctor check --json --record gpu-017.tar.gz
  rdmadoctor check --from gpu-017.tar.gz
  rdmadoctor check --since 02:00
  rdmadoctor check --baseline gpu-017-good.tar.gz`,
		Annotations: judges,
		Args:        arguments(0, 0, ""),
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			if exam.gate && !p.gated() && p.guard(ctx, exam.limit()) {
				return nil
			}
			if exam.watch {
				return p.watch(ctx, &exam, &format)
			}
			return p.examine(ctx, &exam, &format)
		}),
	}
	c.Flags().BoolVar(&exam.watch, "watch", false,
		"examine this host every --interval and show the counters' rates, until Ctrl-C or --timeout; then report")
	c.Flags().StringVar(&exam.since, "since", "",
		"judge a flight recording from `TIME` on: 02:00, 90m (ago), \"2026-11-29 02:00\" or RFC 3339; --from names it (default "+flightDir+")")
	c.Flags().BoolVar(&exam.gate, "gate", false,
		"for prologs and health programs: exit 1 only for a proved failure on a wanted port, else 0 whatever happens")
	exam.add(c)
	c.Flags().StringVar(&exam.record, "record", "", "keep what this examination reads in `FILE`, too")
	format.add(c, formats)
	return c
}

const sinceHint = "a flight recording is made with: rdmadoctor record --every 1m -o FOLDER"

// examine runs one examination and writes its report.
func (p *program) examine(ctx context.Context, exam *examFlags, format *formatFlags) error {
	word, err := format.choose(formats, "text")
	if err != nil {
		return err
	}
	limited := exam.timeout > 0
	if err := exam.check(); err != nil {
		return err
	}
	from, since := exam.from, time.Time{}
	if exam.since != "" {
		if since, err = parseSince(exam.since, time.Now()); err != nil {
			return err
		}
		from = cmp.Or(from, flightDir)
	}
	src, err := p.source(from)
	if err != nil && exam.since != "" {
		return &usageError{fmt.Errorf("--since needs a flight recording: %w", err), sinceHint}
	}
	if err != nil {
		return err
	}
	defer src.close()
	if src.flight == nil && exam.since != "" {
		return usagef(sinceHint, "--since needs a flight recording, and %q is none", from)
	}
	if src.flight != nil && exam.gate {
		return usagef("leave one of them out", "--gate asks what the host is like now, and a flight recording what it was like")
	}
	if src.flight != nil && exam.record != "" {
		return usagef("the folder can be copied as it is", "--record and a flight recording contradict each other")
	}
	src.since = since
	opt := exam.options(p.args)
	if err := p.expect(ctx, exam, &opt); err != nil {
		return err
	}
	if src.flight != nil && !limited {
		opt.Timeout = 0 // A day takes its time, and its reader can end it.
	}
	var kept *keeper
	if exam.record != "" && exam.record != "-" && filepath.Clean(exam.record) == filepath.Clean(format.output) {
		return usagef("give each a file of its own", "--record and --output name the same file")
	}
	if exam.record != "" {
		if kept, err = p.keep(exam.record, src.host); err != nil {
			return err
		}
		defer kept.out.discard()
		src.host, opt.KeepSnapshot = kept.rec, true
	}
	if err := p.redirect(format.output); err != nil {
		return err
	}
	p.noColor = format.noColor
	p.report = newSink(p, word)
	p.report.failOn = checks.Severity(exam.failOn)
	h, done := p.progress(p.report)
	if kept != nil {
		h = kept.learn(exam.snapshot, h)
	}
	err = src.examine(ctx, opt, h)
	done()
	if err != nil {
		return err
	}
	if e := p.report.fold.Document().Error; e != nil && e.Kind == report.UsageError {
		p.complain(e)
	}
	if p.code, err = p.report.finish(); err != nil || kept == nil {
		return err
	}
	return kept.write()
}

// options are the flags as the examination takes them.
func (f *examFlags) options(args []string) doctor.Options {
	return doctor.Options{
		Interval: f.interval, Timeout: f.timeout, Only: f.only, Skip: f.skip, Device: f.device, Port: f.port,
		FailOn: checks.Severity(f.failOn), Version: version, Args: args, KeepSnapshot: f.snapshot, Gate: f.gate,
	}
}

// readHostCommand is the child that reads the host, since a read may hang for
// ever. It speaks to its parent only.
func (p *program) readHostCommand() *cobra.Command {
	return &cobra.Command{
		Use:    hostio.ReadHostArg,
		Hidden: true,
		Args:   arguments(0, 0, ""),
		RunE: p.runs(func(ctx context.Context, _ []string) error {
			return hostio.Serve(ctx, p.in, p.out, &hostio.Live{})
		}),
	}
}
