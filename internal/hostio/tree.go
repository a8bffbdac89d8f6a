package hostio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Tree is a Host that answers from a copy of a host's files: a folder that
// holds sys (and perhaps proc, etc and more), or a copy of /sys itself. It
// never leaves the folder, whatever the links in it say. What only a kernel can
// answer is not in this form of input.
type Tree struct {
	root *os.Root
	// top is the host's directory that the folder is a copy of: "/" or "/sys".
	top string
	// dir opens files beneath the folder in one call where the kernel has openat2;
	// os.Root opens every directory on the way.
	dir *os.File

	mu    sync.Mutex
	depth map[string]int // by directory, what holds found
}

// ErrNotTree is what OpenTree says of another folder.
var ErrNotTree = errors.New("no copied tree: want sys/class/infiniband or class/infiniband in it")

// maxTreeNames bounds the listing of one directory.
const maxTreeNames = 100_000

// OpenTree opens the copy at dir.
func OpenTree(dir string) (*Tree, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open tree: %w", err)
	}
	for top, holds := range map[string]string{"/": "sys/class/infiniband", "/sys": "class/infiniband"} {
		if st, err := root.Stat(holds); err == nil && st.IsDir() {
			t := &Tree{root: root, top: top, depth: map[string]int{}}
			t.dir, _ = root.Open(".")
			return t, nil
		}
	}
	_ = root.Close()
	return nil, fmt.Errorf("open tree %q: %w", dir, ErrNotTree)
}

// Close closes the folder.
func (t *Tree) Close() error {
	if t.dir != nil {
		_ = t.dir.Close()
	}
	return t.root.Close()
}

// Do implements Host. A folder on a file system that hangs costs the op that
// hangs and those after it: the goroutine stays behind.
func (t *Tree) Do(ctx context.Context, ops []Op) []Result {
	results := make([]Result, len(ops))
	var answered atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i, op := range ops {
			if ctx.Err() != nil {
				return
			}
			results[i] = t.one(op)
			answered.Add(1)
		}
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	n := int(answered.Load())
	if n == len(ops) {
		return results
	}
	// What stays behind may still write to its own.
	cut := make([]Result, len(ops))
	copy(cut, results[:n])
	for i := n; i < len(ops); i++ {
		cut[i] = Result{TimedOut: true}
	}
	return cut
}

