package hostio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// A Tree is a Host that answers from a copy of a host's files: a folder that
// holds sys (and perhaps proc, etc and more), or a copy of /sys itself. It
// never leaves the folder, whatever the links in it say. What only a kernel can
// answer is not in this form of input.
type Tree struct {
	root *os.Root
	// top is the host's directory that the folder is a copy of: "/" or "/sys".
	top string
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
			return &Tree{root: root, top: top}, nil
		}
	}
	_ = root.Close()
	return nil, fmt.Errorf("open tree %q: %w", dir, ErrNotTree)
}

// Close closes the folder.
func (t *Tree) Close() error { return t.root.Close() }

// Do implements Host. A folder on a file system that hangs costs the op that
// hangs: its goroutine stays behind.
func (t *Tree) Do(ctx context.Context, ops []Op) []Result {
	results := make([]Result, len(ops))
	for i, op := range ops {
		if ctx.Err() != nil {
			results[i] = Result{TimedOut: true}
			continue
		}
		done := make(chan Result, 1)
		go func() { done <- t.one(op) }()
		select {
		case results[i] = <-done:
		case <-ctx.Done():
			results[i] = Result{TimedOut: true}
		}
	}
	return results
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
		target, err := t.root.Readlink(name)
		if err != nil {
			return t.failed(name, err)
		}
		return Result{Data: []byte(target)}
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

func (t *Tree) read(name string, limit int) Result {
	if limit <= 0 {
		limit = DefaultLimit
	}
	// Without O_NONBLOCK a named pipe in the tree would wait for a writer.
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return t.failed(name, err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return t.failed(name, err)
	case st.IsDir():
		return Result{Errno: syscall.EISDIR}
	case !st.Mode().IsRegular():
		return Result{NotInForm: true}
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return Result{Data: data[:min(len(data), limit)], Errno: errnoOf(err)}
	}
	if len(data) > limit {
		return Result{Data: data[:limit], Truncated: true}
	}
	return Result{Data: data}
}

func (t *Tree) list(name string) Result {
	st, err := t.root.Stat(name)
	if err != nil {
		return t.failed(name, err)
	}
	if !st.IsDir() {
		return Result{Errno: syscall.ENOTDIR}
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return t.failed(name, err)
	}
	defer f.Close()
	names, err := f.Readdirnames(maxTreeNames + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return t.failed(name, err)
	}
	res := Result{Truncated: len(names) > maxTreeNames}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "\n") })
	slices.Sort(names)
	if len(names) > 0 {
		res.Data = []byte(strings.Join(names[:min(len(names), maxTreeNames)], "\n") + "\n")
	}
	return res
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
	top := strings.Count(strings.TrimSuffix(t.top, "/"), "/")
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if st, err := t.root.Stat(dir); err == nil && st.IsDir() {
			return top + strings.Count(dir, "/") + 1
		}
	}
	return top
}
