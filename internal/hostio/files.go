package hostio

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// maxNames bounds a directory listing.
const maxNames = 1 << 17

// readFile reads the first limit bytes with one open. Opening with O_NONBLOCK
// cannot wait on a FIFO, and what is neither a regular file nor a directory is
// not opened at all.
func readFile(name string, limit int) Result {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxData)
	sysfs := within(name, "/sys/")
	if !sysfs && !within(name, "/proc/sys/") {
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
	// An attribute of sysfs is shorter than a page and gives its whole value to
	// one read (Documentation/filesystems/sysfs.rst).
	return readAll(fd, limit, sysfs)
}

// within reports whether name is of a file system of the kernel's own, which
// holds nothing but files and directories. They are not asked what they are,
// which would look up the long path once more.
func within(name, dir string) bool {
	return strings.HasPrefix(name, dir) && !strings.Contains(name, "/../")
}

const sysfsSize = 4096

// scratch are buffers for what is read. Most files are far shorter, and are kept
// as long as they are.
var scratch = sync.Pool{New: func() any { b := make([]byte, DefaultLimit+1); return &b }}

// readAll reads to the end of the file or past limit; whole says that a short
// read is the end. It uses read(2) itself
// because sysfs answers a whole value per read and os.File would poll.
func readAll(fd, limit int, whole bool) Result {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	var data []byte // what the buffer could not hold
	at := 0         // what is in the buffer
	kept := func() []byte { return slices.Concat(data, (*buf)[:at]) }
	for {
		if at == len(*buf) {
			data, at = append(data, *buf...), 0
		}
		var n int
		err := uninterrupted(func() (err error) {
			n, err = unix.Read(fd, (*buf)[at:min(len(*buf), limit+1-len(data))])
			return err
		})
		if err != nil {
			return Result{Data: kept(), Errno: errnoOf(err)}
		}
		if n == 0 {
			return Result{Data: kept()}
		}
		if at += n; len(data)+at > limit {
			return Result{Data: kept()[:limit], Truncated: true}
		}
		if whole && n < sysfsSize {
			return Result{Data: kept()}
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
	var fd int
	err := uninterrupted(func() (err error) {
		fd, err = unix.Open(name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	return list(fd, maxNames)
}

// list reads the names of an open directory, at most limit of them.
func list(fd, limit int) Result {
	buf := scratch.Get().(*[]byte)
	defer scratch.Put(buf)
	var names []string
	size := 0
	for len(names) <= limit {
		var n int
		err := uninterrupted(func() (err error) {
			n, err = unix.ReadDirent(fd, *buf)
			return err
		})
		if err != nil {
			return failed(err)
		}
		if n <= 0 {
			break
		}
		for b := (*buf)[:n]; len(b) > 0; {
			var used int
			used, _, names = unix.ParseDirent(b, -1, names)
			b = b[used:]
		}
	}
	res := Result{Truncated: len(names) > limit}
	names = slices.DeleteFunc(names[:min(len(names), limit)], func(n string) bool {
		size += len(n) + 1
		return strings.Contains(n, "\n")
	})
	if !slices.IsSorted(names) {
		slices.Sort(names)
	}
	if len(names) > 0 {
		res.Data = make([]byte, 0, size)
		for _, n := range names {
			res.Data = append(append(res.Data, n...), '\n')
		}
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
