package flight

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Options shape a recording.
type Options struct {
	Header
	Keep    time.Duration // how far back it goes
	MaxSize int64         // bytes on disk, all segments together
}

// A Writer adds samples to a recording. There is one at a time.
type Writer struct {
	dir  string
	opt  Options
	lock *os.File

	open  func(path string) (disk, error) // makes a segment's file
	file  disk                            // the segment being written, nil: none
	path  string                          // its file's
	whole int                             // the samples in it
	poor  bool                            // what was dropped last made no room
	count *counting
	gz    *gzip.Writer
	enc   encoder
	began time.Time
}

// disk is the file of a segment.
type disk interface {
	io.WriteCloser
	Sync() error
}

func openFile(path string) (disk, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// segmentsKept is in how many pieces the oldest samples go.
const segmentsKept = 24

// Create opens the folder, made where it is not there, for the one writer.
func Create(dir string, opt Options) (*Writer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "writer"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock recording: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		pid, _ := io.ReadAll(io.LimitReader(lock, 20))
		_ = lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock recording: process %s writes it already", strings.TrimSpace(string(pid)))
		}
		return nil, fmt.Errorf("lock recording: %w", err)
	}
	_ = lock.Truncate(0)
	_, _ = lock.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	w := &Writer{dir: dir, opt: opt, lock: lock, open: openFile}
	if err := w.prune(time.Now()); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return w, nil
}

// Add writes a sample. Where there is no room on the disk the oldest segment
// makes some. On a disk that others fill it does not, and then the samples that
// are there are worth more than the next one: no more are given up for it.
func (w *Writer) Add(s Sample) error {
	if w.file != nil && (s.Began.Sub(w.began) >= w.opt.Keep/segmentsKept || w.count.n >= w.opt.MaxSize/8 || s.Began.Before(w.began)) {
		_ = w.end()
	}
	if err := w.prune(s.Began); err != nil {
		return err
	}
	err := w.write(s)
	if errors.Is(err, unix.ENOSPC) && !w.poor && w.dropOldest() {
		err = w.write(s)
		w.poor = err != nil
	}
	if err != nil {
		return fmt.Errorf("write sample: %w", err)
	}
	w.poor = false
	return nil
}

// write appends s to the segment. One in which that failed may end in half a
// frame, so the next sample begins another; it is removed where it holds no
// whole sample.
func (w *Writer) write(s Sample) (err error) {
	defer func() {
		if err == nil {
			w.whole++
		} else if w.file != nil {
			_ = w.file.Close()
			w.file = nil
			if w.whole == 0 {
				_ = os.Remove(w.path)
			}
		}
	}()
	if w.file == nil {
		if err := w.begin(s.Began); err != nil {
			return err
		}
	}
	if err := writeFrame(w.gz, w.enc.sample(s)); err != nil {
		return err
	}
	if err := w.gz.Flush(); err != nil {
		return err
	}
	return w.file.Sync() // A host that dies is the one that is looked into.
}

func (w *Writer) begin(at time.Time) error {
	header, err := json.Marshal(w.opt.Header)
	if err != nil {
		return err
	}
	path := filepath.Join(w.dir, segmentName(at))
	f, err := w.open(path)
	for errors.Is(err, os.ErrExist) { // Of a sample of that very time.
		at = at.Add(1)
		path = filepath.Join(w.dir, segmentName(at))
		f, err = w.open(path)
	}
	if err != nil {
		return err
	}
	w.file, w.path, w.whole, w.count, w.enc, w.began = f, path, 0, &counting{Writer: f}, encoder{}, at
	w.gz = gzip.NewWriter(w.count)
	return writeFrame(w.gz, header)
}

// end closes the segment.
func (w *Writer) end() error {
	if w.file == nil {
		return nil
	}
	err := errors.Join(w.gz.Close(), w.file.Sync(), w.file.Close())
	w.file = nil
	return err
}

// prune removes the segments that are wholly older than what is kept, and the
// oldest beyond the size, but never the one being written.
func (w *Writer) prune(now time.Time) error {
	names, err := segments(w.dir)
	if err != nil {
		return fmt.Errorf("look into recording: %w", err)
	}
	var total int64
	sizes := make([]int64, len(names))
	for i, name := range names {
		if st, err := os.Stat(filepath.Join(w.dir, name)); err == nil {
			sizes[i] = st.Size()
			total += st.Size()
		}
	}
	// The segment being written may grow by an eighth.
	for i := 0; i+1 < len(names); i++ {
		next, _ := segmentTime(names[i+1])
		if now.Sub(next) <= w.opt.Keep && total <= w.opt.MaxSize-w.opt.MaxSize/8 {
			break
		}
		if err := os.Remove(filepath.Join(w.dir, names[i])); err != nil {
			return fmt.Errorf("remove old samples: %w", err)
		}
		total -= sizes[i]
	}
	return nil
}

func (w *Writer) dropOldest() bool {
	names, err := segments(w.dir)
	return err == nil && len(names) > 1 && os.Remove(filepath.Join(w.dir, names[0])) == nil
}

// Close ends the recording in a whole segment.
func (w *Writer) Close() error { return errors.Join(w.end(), w.lock.Close()) }

// counting counts what was written, in bytes.
type counting struct {
	io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counting) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.n += int64(n)
	return n, err
}
