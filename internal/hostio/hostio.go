// Package hostio is the only door through which facts about a host come in.
// Every read is an Op that a Host answers with a Result, so that the live
// host, a disposable child that may hang, a replayed recording and a copied
// tree are the same to a collector. It reads; it has no operation that
// changes anything.
package hostio

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
)

// Kind is what an Op does.
type Kind string

// The kinds of Op. Name is an absolute path for the file kinds.
const (
	ReadFile Kind = "read" // Data: the file's first Limit bytes
	ReadLink Kind = "link" // Data: the target as stored
	ReadDir  Kind = "dir"  // Data: sorted names, one a line
	Stat     Kind = "stat" // Data: JSON of FileStat, links followed
	// OpenNodes looks through a /proc/PID/fd directory. Data: JSON of NodesOpen.
	// Files other than RDMA nodes are counted only: what else a process has open
	// is nobody's business, and a recording must not hold it.
	OpenNodes Kind = "open-nodes"
	// CountLines counts the lines of a file whose text is not wanted and may be
	// long (/proc/PID/maps). Data: a decimal number.
	CountLines Kind = "lines"
	// Environ picks the variables that steer RDMA libraries out of a
	// /proc/PID/environ. Data: JSON of map[string]string. The rest of an
	// environment may hold secrets, and a recording must not hold it.
	Environ Kind = "environ"
	// SymbolVersions looks at which versions of libibverbs' symbols a library
	// defines and needs. Name: libibverbs.so.1 or a provider where libraries are
	// installed. Data: JSON of VerbsVersions. A recording must not hold the
	// library itself.
	SymbolVersions Kind = "symbol-versions"
	// TryOpen opens a character device read-write and closes it. Only
	// /dev/infiniband/uverbsN and rdma_cm are let through: opening issm would
	// change the port.
	TryOpen Kind = "open"
	// Netlink sends Request on the socket family that Name begins with
	// ("route/...", "rdma/...", "ethtool/...", "devlink/...") and returns all
	// reply messages, headers included, one after another. Name is otherwise
	// free and must be unique for a request: "route/dcb-ieee-get.eth2".
	Netlink Kind = "netlink"
	// EthtoolStats and EthtoolDriver are ioctls on the netdev Name. Data: JSON of
	// map[string]uint64, and of DriverInfo.
	EthtoolStats  Kind = "ethtool-stats"
	EthtoolDriver Kind = "ethtool-driver"
	EthtoolPause  Kind = "ethtool-pause" // Data: JSON of PauseParam
	// System is a fact of a system call. Name: "uname" (JSON of Uname), "ids" (JSON of
	// IDs), "monotonic" (nanoseconds since boot, decimal).
	System Kind = "system"
	// KernelLog drains /dev/kmsg without blocking. Data: the records as read, each
	// ended by a NUL.
	KernelLog Kind = "kmsg"
)

// An Op is one read.
type Op struct {
	Kind    Kind
	Name    string
	Request []byte // Netlink: the complete request message, sequence number 0
	Limit   int    // ReadFile: bytes at most; 0 is DefaultLimit
}

// DefaultLimit bounds a file read, so that a hostile tree cannot fill memory.
const DefaultLimit = 64 << 10

// Key names the op in a recording. Two ops with one key are the same read.
func (o Op) Key() string { return string(o.Kind) + ":" + o.Name }

// A Result is what became of one Op.
type Result struct {
	Data      []byte        `json:"data,omitempty"`
	Errno     syscall.Errno `json:"errno,omitempty"`
	TimedOut  bool          `json:"timed_out,omitempty"`   // no answer within the deadline
	NotTried  bool          `json:"not_tried,omitempty"`   // with TimedOut: not even asked, since a read near it hung or the run was over
	Truncated bool          `json:"truncated,omitempty"`   // the file was longer than Limit
	NotInForm bool          `json:"not_in_form,omitempty"` // this kind of input cannot hold the answer
}

// A Host answers ops. Do returns one Result for each op, in order, and never
// blocks past ctx. It may be called from one goroutine at a time.
type Host interface {
	Do(ctx context.Context, ops []Op) []Result
}

// FileStat is the answer to Stat.
type FileStat struct {
	Mode  uint32 `json:"mode"` // st_mode
	UID   uint32 `json:"uid"`
	GID   uint32 `json:"gid"`
	Major uint32 `json:"major"` // of st_rdev
	Minor uint32 `json:"minor"`
	Inode uint64 `json:"inode"`
}

// NodesOpen is the answer to OpenNodes.
type NodesOpen struct {
	Files int      `json:"files"` // all open files
	Nodes []string `json:"nodes"` // paths under /dev/infiniband, sorted, each once
}

// DriverInfo is struct ethtool_drvinfo.
type DriverInfo struct {
	Driver   string `json:"driver"`
	Version  string `json:"version"`
	Firmware string `json:"fw_version"`
	BusInfo  string `json:"bus_info"`
}

// PauseParam is struct ethtool_pauseparam.
type PauseParam struct {
	Autoneg bool `json:"autoneg"`
	RX      bool `json:"rx"`
	TX      bool `json:"tx"`
}

// Uname is struct utsname, the parts in use.
type Uname struct {
	Nodename string `json:"nodename"`
	Release  string `json:"release"`
	Version  string `json:"version"`
	Machine  string `json:"machine"`
}

// IDs are the examining process's own.
type IDs struct {
	PID    int    `json:"pid"`
	UID    int    `json:"uid"`
	GID    int    `json:"gid"`
	Groups []int  `json:"groups"`
	User   string `json:"user"`
}

// Errors that are not errnos.
var (
	ErrTimedOut  = errors.New("no answer within the deadline")
	ErrNotTried  = notTried{}
	ErrTruncated = errors.New("longer than expected")
	ErrNotInForm = errors.New("not in this kind of input")
)

// notTried is ErrTimedOut, too.
type notTried struct{}

func (notTried) Error() string        { return "not asked: a read near it got no answer, or the run was over" }
func (notTried) Is(target error) bool { return target == ErrTimedOut }

// Err is nil, an errno or one of this package's errors.
func (r Result) Err() error {
	switch {
	case r.TimedOut && r.NotTried:
		return ErrNotTried
	case r.TimedOut:
		return ErrTimedOut
	case r.NotInForm:
		return ErrNotInForm
	case r.Errno != 0:
		return r.Errno
	case r.Truncated:
		return ErrTruncated
	}
	return nil
}

// Text is the data without trailing white space, as sysfs values are read.
func (r Result) Text() string { return strings.TrimRight(string(r.Data), "\n\r\t \x00") }

// Lines splits ReadDir's answer.
func (r Result) Lines() []string {
	t := strings.TrimRight(string(r.Data), "\n")
	if t == "" {
		return nil
	}
	return strings.Split(t, "\n")
}

// One does a single op.
func One(ctx context.Context, h Host, op Op) Result {
	rs := h.Do(ctx, []Op{op})
	if len(rs) != 1 {
		return Result{TimedOut: true, NotTried: true}
	}
	return rs[0]
}

// Errno extracts the errno of an error from the os package, EIO where it has
// none.
func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return syscall.EACCES
	}
	return syscall.EIO
}
