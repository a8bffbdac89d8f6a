package flight

import (
	"errors"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fullDisk holds as many bytes as it has room for.
type fullDisk struct {
	*os.File
	room *int
}

func (d fullDisk) Write(b []byte) (int, error) {
	if len(b) > *d.room {
		n, _ := d.File.Write(b[:*d.room])
		*d.room = 0
		return n, unix.ENOSPC
	}
	*d.room -= len(b)
	return d.File.Write(b)
}

// A disk that others fill costs one of the oldest segments, not all of them,
// and the samples that did not fit leave no files behind.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	all := changing(60)
	w := create(t, dir, time.Hour, 64<<20) // A segment is 2.5 minutes.
	room := 1 << 30
	w.open = func(path string) (disk, error) {
		f, err := openFile(path)
		if err != nil {
			return nil, err
		}
		return fullDisk{f.(*os.File), &room}, nil
	}
	add(t, w, all[:30]...)
	before, err := segments(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all[30:50] {
		room = 20
		if err := w.Add(s); !errors.Is(err, unix.ENOSPC) {
			t.Fatalf("error %v, want no space left", err)
		}
	}
	left, err := segments(dir)
	if err != nil || len(left) != len(before)-1 {
		t.Errorf("%d segments (%v) of %d are left, want all but one", len(left), err, len(before))
	}
	differ(t, all[3:30], read(t, dir, time.Time{}))

	// There is room again.
	room = 1 << 30
	add(t, w, all[50:]...)
	differ(t, append(append([]Sample{}, all[3:30]...), all[50:]...), read(t, dir, time.Time{}))
}

// Where the oldest segment makes room, it is given up for the sample.
func TestRoomOfTheOldest(t *testing.T) {
	dir := t.TempDir()
	all := changing(12)
	w := create(t, dir, time.Hour, 64<<20)
	room, tries := 1<<30, 0
	w.open = func(path string) (disk, error) {
		if tries++; tries > 1 {
			room = 1 << 30 // The segment that was dropped.
		}
		f, err := openFile(path)
		if err != nil {
			return nil, err
		}
		return fullDisk{f.(*os.File), &room}, nil
	}
	tries = -10
	add(t, w, all[:9]...)
	tries, room = 0, 0
	add(t, w, all[9:]...)
	differ(t, all[3:], read(t, dir, time.Time{}))
}
