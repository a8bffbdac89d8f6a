package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/compare"
)

func (p *program) compareCommand() *cobra.Command {
	var exam examFlags
	var format formatFlags
	c := &cobra.Command{
		Use:   "compare A B...",
		Short: "compare hosts: recordings, reports or copied trees",
		Long: `Compare puts hosts side by side and names the one that differs in what must
agree: transport, speed, lanes, FEC, MTU, PFC, DSCP map, trust, ETS, ECN, GIDs,
VLANs, partitions, sysctls, driver, firmware, PCIe settings, and the devices and
their names; and what must not, GUIDs and addresses. Most hosts are right; where
no value has a majority, the better one is (the faster link, the larger MTU), or
else that of the host that was named first. Each host is a recording, a report
with a snapshot, or a copied /sys tree.`,
		Example:     "  rdmadoctor compare gpu-017.tar.gz gpu-018.tar.gz",
		Annotations: judges,
		Args:        arguments(2, -1, "at least two hosts"),
		RunE: p.runs(func(ctx context.Context, args []string) error {
			if err := exam.checkFailOn(); err != nil {
				return err
			}
			if exam.timeout < 0 {
				return negativeTimeout(exam.timeout)
			}
			word, err := format.choose(formats, "text")
			if err != nil {
				return err
			}
			p.noColor = format.noColor
			return p.compare(ctx, args, word, format.output, &exam)
		}),
	}
	exam.addFailOn(c)
	c.Flags().DurationVar(&exam.timeout, "timeout", defaultTimeout, "end the run after this `TIME`")
	format.add(c, formats)
	return c
}

func (p *program) compare(ctx context.Context, paths []string, format, output string, exam *examFlags) error {
	var hosts []compare.Host
	read, cancel := context.WithTimeoutCause(ctx, max(exam.timeout, time.Millisecond), errors.New("the time of the run was over"))
	defer cancel()
	for _, path := range paths {
		src, err := p.source(path)
		if err != nil {
			return err
		}
		defer src.close()
		h := compare.Host{}
		switch {
		case src.doc != nil:
			h.Snapshot = src.doc.Snapshot
		case src.flight != nil:
			h.Snapshot = src.newest(read)
		default:
			h.Snapshot = compare.Collect(read, src.host, src.origin)
		}
		if h.Snapshot.Host.Hostname == "" {
			h.Name = filepath.Base(path)
		}
		if gap := src.damage(); gap != nil {
			h.Snapshot.Gaps = append(h.Snapshot.Gaps, *gap)
		}
		hosts = append(hosts, h)
	}
	if err := p.redirect(output); err != nil {
		return err
	}
	p.report = newSink(p, format)
	p.report.failOn = checks.Severity(exam.failOn)
	err := compare.Run(ctx, hosts, compare.Options{FailOn: p.report.failOn, Version: version, Args: p.args}, p.report)
	if err != nil {
		return err
	}
	p.code, err = p.report.finish()
	return err
}
