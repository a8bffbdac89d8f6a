package verbs

import (
	"fmt"
	"syscall"
)

// errnoNames are the errnos that verbs and rdma_cm calls give, by the names
// that man pages and forums use.
var errnoNames = map[syscall.Errno]string{
	syscall.EPERM: "EPERM", syscall.ENOENT: "ENOENT", syscall.EINTR: "EINTR",
	syscall.EIO: "EIO", syscall.ENXIO: "ENXIO", syscall.E2BIG: "E2BIG",
	syscall.EBADF: "EBADF", syscall.EAGAIN: "EAGAIN", syscall.ENOMEM: "ENOMEM",
	syscall.EACCES: "EACCES", syscall.EFAULT: "EFAULT", syscall.EBUSY: "EBUSY",
	syscall.EEXIST: "EEXIST", syscall.ENODEV: "ENODEV", syscall.EINVAL: "EINVAL",
	syscall.EMFILE: "EMFILE", syscall.ENFILE: "ENFILE", syscall.ENOSPC: "ENOSPC",
	syscall.EPIPE: "EPIPE", syscall.ERANGE: "ERANGE", syscall.EDEADLK: "EDEADLK",
	syscall.ENOSYS: "ENOSYS", syscall.EPROTO: "EPROTO", syscall.EOVERFLOW: "EOVERFLOW",
	syscall.EPROTONOSUPPORT: "EPROTONOSUPPORT", syscall.EOPNOTSUPP: "EOPNOTSUPP",
	syscall.EAFNOSUPPORT: "EAFNOSUPPORT", syscall.EADDRINUSE: "EADDRINUSE",
	syscall.EADDRNOTAVAIL: "EADDRNOTAVAIL", syscall.ENETDOWN: "ENETDOWN",
	syscall.ENETUNREACH: "ENETUNREACH", syscall.ECONNABORTED: "ECONNABORTED",
	syscall.ECONNRESET: "ECONNRESET", syscall.ENOBUFS: "ENOBUFS",
	syscall.ENOTCONN: "ENOTCONN", syscall.ETIMEDOUT: "ETIMEDOUT",
	syscall.ENODATA:      "ENODATA",
	syscall.ECONNREFUSED: "ECONNREFUSED", syscall.EHOSTUNREACH: "EHOSTUNREACH",
	syscall.EALREADY: "EALREADY", syscall.ECANCELED: "ECANCELED",
}

// ErrnoName is an errno's symbol, "errno 123" where it has none here.
func ErrnoName(e syscall.Errno) string {
	if s, ok := errnoNames[e]; ok {
		return s
	}
	return fmt.Sprintf("errno %d", int(e))
}
