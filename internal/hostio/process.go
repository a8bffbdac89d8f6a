package hostio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of what is read of one process.
const (
	maxOpenFiles = 1 << 16
	maxCounted   = 64 << 20 // bytes; a mapping takes about 100 of them
)

// openNodes answers OpenNodes.
func openNodes(dir string) Result {
	res := readDir(dir)
	if res.Errno != 0 || res.NotInForm {
		return res
	}
	fds := res.Lines()
	open := NodesOpen{Files: len(fds), Nodes: []string{}}
	for _, fd := range fds[:min(len(fds), maxOpenFiles)] {
		target, err := os.Readlink(dir + "/" + fd)
		if err == nil && strings.HasPrefix(target, "/dev/infiniband/") && !slices.Contains(open.Nodes, target) {
			open.Nodes = append(open.Nodes, target)
		}
	}
	slices.Sort(open.Nodes)
	answer := asJSON(open)
	answer.Truncated = res.Truncated || len(fds) > maxOpenFiles
	return answer
}

// countLines answers CountLines.
func countLines(name string) Result {
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return failed(err)
	}
	defer f.Close()
	lines, total := 0, 0
	buf := make([]byte, 64<<10)
	for total < maxCounted {
		n, err := f.Read(buf)
		lines += bytes.Count(buf[:n], []byte("\n"))
		total += n
		switch {
		case errors.Is(err, io.EOF):
			return Result{Data: strconv.AppendInt(nil, int64(lines), 10)}
		case err != nil:
			return failed(err)
		}
	}
	return Result{Data: strconv.AppendInt(nil, int64(lines), 10), Truncated: true}
}
