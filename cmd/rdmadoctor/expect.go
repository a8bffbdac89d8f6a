package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/policy"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// expect reads what the host should be like into opt.
func (p *program) expect(ctx context.Context, exam *examFlags, opt *doctor.Options) (err error) {
	if exam.baseline != "" {
		if opt.Baseline, err = p.baseline(ctx, exam.baseline); err != nil {
			return err
		}
	}
	if exam.policy != "" {
		opt.Policy, err = p.policy(exam.policy)
	}
	return err
}

// baseline is the snapshot of a recording or report. Nothing of it is read from
// this host.
func (p *program) baseline(ctx context.Context, path string) (*facts.Snapshot, error) {
	src, err := p.source(path)
	if err != nil {
		return nil, err
	}
	defer src.close()
	snap := src.once(ctx)
	if len(snap.Devices) == 0 && !snap.Has(facts.SysfsRDMA) {
		return nil, &usageError{fmt.Errorf("read baseline %q: it has nothing of an RDMA host", path),
			"a baseline is made with: rdmadoctor record -o FILE"}
	}
	return snap, nil
}

// once is the source's snapshot with one sample: what stands still.
func (s *source) once(ctx context.Context) *facts.Snapshot {
	switch {
	case s.doc != nil:
		return s.doc.Snapshot
	case s.flight != nil:
		return s.newest(ctx)
	}
	snap := collect.Run(ctx, s.host, collect.Options{Origin: s.origin})
	if gap := s.damage(); gap != nil {
		snap.Gaps = append(snap.Gaps, *gap)
	}
	return snap
}

// policy reads a policy file. Of several mistakes each gets a line on stderr.
func (p *program) policy(path string) (*policy.Policy, error) {
	pol, err := readPolicy(path)
	var es policy.Errors
	if !errors.As(err, &es) {
		return pol, err
	}
	const hint = "docs/schema/policy.schema.json has all keys; rdmadoctor policy init writes a policy to start from"
	if len(es) == 1 {
		return nil, usagef(hint, "%s:%d: %s", path, es[0].Line, es[0].Message)
	}
	for _, e := range es {
		fmt.Fprintf(p.err, "%s:%d: %s\n", report.Clean(path), e.Line, report.Clean(e.Message))
	}
	return nil, usagef(hint, "%s: %d mistakes, the first in line %d: %s", path, len(es), es[0].Line, es[0].Message)
}

// readPolicy reads a policy. Mistakes in it are policy.Errors.
func readPolicy(path string) (*policy.Policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &usageError{fmt.Errorf("open policy %q: %w", path, cause(err)), "rdmadoctor policy init makes one from a good host"}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, policy.MaxSize+1))
	if err != nil {
		return nil, &usageError{fmt.Errorf("read policy %q: %w", path, cause(err)), ""}
	}
	return policy.Parse(text)
}