// open opens a file or directory of the folder for reading, following links
// that stay in it, and closes it when use has returned. Without O_NONBLOCK a
// named pipe in the tree would wait for a writer. The descriptor is used as it
// is: os.File would poll it.
func (t *Tree) open(name string, use func(fd int) Result) Result {
	const flags = os.O_RDONLY | syscall.O_NONBLOCK
	if t.dir != nil {
		how := unix.OpenHow{Flags: uint64(flags | unix.O_CLOEXEC), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
		switch fd, err := unix.Openat2(int(t.dir.Fd()), name, &how); err {
		case nil:
			defer unix.Close(fd)
			return use(fd)
		case unix.ENOENT, unix.EACCES, unix.ENOTDIR, unix.ENXIO:
			return t.failed(name, err)
		}
	}
	f, err := t.root.OpenFile(name, flags, 0) // Its errors tell a link out of the folder.
	if err != nil {
		return t.failed(name, err)
	}
	defer f.Close()
	return use(int(f.Fd()))
}

func (t *Tree) one(op Op) Result {
	name, ok := t.inside(op.Name)
	if !ok {
		return Result{NotInForm: true}
	}
	switch op.Kind {
	case ReadFile:
		return t.read(name, op.Limit)
	case ReadLink:
		return t.readLink(name)
	case ReadDir:
		return t.list(name)
	case Stat:
		return t.stat(op.Name, name)
	}
	return Result{NotInForm: true}
}

// inside is the path within the folder of a path of the host.
func (t *Tree) inside(name string) (string, bool) {
	top := strings.TrimSuffix(t.top, "/")
	rel, ok := strings.CutPrefix(name, top+"/")
	if !ok || rel == "" || !fs.ValidPath(rel) {
		return "", false
	}
	return rel, true
}

// at opens a name for nothing but asking what it is. The error is ENOSYS where
// os.Root has to answer.
func (t *Tree) at(name string, flags int) (int, error) {
	if t.dir == nil {
		return 0, unix.ENOSYS
	}
	fd, err := unix.Openat2(int(t.dir.Fd()), name, &unix.OpenHow{Flags: uint64(unix.O_PATH | unix.O_CLOEXEC | flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil && err != unix.ENOENT && err != unix.ENOTDIR {
		err = unix.ENOSYS
	}
	return fd, err
}

func (t *Tree) readLink(name string) Result {
	fd, err := t.at(name, unix.O_NOFOLLOW)
	switch err {
	case unix.ENOENT, unix.ENOTDIR:
		return t.failed(name, err)
	case nil:
		defer unix.Close(fd)
		target := make([]byte, unix.PathMax)
		if n, err := unix.Readlinkat(fd, "", target); err == nil {
			return Result{Data: target[:n]}
		}
		return Result{Errno: syscall.EINVAL} // It is no link.
	}
	target, err := t.root.Readlink(name)
	if err != nil {
		return t.failed(name, err)
	}
	return Result{Data: []byte(target)}
}

// isDir reports whether the folder has a directory of that name.
func (t *Tree) isDir(name string) bool {
	fd, err := t.at(name, unix.O_DIRECTORY)
	switch err {
	case unix.ENOENT, unix.ENOTDIR:
		return false
	case nil:
		unix.Close(fd)
		return true
	}
	st, err := t.root.Stat(name)
	return err == nil && st.IsDir()
}

func (t *Tree) read(name string, limit int) Result {
	if limit <= 0 {
		limit = DefaultLimit
	}
	return t.open(name, func(fd int) Result {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return failed(err)
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
		case unix.S_IFDIR:
			return Result{Errno: syscall.EISDIR}
		default:
			return Result{NotInForm: true}
		}
		return readAll(fd, min(limit, MaxData), true) // A short read is the end of a file that stands still.
	})
}

func (t *Tree) list(name string) Result {
	return t.open(name, func(fd int) Result {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return failed(err)
		}
		if st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return Result{Errno: syscall.ENOTDIR}
		}
		return list(fd, maxTreeNames)
	})
}

// stat answers for files that mean the same in a copy. Nodes, and the inodes
// that name namespaces, do not survive copying.
func (t *Tree) stat(hostName, name string) Result {
	if strings.HasPrefix(hostName, "/dev/") || strings.HasPrefix(hostName, "/proc/") {
		return Result{NotInForm: true}
	}
	st, err := t.root.Stat(name)
	if err != nil {
		return t.failed(name, err)
	}
	var out FileStat
	if sys, ok := st.Sys().(*syscall.Stat_t); ok {
		out = FileStat{Mode: sys.Mode, UID: sys.Uid, GID: sys.Gid, Inode: sys.Ino}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return Result{Errno: syscall.EIO}
	}
	return Result{Data: b}
}

// copiedWhole is how many directories deep a copy is taken to be selective:
// who copies /sys/class/infiniband leaves the other classes out, and that says
// nothing about the host. Below that, what is not there was not there.
const copiedWhole = 3

// failed tells what is absent on the host from what was not copied.
func (t *Tree) failed(name string, err error) Result {
	var errno syscall.Errno
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.As(err, &errno), errors.Is(err, fs.ErrPermission):
		return Result{Errno: errnoOf(err)}
	default:
		// os.Root refuses a link that leads out of the folder: what it points
		// to is not in the copy.
		return Result{NotInForm: true}
	}
	if t.holds(name) < copiedWhole {
		return Result{NotInForm: true}
	}
	return Result{Errno: syscall.ENOENT}
}

// holds is how deep the nearest directory above name is that the copy has,
// counted from the host's root.
func (t *Tree) holds(name string) int {
	parent := path.Dir(name)
	t.mu.Lock()
	depth, known := t.depth[parent]
	t.mu.Unlock()
	if known {
		return depth
	}
	depth = strings.Count(strings.TrimSuffix(t.top, "/"), "/")
	for dir := parent; dir != "."; dir = path.Dir(dir) {
		if t.isDir(dir) {
			depth += strings.Count(dir, "/") + 1
			break
		}
	}
	t.mu.Lock()
	t.depth[parent] = depth
	t.mu.Unlock()
	return depth
}
