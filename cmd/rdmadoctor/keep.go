package main

import (
	"fmt"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/recording"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// A keeper makes a recording of an examination: its recorder is the host that
// is examined.
type keeper struct {
	out   *outFile
	rec   *recording.Recorder
	about recording.About
}

// keep begins a recording of what h answers. A file that cannot be made is
// found here, before anything is read. The caller discards out at the end.
func (p *program) keep(file string, h hostio.Host) (*keeper, error) {
	out, err := p.recordingFile(file)
	if err != nil {
		return nil, err
	}
	return &keeper{out: out, rec: recording.NewRecorder(h), about: recording.About{Version: version}}, nil
}

// learn takes from the examination what the recording says of itself, and
// passes it on to h, the snapshot only if snapshot says so. The examination has
// to be told to hand that out.
func (k *keeper) learn(snapshot bool, h report.Handler) report.Handler {
	return report.Func(func(m report.Message) error {
		switch {
		case m.Run != nil:
			k.about.Host = m.Run.Host
		case m.Snapshot != nil:
			k.about.Sources, k.about.Elapsed = m.Snapshot.Sources, m.Snapshot.Elapsed
			if !snapshot {
				return nil
			}
		}
		return m.Send(h)
	})
}

// write writes the recording and puts it in its place.
func (k *keeper) write() error {
	if err := k.rec.WriteTo(k.out, k.about); err != nil {
		return err
	}
	if err := k.out.keep(); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}
