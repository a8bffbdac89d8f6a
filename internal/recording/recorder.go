package recording

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

// A Recorder is a Host that passes reads on and keeps the answers.
type Recorder struct {
	host    hostio.Host
	samples []sample
	now     func() time.Time
}

type sample struct {
	began time.Time
	reads map[string]read // by key
}

type read struct {
	op  hostio.Op
	res hostio.Result
}

var _ hostio.Sampler = (*Recorder)(nil)

// NewRecorder records what h answers.
func NewRecorder(h hostio.Host) *Recorder {
	return &Recorder{host: h, now: time.Now}
}

// Do implements hostio.Host. The first answer to a key stays, unless it was
// none: a read that timed out may be tried again.
func (r *Recorder) Do(ctx context.Context, ops []hostio.Op) []hostio.Result {
	if len(r.samples) == 0 {
		r.NextSample()
	}
	s := &r.samples[len(r.samples)-1]
	results := r.host.Do(ctx, ops)
	for i, res := range results {
		key := ops[i].Key()
		if old, ok := s.reads[key]; !ok || old.res.TimedOut && !res.NotTried {
			s.reads[key] = read{ops[i], res}
		}
	}
	return results
}

// NextSample implements hostio.Sampler.
func (r *Recorder) NextSample() bool {
	r.samples = append(r.samples, sample{r.now(), map[string]read{}})
	return true
}

// About is what a recording says of itself besides the answers.
type About struct {
	Version string // of the program
	Host    string
	Sources []facts.Source
	Elapsed map[facts.Source]time.Duration // as Snapshot.Elapsed
}

// WriteTo writes the archive. Recordings are small, so it is put together in
// memory: the manifest stands first and knows the hash of all that follows.
func (r *Recorder) WriteTo(w io.Writer, about About) error {
	m := Manifest{Schema: Schema, Tool: "rdmadoctor", Version: about.Version, Host: about.Host, Elapsed: about.Elapsed,
		Sources: append([]facts.Source{}, about.Sources...), Samples: []Sample{}, Members: []Member{}}
	var indexes, files []file
	for i, s := range r.samples {
		name := fmt.Sprintf("t%d", i)
		m.Samples = append(m.Samples, Sample{name, s.began})
		idx, fs, err := s.pack(name)
		if err != nil {
			return err
		}
		indexes, files = append(indexes, idx), append(files, fs...)
	}
	files = append(indexes, files...)
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		m.Members = append(m.Members, Member{f.name, int64(len(f.data)), hex.EncodeToString(sum[:])})
	}
	manifest, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	files = append([]file{{manifestName, manifest, r.began()}}, files...)
	if err := writeArchive(w, files); err != nil {
		return fmt.Errorf("write recording: %w", err)
	}
	return nil
}

func (r *Recorder) began() time.Time {
	if len(r.samples) == 0 {
		return r.now()
	}
	return r.samples[0].began
}

type file struct {
	name string
	data []byte
	time time.Time
}

// pack makes a sample's index and files, sorted by key, so that equal answers
// give equal archives.
func (s *sample) pack(folder string) (file, []file, error) {
	idx := index{Ops: map[string]entry{}}
	var files []file
	used := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(s.reads)) {
		rd := s.reads[key]
		e, isFile := entryOf(rd)
		if isFile {
			name := folder + "/" + memberName(rd.op.Kind, rd.op.Name)
			e.Member = name
			for n := 2; used[e.Member]; n++ {
				e.Member = fmt.Sprintf("%s~%d", name, n)
			}
			used[e.Member] = true
			files = append(files, file{e.Member, rd.res.Data, s.began})
		}
		idx.Ops[keyText(rd.op)] = e
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(idx); err != nil {
		return file{}, nil, fmt.Errorf("write recording: %w", err)
	}
	return file{folder + "/index.json", b.Bytes(), s.began}, files, nil
}

// entryOf is the index entry of a read, and whether its data needs a file.
func entryOf(rd read) (entry, bool) {
	e := entry{Errno: errnoName(rd.res.Errno), TimedOut: rd.res.TimedOut, NotTried: rd.res.NotTried, Truncated: rd.res.Truncated,
		NotInForm: rd.res.NotInForm}
	if rd.res.Err() != nil && len(rd.res.Data) == 0 {
		return e, false
	}
	switch rd.op.Kind {
	case hostio.ReadLink:
		target := string(rd.res.Data)
		e.Link = &target
		return e, !jsonKeeps(target)
	case hostio.ReadDir:
		names := rd.res.Lines()
		if names == nil {
			names = []string{}
		}
		e.Names = &names
		return e, !jsonKeeps(string(rd.res.Data))
	case hostio.Stat:
		if json.Valid(rd.res.Data) {
			e.JSON = rd.res.Data
			return e, false
		}
	}
	return e, true
}

// jsonKeeps reports whether JSON holds the text as it is: it has no words for
// bytes that are not UTF-8. Where it does not, the file has the last word.
func jsonKeeps(s string) bool { return utf8.ValidString(s) }

func writeArchive(w io.Writer, files []file) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data)), ModTime: f.time.Truncate(time.Second),
			Typeflag: tar.TypeReg}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

// Summary says in a few words what was recorded.
func (r *Recorder) Summary() string {
	reads, size := 0, 0
	for _, s := range r.samples {
		reads += len(s.reads)
		for _, rd := range s.reads {
			size += len(rd.res.Data)
		}
	}
	return fmt.Sprintf("%d samples, %d reads of %d bytes", len(r.samples), reads, size)
}
