package lab

import (
	"bytes"
	"fmt"
)

// archive writes a cpio archive of the "newc" format, which the kernel takes
// as its initramfs (Documentation/driver-api/early-userspace/buffer-format).
type archive struct {
	out   *bytes.Buffer
	inode int
}

func newArchive(out *bytes.Buffer) *archive { return &archive{out: out} }

// File types of st_mode.
const (
	modeDir  = 0o040000
	modeChar = 0o020000
	modeFile = 0o100000
)

func (a *archive) dir(name string) { a.entry(name, modeDir|0o755, 0, 0, nil) }

func (a *archive) file(name string, perm int, data []byte) {
	a.entry(name, modeFile|perm, 0, 0, data)
}

// console adds /dev/console, which the kernel opens for its first process.
func (a *archive) console() { a.entry("dev/console", modeChar|0o600, 5, 1, nil) }

func (a *archive) close() { a.entry("TRAILER!!!", 0, 0, 0, nil) }

func (a *archive) entry(name string, mode, major, minor int, data []byte) {
	a.inode++
	fmt.Fprintf(a.out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x",
		a.inode, mode, 0, 0, 1, 0, len(data), 0, 0, major, minor, len(name)+1, 0)
	a.out.WriteString(name)
	a.out.WriteByte(0)
	a.pad()
	a.out.Write(data)
	a.pad()
}

// pad fills up to a multiple of 4 bytes.
func (a *archive) pad() {
	for a.out.Len()%4 != 0 {
		a.out.WriteByte(0)
	}
}
