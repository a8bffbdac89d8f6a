package flight

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
)

var header = Header{Schema: Schema, Tool: "rdmadoctor", Version: "test", Host: "gpu-017", Every: time.Minute}

func create(t testing.TB, dir string, keep time.Duration, size int64) *Writer {
	t.Helper()
	w, err := Create(dir, Options{Header: header, Keep: keep, MaxSize: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func add(t testing.TB, w *Writer, samples ...Sample) {
	t.Helper()
	for _, s := range samples {
		if err := w.Add(s); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t testing.TB, dir string, since time.Time) []Sample {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []Sample
	for s := range r.Samples(since) {
		all = append(all, s)
	}
	return all
}

func equal(a, b []Sample) bool {
	return slices.EqualFunc(a, b, func(a, b Sample) bool {
		return a.Began.Equal(b.Began) && maps.EqualFunc(a.Results, b.Results, same)
	})
}

func differ(t testing.TB, want, got []Sample) {
	t.Helper()
	if equal(want, got) {
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "for", "it")
	all := changing(30)
	w := create(t, dir, time.Hour, 64<<20) // A segment is 2.5 minutes.
	add(t, w, all...)
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Header() != header || !r.Began().Equal(at(0)) || !r.Ended().Equal(at(29)) {
		t.Errorf("header %+v from %v to %v", r.Header(), r.Began(), r.Ended())
	}
	if n := len(r.names); n != 10 {
		t.Errorf("%d segments, want 10", n)
	}
	differ(t, all, read(t, dir, time.Time{}))
	// The sample before the time begins its first interval.
	differ(t, all[9:], read(t, dir, at(10)))
	differ(t, all[10:], read(t, dir, at(10).Add(time.Second)))
	differ(t, nil, read(t, dir, at(40)))
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder is %v (%v), want it private", st.Mode(), err)
	}
}

// A writer that is killed at any byte leaves all whole samples.
func TestCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, time.Hour, 64<<20)
	all := changing(3)
	var ends []int64
	for _, s := range all {
		add(t, w, s)
		ends = append(ends, w.count.n)
	}
	whole, err := os.ReadFile(filepath.Join(dir, segmentName(at(0))))
	if err != nil || int64(len(whole)) != ends[2] {
		t.Fatalf("%d bytes in the file (%v), want %d", len(whole), err, ends[2])
	}
	cut := filepath.Join(t.TempDir(), "cut")
	if err := os.Mkdir(cut, 0o700); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for n := range len(whole) + 1 {
		if err := os.WriteFile(filepath.Join(cut, segmentName(at(0))), whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, end := range ends {
			if int64(n) >= end {
				want++
			}
		}
		r, err := Open(cut)
		if err != nil {
			if want > 0 || !strings.Contains(err.Error(), "no segment in it is whole") {
				t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
			}
			continue
		}
		var got []Sample
		for s := range r.Samples(time.Time{}) {
			got = append(got, s)
		}
		// Of the flushed block that follows a sample some bytes may be missing.
		if len(got) < want || len(got) > want+1 {
			t.Fatalf("cut at %d of %d: %d samples, want %d", n, len(whole), len(got), want)
		}
		if !equal(all[:len(got)], got) {
			differ(t, all[:len(got)], got)
		}
		tried++
	}
	if tried < 500 {
		t.Errorf("%d cuts could be read, want some", tried)
	}
}

// Damage in the middle costs what follows it in its segment, and is told.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, 4*time.Hour, 64<<20) // A segment is 10 minutes.
	all := changing(20)
	add(t, w, all...)
	file := filepath.Join(dir, segmentName(at(0)))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 0x40
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []Sample
	for s := range r.Samples(time.Time{}) {
		got = append(got, s)
	}
	if n := len(got); n <= 10 || n >= 20 {
		t.Errorf("%d of 20 samples, want the second ten and some", n)
	}
	differ(t, all[10:], got[len(got)-10:])
	if len(r.Damage()) != 1 || r.Damage()[0] != segmentName(at(0)) {
		t.Errorf("damage %v, want the first segment", r.Damage())
	}
}

func TestKeepAndSize(t *testing.T) {
	dir := t.TempDir()
	add(t, create(t, dir, time.Hour, 64<<20), changing(200)...)
	got := read(t, dir, time.Time{})
	// What is kept is an hour and at most a segment more.
	if oldest := at(199).Sub(got[0].Began); oldest < time.Hour || oldest > time.Hour+5*time.Minute {
		t.Errorf("it goes back %v, want an hour", oldest)
	}
	dir = t.TempDir()
	const most = 64 << 10
	w := create(t, dir, 1000*time.Hour, most)
	big := bytes.Repeat([]byte("incompressible is what no text is"), 10)
	for i, s := range changing(300) {
		for j := range big {
			big[j] ^= byte(i * (j + 7))
		}
		s.Results["read:/big"] = hostio.Result{Data: bytes.Clone(big)}
		add(t, w, s)
		if total := size(t, dir); total > most {
			t.Fatalf("%d bytes after %d samples, want at most %d", total, i+1, most)
		}
	}
	if n := len(read(t, dir, time.Time{})); n < 20 || n >= 300 {
		t.Errorf("%d samples are left, want as many as there is room for", n)
	}
}

func size(t *testing.T, dir string) (total int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		st, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += st.Size()
	}
	return total
}

// One writer at a time; the next goes on where it ended.
func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	w := create(t, dir, time.Hour, 64<<20)
	all := changing(4)
	add(t, w, all[:2]...)
	if _, err := Create(dir, Options{Header: header, Keep: time.Hour, MaxSize: 1 << 20}); err == nil || !strings.Contains(err.Error(), "writes it already") {
		t.Errorf("a second writer: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, create(t, dir, time.Hour, 64<<20), all[2:]...)
	differ(t, all, read(t, dir, time.Time{}))
}

func TestOpenHostile(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no gzip": "hello", "gzip of nothing": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(at(0))), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	if Is(t.TempDir()) || Is("none") {
		t.Error("a folder without segments is no recording")
	}
	if _, err := Create("/proc/none", Options{Header: header}); err == nil {
		t.Error("made a folder in /proc")
	}
}

// Whatever stands in a segment, reading it ends without harm.
func FuzzSegment(f *testing.F) {
	dir := f.TempDir()
	w := create(f, dir, time.Hour, 64<<20)
	add(f, w, changing(2)...)
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, segmentName(at(0))))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(at(0))), text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Open(dir)
		if err != nil {
			return
		}
		for range r.Samples(time.Time{}) {
		}
	})
}
