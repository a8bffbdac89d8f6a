package flight

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A sample is encoded as its time and the results that differ from the sample
// before. Keys are numbered as they first appear in a segment, which begins
// with a sample that has everything.
//
// sample: nanoseconds since 1970, entries
// entry:  key's number, or 0 and the key; flags; errno if flagged; data if not gone

const (
	flagGone = 1 << iota // the op was not asked this time
	flagErrno
	flagTimedOut
	flagNotTried
	flagTruncated
	flagNotInForm
	flagsEnd
)

// Limits of what is read, so that a hostile file cannot fill memory. A host of
// a hundred ports has some 50,000 reads of 20 MB.
const (
	maxKeys  = 1 << 18
	maxKey   = 8 << 10
	maxState = 128 << 20 // bytes of all results of one sample
)

// encoder has the state that the next sample is held against.
type encoder struct {
	numbers map[string]uint64
	last    map[string]hostio.Result
}

// sample encodes s and makes it the last one.
func (e *encoder) sample(s Sample) []byte {
	if e.numbers == nil {
		e.numbers, e.last = map[string]uint64{}, map[string]hostio.Result{}
	}
	b := binary.AppendVarint(nil, s.Began.UnixNano())
	for _, key := range slices.Sorted(maps.Keys(e.last)) {
		if _, ok := s.Results[key]; !ok {
			b = append(e.key(b, key), flagGone)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Results)) {
		res, old := s.Results[key], e.last[key]
		_, had := e.last[key]
		if had && same(res, old) {
			continue
		}
		flags := flagsOf(res)
		b = append(e.key(b, key), flags)
		if flags&flagErrno != 0 {
			b = binary.AppendUvarint(b, uint64(res.Errno))
		}
		b = appendData(b, key, old.Data, res.Data)
	}
	e.last = s.Results
	return b
}

func (e *encoder) key(b []byte, key string) []byte {
	if n, ok := e.numbers[key]; ok {
		return binary.AppendUvarint(b, n)
	}
	e.numbers[key] = uint64(len(e.numbers) + 1)
	return appendBytes(append(b, 0), []byte(key))
}

func same(a, b hostio.Result) bool {
	return a.Errno == b.Errno && flagsOf(a) == flagsOf(b) && bytes.Equal(a.Data, b.Data)
}

func flagsOf(r hostio.Result) (flags byte) {
	for _, f := range []struct {
		is   bool
		flag byte
	}{{r.Errno != 0, flagErrno}, {r.TimedOut, flagTimedOut}, {r.NotTried, flagNotTried},
		{r.Truncated, flagTruncated}, {r.NotInForm, flagNotInForm}} {
		if f.is {
			flags |= f.flag
		}
	}
	return flags
}

// decoder takes values off an encoding; after the first that is not there err
// is set and values are empty.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.err != nil || n <= 0 {
		d.err = errForm
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if d.err != nil || n <= 0 {
		d.err = errForm
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if d.err != nil || len(d.b) == 0 {
		d.err = errForm
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.uvarint()
	if d.err != nil || n > uint64(len(d.b)) {
		d.err = errForm
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func appendBytes(b, v []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

// state is what a reader of a segment knows.
type state struct {
	keys []string
	last map[string]hostio.Result
	size int // bytes of the results
}

// sample decodes the next sample. Its results are its own.
func (st *state) sample(b []byte) (Sample, error) {
	d := decoder{b: b}
	s := Sample{Began: time.Unix(0, d.varint()), Results: maps.Clone(st.last)}
	if s.Results == nil {
		s.Results = map[string]hostio.Result{}
	}
	for d.err == nil && len(d.b) > 0 {
		key := st.key(&d)
		flags := d.byte()
		old := s.Results[key]
		st.size -= len(old.Data)
		if flags == flagGone {
			delete(s.Results, key)
			continue
		}
		res := hostio.Result{TimedOut: flags&flagTimedOut != 0, NotTried: flags&flagNotTried != 0,
			Truncated: flags&flagTruncated != 0, NotInForm: flags&flagNotInForm != 0}
		if flags&flagErrno != 0 {
			errno := d.uvarint()
			if errno == 0 || errno >= 4096 {
				d.err = errForm
			}
			res.Errno = syscall.Errno(errno)
		}
		res.Data = d.data(old.Data)
		if st.size += len(res.Data); st.size > maxState || flags >= flagsEnd || flags&flagGone != 0 {
			d.err = errForm
		}
		s.Results[key] = res
	}
	st.last = s.Results
	return s, d.err
}

func (st *state) key(d *decoder) string {
	n := d.uvarint()
	if n == 0 {
		key := string(d.bytes())
		if len(st.keys) == maxKeys || len(key) > maxKey {
			d.err = errForm
		}
		st.keys = append(st.keys, key)
		return key
	}
	if d.err != nil || n > uint64(len(st.keys)) {
		d.err = errForm
		return ""
	}
	return st.keys[n-1]
}
