package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/tui"
)

// screen is what the terminal front end shows.
type screen struct {
	from  string // what is shown, where it is not this host now
	again bool   // the run can be repeated
	run   func(context.Context, report.Handler) error
}

// screenOf opens the screen and examines into it.
func (p *program) screenOf(ctx context.Context, exam *examFlags) error {
	if err := exam.check(); err != nil {
		return err
	}
	src, err := p.source(exam.from)
	if err != nil {
		return err
	}
	defer src.close()
	opt := exam.options(p.args)
	if err := p.expect(ctx, exam, &opt); err != nil {
		return err
	}
	opt.KeepSnapshot = true // The screen lists the ports.
	return p.screen(ctx, screen{from: src.label, again: true,
		run: func(ctx context.Context, h report.Handler) error { return src.examine(ctx, opt, h) }})
}

// quitWithin is how long a run has to stop after the screen was left.
const quitWithin = 2 * time.Second

func (p *program) screen(ctx context.Context, s screen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	feed := tui.NewFeed(ctx)
	var last atomic.Pointer[report.Summary]
	once := func(ctx context.Context) (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &panicError{v, debug.Stack()}
			}
		}()
		return s.run(ctx, report.Tee(report.Func(func(m report.Message) error {
			if m.Summary != nil {
				last.Store(m.Summary)
			}
			return nil
		}), feed))
	}
	opts := tui.Options{From: s.from, NoColor: p.noColor, ASCII: !p.utf8(), Write: writeReport}
	if s.again {
		opts.Again = once
	}
	ended := make(chan error, 1)
	go func() {
		err := once(ctx)
		_ = feed.End(err) // The screen may be closed already.
		ended <- err
	}()
	err := tui.Run(ctx, opts, feed)
	cancel()
	select {
	case runErr := <-ended:
		var panicked *panicError
		if errors.As(runErr, &panicked) {
			p.code = p.panicked(panicked.value, panicked.stack)
			return nil
		}
	case <-time.After(quitWithin): // It hangs in a read that nothing can end.
	}
	switch {
	case errors.Is(err, context.Canceled):
		p.code = report.ExitInterrupted
		return nil
	case err != nil:
		return err
	case last.Load() == nil:
		p.code = report.ExitUnknown
	default:
		p.code = exitCode(*last.Load())
	}
	return nil
}

// panicError carries a panic out of the goroutine of a run.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("internal error: %v", e.value) }

// utf8 reports whether the locale draws more than ASCII.
func (p *program) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		for _, e := range p.environ {
			if v, ok := strings.CutPrefix(e, name+"="); ok && v != "" {
				v = strings.ToLower(v)
				return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
			}
		}
	}
	return false
}

// writeReport saves the report that the screen shows into the working folder,
// under a name that is not taken.
func writeReport(_ context.Context, stream []report.Message) (string, error) {
	var f report.Fold
	for _, m := range stream {
		if err := m.Send(&f); err != nil {
			return "", err
		}
	}
	d := f.Document()
	stamp := d.Started.UTC().Format("20060102-150405")
	for n := 1; n < 100; n++ {
		name := fmt.Sprintf("rdmadoctor-%s.json", stamp)
		if n > 1 {
			name = fmt.Sprintf("rdmadoctor-%s-%d.json", stamp, n)
		}
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("write report: %w", err)
		}
		return name, errors.Join(report.JSON(file, d), file.Close())
	}
	return "", errors.New("write report: too many are here already")
}
