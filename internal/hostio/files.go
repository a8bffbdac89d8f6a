package hostio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxNames bounds a directory listing.
const maxNames = 1 << 17

// readFile reads the first limit bytes with one open. Opening with O_NONBLOCK
// cannot wait on a FIFO, and what is not a regular file is not opened at all.
func readFile(name string, limit int) Result {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxData)
	var st unix.Stat_t
	if err := uninterrupted(func() error { return unix.Stat(name, &st) }); err != nil {
		return failed(err)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		return failed(unix.EISDIR)
	default:
		return Result{NotInForm: true}
	}
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	// An attribute of sysfs says that it is as long as a page and gives its whole
	// value to one read (Documentation/filesystems/sysfs.rst).
	whole := st.Size == sysfsSize && strings.HasPrefix(name, "/sys/")
	return readAll(fd, limit, whole)
}

const sysfsSize = 4096

// readAll reads to the end of the file or past limit; whole says that a short
// read is the end. It uses read(2) itself
// because sysfs answers a whole value per read and os.File would poll.
func readAll(fd, limit int, whole bool) Result {
	data := make([]byte, 0, sysfsSize+1)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, cap(data))
		}
		var n int
		err := uninterrupted(func() (err error) {
			n, err = unix.Read(fd, data[len(data):min(cap(data), limit+1)])
			return err
		})
		if err != nil {
			return Result{Data: data, Errno: errnoOf(err)}
		}
		if n == 0 {
			return Result{Data: data}
		}
		if data = data[:len(data)+n]; len(data) > limit {
			return Result{Data: data[:limit], Truncated: true}
		}
		if whole && n < sysfsSize {
			return Result{Data: data}
		}
	}
}

func readLink(name string) Result {
	target, err := os.Readlink(name)
	if err != nil {
		return failed(err)
	}
	return Result{Data: []byte(target)}
}

// readDir lists a directory. A name that holds a newline cannot be told in one
// line and is left out; the kernel makes no such names.
func readDir(name string) Result {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	names, err := f.Readdirnames(maxNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return failed(err)
	}
	res := Result{Truncated: len(names) > maxNames}
	names = slices.DeleteFunc(names[:min(len(names), maxNames)], func(n string) bool { return strings.Contains(n, "\n") })
	slices.Sort(names)
	if len(names) > 0 {
		res.Data = []byte(strings.Join(names, "\n") + "\n")
	}
	return res
}

func statFile(name string) Result {
	var st unix.Stat_t
	if err := uninterrupted(func() error { return unix.Stat(name, &st) }); err != nil {
		return failed(err)
	}
	return asJSON(FileStat{
		Mode: st.Mode, UID: st.Uid, GID: st.Gid, Inode: st.Ino,
		Major: unix.Major(uint64(st.Rdev)), Minor: unix.Minor(uint64(st.Rdev)),
	})
}

// tryOpen opens a verbs or connection manager node as a verbs program does,
// and closes it. A node whose number no driver has registered is answered with
// the kernel's own ENXIO without opening it: opening such a node makes the
// kernel look for a module by its number.
func tryOpen(name string) Result {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return failed(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return Result{NotInForm: true}
	}
	number := fmt.Sprintf("%d:%d", unix.Major(uint64(st.Rdev)), unix.Minor(uint64(st.Rdev)))
	if exists("/sys/dev/char") && !exists("/sys/dev/char/"+number) {
		return failed(unix.ENXIO)
	}
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(name, unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_NOFOLLOW, 0)
		return err
	})
	if err != nil {
		return failed(err)
	}
	unix.Close(fd)
	return Result{}
}

func exists(name string) bool {
	var st unix.Stat_t
	return unix.Stat(name, &st) == nil
}

func asJSON(v any) Result {
	b, err := json.Marshal(v)
	if err != nil {
		return Result{Errno: unix.EIO}
	}
	return Result{Data: b}
}
