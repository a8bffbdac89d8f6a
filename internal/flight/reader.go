package flight

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"
)

// A Reader looks back at a recording.
type Reader struct {
	dir    string
	names  []string
	header Header // of the newest segment that has one
	damage []string
}

// Is reports whether a folder is a recording.
func Is(dir string) bool {
	names, err := segments(dir)
	return err == nil && len(names) > 0
}

// Open reads what the recording at dir says of itself.
func Open(dir string) (*Reader, error) {
	names, err := segments(dir)
	if err != nil {
		return nil, fmt.Errorf("open recording: %w", err)
	}
	r := &Reader{dir: dir, names: names}
	for i := len(names) - 1; i >= 0; i-- {
		s, err := openSegment(dir, names[i])
		if s != nil {
			s.close()
		}
		if err == nil {
			r.header = s.header
			return r, nil
		}
		if !errors.Is(err, errCut) {
			return nil, fmt.Errorf("open recording: %s: %w", names[i], err)
		}
	}
	return nil, errors.New("open recording: no segment in it is whole")
}

// Header is what the newest segment says.
func (r *Reader) Header() Header { return r.header }

// Began is when the oldest segment began.
func (r *Reader) Began() time.Time {
	t, _ := segmentTime(r.names[0])
	return t
}

// Ended is when the newest whole sample was taken.
func (r *Reader) Ended() time.Time {
	for i := len(r.names) - 1; i >= 0; i-- {
		var last time.Time
		r.segment(r.names[i], func(s Sample) bool {
			last = s.Began
			return true
		})
		if !last.IsZero() {
			return last
		}
	}
	return r.Began()
}

// Samples yields the samples since a time, and before them the last one that is
// older, whose counters the first interval begins with.
func (r *Reader) Samples(since time.Time) iter.Seq[Sample] {
	first := 0
	for i, name := range r.names {
		if t, _ := segmentTime(name); !t.After(since) {
			first = i
		}
	}
	r.damage = nil
	return func(yield func(Sample) bool) {
		var before *Sample
		for _, name := range r.names[first:] {
			more := r.segment(name, func(s Sample) bool {
				if s.Began.Before(since) {
					before = &s
					return true
				}
				if before != nil && !yield(*before) {
					return false
				}
				before = nil
				return yield(s)
			})
			if !more {
				return
			}
		}
	}
}

// Damage names the segments of which the last Samples did not find the end. The
// one being written is among them only where it was cut off.
func (r *Reader) Damage() []string { return r.damage }

// segment gives the samples of one segment to use until it has enough.
func (r *Reader) segment(name string, use func(Sample) bool) (more bool) {
	s, err := openSegment(r.dir, name)
	if s != nil {
		defer s.close()
	}
	for err == nil {
		var sample Sample
		if sample, err = s.next(); err == nil && !use(sample) {
			return false
		}
	}
	if !errors.Is(err, io.EOF) && name != r.names[len(r.names)-1] {
		r.damage = append(r.damage, name)
	}
	return true
}
