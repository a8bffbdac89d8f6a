package main

import (
	"context"
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/collect"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// expect reads what the host should be like into opt.
func (p *program) expect(ctx context.Context, exam *examFlags, opt *doctor.Options) error {
	if exam.baseline == "" {
		return nil
	}
	snap, err := p.baseline(ctx, exam.baseline)
	if err != nil {
		return err
	}
	opt.Baseline = snap
	return nil
}

// baseline is the snapshot of a recording or report. Nothing of it is read from
// this host.
func (p *program) baseline(ctx context.Context, path string) (*facts.Snapshot, error) {
	src, err := p.source(path)
	if err != nil {
		return nil, err
	}
	defer src.close()
	switch {
	case src.doc != nil:
		return src.doc.Snapshot, nil
	case src.flight != nil:
		return src.newest(ctx), nil
	}
	snap := collect.Run(ctx, src.host, collect.Options{Origin: src.origin})
	if len(snap.Devices) == 0 && !snap.Has(facts.SysfsRDMA) {
		return nil, &usageError{fmt.Errorf("read baseline %q: it has nothing of an RDMA host", path),
			"a baseline is made with: rdmadoctor record -o FILE"}
	}
	if gap := src.damage(); gap != nil {
		snap.Gaps = append(snap.Gaps, *gap)
	}
	return snap, nil
}
