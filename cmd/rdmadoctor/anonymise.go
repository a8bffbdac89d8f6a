package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/anonymise"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/recording"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

func (p *program) anonymiseCommand() *cobra.Command {
	var secret string
	c := &cobra.Command{
		Use:   "anonymise IN OUT",
		Short: "make a recording or report that can be given away",
		Long: `Anonymise copies a recording, the folder of a flight recorder, or a report with
a snapshot (check --json --snapshot), with host names, addresses (IP, MAC, GID), GUIDs, serial numbers, user and process names
replaced by others, the same each time, and with only those lines of the kernel
log that speak of RDMA, its hardware or a host in trouble. It is diagnosed as
before. Names of devices, netdevs, drivers, firmware and services, PCI places
and settings stay. A report is judged anew from its snapshot, without a policy
or baseline, so that no sentence of the old one is in it.

Each run replaces differently and nobody can turn that back. To keep recordings
of several hosts comparable, give all the same --secret and keep it.`,
		Example: `  rdmadoctor anonymise gpu-017.tar.gz ticket.tar.gz
  rdmadoctor anonymise --secret "$(cat key)" gpu-018.tar.gz other.tar.gz`,
		Args: arguments(2, 2, "IN and OUT"),
		RunE: p.runs(func(ctx context.Context, args []string) error {
			return p.anonymise(ctx, args[0], args[1], secret)
		}),
	}
	c.Flags().StringVar(&secret, "secret", "", "replace alike wherever this `TEXT` is given")
	return c
}

func (p *program) anonymise(ctx context.Context, in, out, secret string) error {
	if same(in, out) {
		return usagef("give another name for what it writes", "%q would be overwritten by itself without names", in)
	}
	src, err := p.source(in)
	if err != nil {
		return err
	}
	defer src.close()
	switch {
	case src.flight != nil:
		return p.anonymiseFlight(ctx, src.flight, out, secret)
	case src.doc != nil:
		return p.anonymiseReport(ctx, src, out, secret)
	case src.replay == nil:
		return usagef("rdmadoctor record -o FILE makes one", "%q is no recording", in)
	case src.replay.Damage() != "":
		return usagef("what is left of it cannot be written as a whole one", "%q: %s", in, src.replay.Damage())
	}
	m := src.replay.Manifest()
	file, err := p.recordingFile(out)
	if err != nil {
		return err
	}
	defer file.discard()
	k := &keeper{out: file, rec: recording.Recorded(src.replay.Answers()),
		about: recording.About{Version: m.Version, Host: m.Host, Sources: m.Sources, Elapsed: m.Elapsed}}
	if err := k.anonymise(secret); err != nil {
		return err
	}
	if err := k.write(); err != nil {
		return err
	}
	return p.anonymised(out)
}

// same reports whether two names are of one file or folder.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (p *program) anonymised(out string) error {
	if out == "-" {
		return nil
	}
	_, err := fmt.Fprintf(p.out, "wrote %s: look through it before you give it away\n", report.Clean(out))
	return err
}

// anonymise replaces what the recording has by others.
func (k *keeper) anonymise(secret string) error {
	a := anonymise.New(secret)
	answers := k.rec.Answers()
	for _, s := range answers {
		a.Learn(flight.Sample(s))
	}
	if err := a.Ready(); err != nil {
		return fmt.Errorf("anonymise: %w", err)
	}
	for i, s := range answers {
		answers[i] = recording.Answers(a.Replace(flight.Sample(s)))
	}
	k.rec, k.about.Host = recording.Recorded(answers), a.Host(k.about.Host)
	return nil
}

func (p *program) anonymiseFlight(ctx context.Context, in *flight.Reader, out, secret string) error {
	if flight.Is(out) || out == "-" {
		return usagef("give a folder that is not there yet", "%q cannot take a flight recording", out)
	}
	a := anonymise.New(secret)
	for s := range in.Samples(time.Time{}) {
		if ctx.Err() != nil {
			return fmt.Errorf("anonymise: %w", ctx.Err())
		}
		a.Learn(s)
	}
	if err := a.Ready(); err != nil {
		return fmt.Errorf("anonymise: %w", err)
	}
	header := in.Header()
	header.Host = a.Host(header.Host)
	w, err := flight.Create(out, flight.Options{Header: header, Keep: math.MaxInt64, MaxSize: math.MaxInt64})
	if err != nil {
		return &usageError{fmt.Errorf("%q: %w", out, err), "give a folder that can be made"}
	}
	defer w.Close()
	for s := range in.Samples(time.Time{}) {
		if ctx.Err() != nil {
			return fmt.Errorf("anonymise: %w", ctx.Err())
		}
		if err := w.Add(a.Replace(s)); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = os.Remove(out + "/writer")
	return p.anonymised(out)
}

// anonymiseReport writes what is judged of the snapshot without names.
func (p *program) anonymiseReport(ctx context.Context, src *source, out, secret string) error {
	a := anonymise.New(secret)
	if err := a.LearnSnapshot(src.doc.Snapshot); err != nil {
		return err
	}
	if err := a.Ready(); err != nil {
		return fmt.Errorf("anonymise: %w", err)
	}
	doc := *src.doc
	var err error
	if doc.Snapshot, err = a.Snapshot(doc.Snapshot); err != nil {
		return err
	}
	doc.Host = a.Host(doc.Host)
	var fold report.Fold
	nameless := &source{label: src.label, origin: src.origin, doc: &doc}
	opt := doctor.Options{Version: version, KeepSnapshot: true, FailOn: checks.Warn}
	if err := nameless.judge(ctx, opt, &fold); err != nil {
		return err
	}
	file, err := p.recordingFile(out)
	if err != nil {
		return err
	}
	defer file.discard()
	if err := report.JSON(file, fold.Document()); err != nil {
		return err
	}
	if err := file.keep(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return p.anonymised(out)
}
