// Package sandbox takes rights from this process that it will not need: the
// one that speaks to the network can run no program and write no file.
//
// [Restrict] is for a process that still starts others, as the spawner does:
// it and what it starts can write nothing but device nodes of RDMA. [Seal] is
// for the one that starts nothing any more.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Report says what holds from now on, and what this kernel lacks.
type Report struct {
	NoNewPrivs bool
	Landlock   int  // version of its interface; 0: not in force
	Seccomp    bool // no execve
	Lacks      []string
}

// String is one line for a person.
func (r Report) String() string {
	var have []string
	if r.NoNewPrivs {
		have = append(have, "no new privileges")
	}
	if r.Landlock > 0 {
		have = append(have, fmt.Sprintf("Landlock %d (writes to /dev/infiniband alone)", r.Landlock))
	}
	if r.Seccomp {
		have = append(have, "seccomp (runs no program)")
	}
	text := "no sandbox"
	if len(have) > 0 {
		text = "sandbox: " + strings.Join(have, ", ")
	}
	if len(r.Lacks) > 0 {
		text += "; without " + strings.Join(r.Lacks, ", ")
	}
	return text
}

// lacks notes a part that is not to be had.
func (r *Report) lacks(part string, err error) {
	r.Lacks = append(r.Lacks, fmt.Sprintf("%s (%v)", part, err))
}

// writes are the rights of Landlock that change something, by the version that
// brought them (landlock(7)).
var writes = []struct {
	version int
	rights  uint64
}{
	{1, unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM},
	{2, unix.LANDLOCK_ACCESS_FS_REFER},
	{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
	{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
}

// writable are the places that may be written to, where they are there.
var writable = []string{"/dev/infiniband", "/dev/null"}

// Restrict lets the calling thread, what it starts and the threads that those
// make write to nothing but the device nodes of RDMA. The caller locks its
// thread: threads that are there already are not restricted.
func Restrict() (r Report) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		r.lacks("no_new_privs", err)
		return r // Landlock and seccomp want it.
	}
	r.NoNewPrivs = true
	version, err := landlock()
	if err != nil {
		r.lacks("Landlock", err)
		return r
	}
	r.Landlock = version
	return r
}

// landlock puts the restriction into force.
func landlock() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, notHere(errno)
	}
	attr := unix.LandlockRulesetAttr{}
	for _, w := range writes {
		if int(version) >= w.version {
			attr.Handled_access_fs |= w.rights
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return 0, errno
	}
	ruleset := os.NewFile(fd, "landlock")
	defer ruleset.Close()
	for _, place := range writable {
		if err := allow(fd, place, attr.Handled_access_fs); err != nil && !errors.Is(err, os.ErrNotExist) {
			return 0, err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return 0, errno
	}
	return int(version), nil
}

// allow lets files at place be written to.
func allow(ruleset uintptr, place string, handled uint64) error {
	dir, err := os.OpenFile(place, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	rule := unix.LandlockPathBeneathAttr{
		Allowed_access: handled & (unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV),
		Parent_fd:      int32(dir.Fd()),
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, ruleset, unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// notHere says what the errno of a kernel without Landlock means.
func notHere(errno unix.Errno) error {
	switch errno {
	case unix.ENOSYS:
		return errors.New("this kernel has none")
	case unix.EOPNOTSUPP:
		return errors.New("switched off at boot")
	}
	return errno
}
