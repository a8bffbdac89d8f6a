package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/doctor"
	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/recording"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
	"github.com/rdmadoctor/rdmadoctor/knowledge"
)

// source is where the facts of an examination come from: a host that is asked,
// or the snapshot of an earlier report.
type source struct {
	label  string // how the user named it; "" is this host
	origin facts.Origin
	host   hostio.Host
	replay *recording.Replay // host, where it is a recording
	doc    *report.Document  // instead of host
	flight *flight.Reader    // instead of host: many samples
	since  time.Time         // where flight is looked back to
	close  func()
}

// maxStdin bounds what is read from standard input, in bytes.
const maxStdin = 256 << 20

const wantedHint = "it takes a recording, a report with a snapshot or a copied /sys tree"

// source opens what --from names, by its content. Nothing is this host, read by
// a child process, since a read may hang for ever.
func (p *program) source(path string) (*source, error) {
	if path == "" {
		child := hostio.NewChild()
		return &source{origin: facts.Live, host: child, close: func() { _ = child.Close() }}, nil
	}
	if path == "-" {
		text, err := io.ReadAll(io.LimitReader(p.in, maxStdin+1))
		if err != nil {
			return nil, &usageError{fmt.Errorf("read standard input: %w", err), ""}
		}
		if len(text) > maxStdin {
			return nil, usagef("", "read standard input: longer than %d MiB", maxStdin>>20)
		}
		return recognise("standard input", bytes.NewReader(text))
	}
	st, err := os.Stat(path)
	if err != nil {
		return nil, &usageError{fmt.Errorf("open %q: %w", path, cause(err)), wantedHint}
	}
	switch {
	case st.IsDir() && flight.Is(path):
		return flightSource(path)
	case st.IsDir():
		tree, err := hostio.OpenTree(path)
		if err != nil {
			return nil, &usageError{err, "rdmadoctor record -o FILE on that host keeps more than a copied tree has"}
		}
		return &source{label: path, origin: facts.Tree, host: tree, close: func() { _ = tree.Close() }}, nil
	case !st.Mode().IsRegular():
		return nil, usagef(wantedHint, "open %q: it is neither a file nor a folder", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &usageError{fmt.Errorf("open %q: %w", path, cause(err)), ""}
	}
	defer f.Close()
	return recognise(path, f)
}

// cause is an error without the path that the message has already.
func cause(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// recognise reads a recording or a report.
func recognise(label string, r io.ReadSeeker) (*source, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, &usageError{fmt.Errorf("read %q: %w", label, cause(err)), ""}
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, &usageError{fmt.Errorf("read %q: %w", label, cause(err)), ""}
	}
	head = bytes.TrimLeft(head[:n], " \t\r\n")
	switch {
	case recording.IsRecording(head):
		rep, err := recording.Read(r)
		if err != nil {
			return nil, &usageError{fmt.Errorf("open recording %q: %w", label, err), "a recording is made with: rdmadoctor record -o FILE"}
		}
		return &source{label: label, origin: facts.Recording, host: rep, replay: rep, close: func() {}}, nil
	case bytes.HasPrefix(head, []byte("{")):
		var f report.Fold
		if err := report.Replay(r, &f); err != nil {
			return nil, &usageError{fmt.Errorf("open %q: %w", label, err), ""}
		}
		d := f.Document()
		if d.Snapshot == nil {
			return nil, usagef("make it with rdmadoctor check --json --snapshot, or look at it with rdmadoctor show",
				"open %q: the report has no snapshot to judge", label)
		}
		return &source{label: label, origin: d.Snapshot.Origin, doc: d, close: func() {}}, nil
	}
	return nil, usagef(wantedHint,
		"open %q: neither a recording nor a report", label)
}

// examine carries out one examination of the source.
func (s *source) examine(ctx context.Context, opt doctor.Options, h report.Handler) error {
	if s.doc != nil {
		return s.judge(ctx, opt, h)
	}
	if s.flight != nil {
		return s.lookBack(ctx, opt, h)
	}
	opt.Host, opt.Origin = s.host, s.origin
	if s.replay != nil {
		s.replay.Rewind()
		h = s.damaged(h)
	}
	if s.label != "" {
		h = s.labelled(h)
	}
	_, err := doctor.Examine(ctx, opt, h)
	return err
}

// labelled names a host that does not say its own name as the user named it.
func (s *source) labelled(h report.Handler) report.Handler {
	return report.Func(func(m report.Message) error {
		if m.Run != nil && m.Run.Host == "" {
			run := *m.Run
			run.Host = filepath.Base(s.label)
			m.Run = &run
		}
		return m.Send(h)
	})
}

// damaged adds what a cut recording lacks to what could not be looked at.
func (s *source) damaged(h report.Handler) report.Handler {
	gap := s.damage()
	if gap == nil {
		return h
	}
	return report.Func(func(m report.Message) error {
		if err := m.Send(h); err != nil || m.Run == nil {
			return err
		}
		return h.Gap(gap)
	})
}

// damage is what a cut recording lacks, nil where nothing is missing.
func (s *source) damage() *facts.Gap {
	if s.replay == nil || s.replay.Damage() == "" {
		return nil
	}
	return &facts.Gap{Source: facts.RecordingFile, What: s.label, Kind: facts.Malformed, Detail: s.replay.Damage()}
}

// judge examines the snapshot of a report, with the messages of a run that
// reads a host.
func (s *source) judge(ctx context.Context, opt doctor.Options, h report.Handler) error {
	cs, err := doctor.Select(opt.Only, opt.Skip)
	if err != nil {
		return err
	}
	run := report.Run{SchemaVersion: report.SchemaVersion, Tool: report.Tool{Name: report.ToolName, Version: opt.Version},
		Host: s.doc.Host, Origin: s.doc.Origin, Started: s.doc.Started, Args: opt.Args}
	if err := h.Run(&run); err != nil {
		return err
	}
	opt.Compared = func() ([]checks.Result, knowledge.Relations) { return besidePeer(s.doc.Snapshot) }
	var failed error
	sum := doctor.Judge(ctx, s.doc.Snapshot, cs, opt, func(m report.Message) {
		if failed == nil {
			failed = m.Send(h)
		}
	})
	if failed != nil {
		return failed
	}
	sum.DurationSeconds = s.doc.DurationSeconds
	return h.Summary(&sum)
}
