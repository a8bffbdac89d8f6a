package hostio

import (
	"context"
	"syscall"
	"time"
)

// Live reads this host in process. An op that the kernel does not answer
// hangs its caller, so programs wrap it in a Child and only the reading child
// itself uses it directly. The zero Live is ready.
type Live struct {
	// NetlinkTimeout bounds each wait for a netlink message; 0 is 1.5 seconds,
	// below a Child's deadline so that an unanswered request does not cost a
	// child.
	NetlinkTimeout time.Duration

	families map[string]uint16 // generic netlink ids by name; nil: not asked yet
	received []byte            // a buffer for netlink messages, made at the first
}

// Do answers ops one after another. Once ctx is over the rest time out.
func (l *Live) Do(ctx context.Context, ops []Op) []Result {
	rs := make([]Result, len(ops))
	for i, op := range ops {
		if ctx.Err() != nil {
			rs[i] = Result{TimedOut: true, NotTried: true}
			continue
		}
		rs[i] = l.do(op)
	}
	return rs
}

func (l *Live) do(op Op) Result {
	if !Allowed(op) {
		return Result{NotInForm: true}
	}
	switch op.Kind {
	case ReadFile:
		return readFile(op.Name, op.Limit)
	case ReadLink:
		return readLink(op.Name)
	case ReadDir:
		return readDir(op.Name)
	case Stat:
		return statFile(op.Name)
	case OpenNodes:
		return openNodes(op.Name)
	case CountLines:
		return countLines(op.Name)
	case Environ:
		return environ(op.Name)
	case SymbolVersions:
		return symbolVersions(op.Name)
	case TryOpen:
		return tryOpen(op.Name)
	case Netlink:
		return l.netlink(op)
	case EthtoolStats, EthtoolDriver, EthtoolPause:
		return l.ethtool(op)
	case System:
		return system(op.Name)
	case KernelLog:
		return kernelLog()
	}
	return Result{NotInForm: true}
}

// MaxData bounds the data of one result, in bytes.
const MaxData = 16 << 20

// failed makes the result of a system call that gave an error.
func failed(err error) Result { return Result{Errno: errnoOf(err)} }

// uninterrupted repeats f while a signal interrupts it, as the Go runtime's own
// preemption signals may on slow file systems.
func uninterrupted(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}
