package hostio

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// Bounds of a kernel log: the newest maxLog bytes are kept, and a host that
// logs faster than it is read does not hold the reader for ever.
const (
	maxLog        = 4 << 20
	maxLogRecords = 1 << 18
	kmsgRecord    = 16 << 10 // longer than any record (PRINTK_MESSAGE_MAX is 2048, escaped fourfold)
)

// kernelLog drains /dev/kmsg (Documentation/ABI/testing/dev-kmsg): each read
// gives one record, EPIPE says that records were overwritten meanwhile, and
// EAGAIN that there are no more.
func kernelLog() Result {
	var st unix.Stat_t
	if err := unix.Stat("/dev/kmsg", &st); err != nil {
		return failed(err)
	}
	// Containers put /dev/null in its place.
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || uint64(st.Rdev) != unix.Mkdev(1, 11) {
		return Result{NotInForm: true}
	}
	fd, err := unix.Open("/dev/kmsg", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	return drain(func(b []byte) (int, error) { return unix.Read(fd, b) })
}

// drain collects records from read until it says EAGAIN.
func drain(read func([]byte) (int, error)) Result {
	var res Result
	buf := make([]byte, kmsgRecord)
	for range maxLogRecords {
		n, err := read(buf)
		switch err {
		case nil:
		case unix.EINTR, unix.EPIPE:
			continue
		case unix.EAGAIN:
			return res
		default:
			res.Errno = errnoOf(err)
			return res
		}
		if n <= 0 {
			return res
		}
		res.Data = append(append(res.Data, buf[:n]...), 0)
		if len(res.Data) > 2*maxLog {
			res.Data, res.Truncated = newest(res.Data, maxLog), true
		}
	}
	res.Truncated = true
	return res
}

// newest keeps the whole records of the last size bytes.
func newest(records []byte, size int) []byte {
	tail := records[len(records)-size:]
	return bytes.Clone(tail[bytes.IndexByte(tail, 0)+1:])
}
