package hostio

import (
	"io"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// briefly is how long a wait for the other process holds on to its processor.
// Most last less, and given up it costs more than the reads waited for: the
// runtime goes idle and wakes again, with its threads.
const briefly = 10 * time.Millisecond

// look is how long a wait lasts that looks at other things in between.
const look = 50 * time.Millisecond

// poll waits until one of fds is ready, for at most d.
func poll(fds []unix.PollFd, d time.Duration) {
	begun := time.Now()
	for left := min(d, briefly); left > 0; left = min(d, briefly) - time.Since(begun) {
		ts := unix.NsecToTimespec(left.Nanoseconds())
		n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)),
			uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		runtime.KeepAlive(fds)
		if errno == 0 && n > 0 {
			return
		}
		if errno != 0 && errno != unix.EINTR {
			break
		}
	}
	if left := d - time.Since(begun); left > 0 {
		ts := unix.NsecToTimespec(left.Nanoseconds())
		_, _ = unix.Ppoll(fds, &ts, nil) // Interrupted or not, the caller looks again.
	}
}

// wait lets at most d pass until there are answers, and moves what can be
// moved.
func (p *reader) wait(d time.Duration) {
	p.send()
	if p.closed {
		return
	}
	fds := []unix.PollFd{{Fd: int32(p.out), Events: unix.POLLIN}, {Fd: int32(p.in), Events: unix.POLLOUT}}
	if len(p.unsent) == 0 {
		fds = fds[:1]
	}
	poll(fds, d)
	if fds[0].Revents != 0 {
		p.receive()
	}
}

// A patient reads from a pipe as poll waits.
type patient struct{ fd int }

func (r patient) Read(b []byte) (n int, err error) {
	fds := []unix.PollFd{{Fd: int32(r.fd), Events: unix.POLLIN}}
	poll(fds, briefly)
	err = uninterrupted(func() (err error) {
		n, err = unix.Read(r.fd, b)
		return err
	})
	if err == nil && n == 0 {
		err = io.EOF
	}
	return max(n, 0), err
}
