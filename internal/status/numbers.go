package status

// Numbers of errno that verbs and rdma_cm answer with
// (include/uapi/asm-generic/errno*.h). They are those of Linux wherever this
// program runs: it reads reports of other hosts.
const (
	EPERM         = 1
	EIO           = 5
	EAGAIN        = 11
	ENOMEM        = 12
	EACCES        = 13
	EFAULT        = 14
	ENODEV        = 19
	EINVAL        = 22
	EMFILE        = 24
	ENODATA       = 61
	EOPNOTSUPP    = 95
	EADDRNOTAVAIL = 99
	ENETUNREACH   = 101
	ECONNRESET    = 104
	ETIMEDOUT     = 110
	ECONNREFUSED  = 111
	EHOSTUNREACH  = 113
)

var errnoNames = map[int]string{
	EPERM: "EPERM", EIO: "EIO", EAGAIN: "EAGAIN", ENOMEM: "ENOMEM", EACCES: "EACCES", EFAULT: "EFAULT", ENODEV: "ENODEV",
	EINVAL: "EINVAL", EMFILE: "EMFILE", ENODATA: "ENODATA", EOPNOTSUPP: "EOPNOTSUPP", EADDRNOTAVAIL: "EADDRNOTAVAIL",
	ENETUNREACH: "ENETUNREACH", ECONNRESET: "ECONNRESET", ETIMEDOUT: "ETIMEDOUT", ECONNREFUSED: "ECONNREFUSED",
	EHOSTUNREACH: "EHOSTUNREACH",
}

// ErrnoName is the name of an errno, "" where it is not one of those above.
func ErrnoName(number int) string { return errnoNames[number] }
