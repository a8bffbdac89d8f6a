package flight

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A recording is a folder of segments. A segment is a gzip stream of frames,
// flushed after each, so that whatever was cut off in the middle of a write is
// readable up to the last whole frame. A frame is the length and the CRC-32C of
// its payload, both big-endian, and the payload: the Header in the first frame,
// a sample in each that follows. A segment needs no other one.
const (
	suffix    = ".flight"
	nameForm  = "20060102T150405.000000000Z"
	maxFrame  = 192 << 20
	maxHeader = 64 << 10
	frameHead = 8
)

// Schema is the version of a segment's form. Within a major version nothing
// changes that a reader looks at.
const Schema = "1.0"

// Header begins a segment.
type Header struct {
	Schema  string        `json:"schema"`
	Tool    string        `json:"tool"`
	Version string        `json:"version"`
	Host    string        `json:"host"`
	Every   time.Duration `json:"every_nanos"` // how often a sample is taken
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func writeFrame(w io.Writer, payload []byte) error {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	head = binary.BigEndian.AppendUint32(head, crc32.Checksum(payload, castagnoli))
	if _, err := w.Write(head); err != nil {
		return err
	}
	_, err := w.Write(payload)
	return err
}

// errCut is the end of what is whole in a segment.
var errCut = errors.New("cut off or damaged")

// readFrame reads the next frame. io.EOF is the end of a segment that was
// closed, errCut of one that was not.
func readFrame(r io.Reader, most uint32) ([]byte, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, errCut
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > most {
		return nil, errCut
	}
	payload, err := io.ReadAll(io.LimitReader(r, int64(size))) // As much as arrives, not as is promised.
	if err != nil || len(payload) < int(size) || crc32.Checksum(payload, castagnoli) != binary.BigEndian.Uint32(head[4:]) {
		return nil, errCut
	}
	return payload, nil
}

// segmentName sorts by the time that a segment began.
func segmentName(began time.Time) string { return began.UTC().Format(nameForm) + suffix }

func segmentTime(name string) (time.Time, bool) {
	t, err := time.Parse(nameForm, strings.TrimSuffix(name, suffix))
	return t, err == nil && strings.HasSuffix(name, suffix)
}

// segments are the names in a folder, oldest first.
func segments(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if _, ok := segmentTime(e.Name()); ok && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// segment is one that is read.
type segment struct {
	file   *os.File
	frames io.Reader
	state  state
	header Header
}

func openSegment(dir, name string) (*segment, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	s := &segment{file: f}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return s, errCut
	}
	s.frames = bufio.NewReader(z)
	text, err := readFrame(s.frames, maxHeader)
	if err != nil || json.Unmarshal(text, &s.header) != nil {
		return s, errCut
	}
	major, _, _ := strings.Cut(Schema, ".")
	if m, _, _ := strings.Cut(s.header.Schema, "."); m != major {
		return s, fmt.Errorf("schema %q, this program reads %s.x", s.header.Schema, major)
	}
	return s, nil
}

// next is the next sample, or io.EOF or errCut.
func (s *segment) next() (Sample, error) {
	payload, err := readFrame(s.frames, maxFrame)
	if err != nil {
		return Sample{}, err
	}
	sample, err := s.state.sample(payload)
	if err != nil {
		return Sample{}, errCut
	}
	return sample, nil
}

func (s *segment) close() { _ = s.file.Close() }
