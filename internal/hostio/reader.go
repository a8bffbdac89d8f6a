package hostio

import (
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// stuckCount counts killed processes that have not ended.
type stuckCount struct{ n atomic.Int64 }

func (s *stuckCount) value() int { return int(s.n.Load()) }

// A reader is one running child process.
type reader struct {
	cmd     *exec.Cmd
	in, out int    // pipes to and from it; in does not block
	unsent  []byte // ops that the pipe has not taken yet
	got     []byte // what came and is no whole frame yet begins at read
	read    int
	closed  bool   // nothing more will come
	next    uint32 // id of the next op
	stuck   *stuckCount
	gone    chan struct{} // closed when the process was reaped
}

// spawn runs f on a thread that lives as long as the program. The kernel sends
// the parent death signal when the thread that forked ends, and Go ends
// threads.
var spawn = sync.OnceValue(func() func(f func() error) error {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return func(f func() error) error {
		done := make(chan error)
		work <- func() { done <- f() }
		return <-done
	}
})

// OnLastingThread runs f on a thread that lives as long as the program: what
// f forks with a parent death signal dies with the program, not before.
func OnLastingThread(f func() error) error { return spawn()(f) }

// startReader starts argv and waits for its greeting. It is in a process group
// of its own, so that an interrupt key ends the parent only, which then ends
// it.
func startReader(ctx context.Context, argv, env []string, limit time.Duration, stuck *stuckCount) (*reader, error) {
	var to, from [2]int
	if err := unix.Pipe2(to[:], unix.O_CLOEXEC); err != nil {
		return nil, err
	}
	if err := unix.Pipe2(from[:], unix.O_CLOEXEC); err != nil {
		unix.Close(to[0])
		unix.Close(to[1])
		return nil, err
	}
	childIn, childOut := os.NewFile(uintptr(to[0]), "|0"), os.NewFile(uintptr(from[1]), "|1")
	p := &reader{in: to[1], out: from[0], gone: make(chan struct{}), stuck: stuck}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env, p.cmd.Stdin, p.cmd.Stdout = readerEnviron(env), childIn, childOut
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	err := unix.SetNonblock(p.in, true)
	if err == nil {
		err = spawn()(p.cmd.Start)
	}
	childIn.Close()
	childOut.Close()
	if err != nil {
		unix.Close(p.in)
		unix.Close(p.out)
		return nil, err
	}
	go func() {
		p.cmd.Wait() // How it ended does not matter: it was killed, or its answers stop.
		close(p.gone)
	}()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		frame, end := p.arrived()
		switch {
		case end == broke, end == ended && string(frame) != hello:
			p.kill()
			return nil, syscall.EPROTO
		case end == ended:
			return p, nil
		case ctx.Err() != nil:
			p.kill()
			return nil, syscall.ETIMEDOUT
		}
		p.wait(look)
	}
}

// readerEnviron is env for a process that lives for a moment, reads and keeps
// nothing: it collects no garbage below a limit, and has a processor to spare
// for what Go does beside, whose own clock otherwise wakes it 50,000 times a
// second on a host with one processor.
func readerEnviron(env []string) []string {
	if env == nil {
		env = os.Environ()
	}
	return append(env[:len(env):len(env)], "GOGC=off", "GOMEMLIMIT=128MiB", "GOMAXPROCS=2")
}

// arrived takes the next frame off what came. Without a whole one it is
// waiting.
func (p *reader) arrived() ([]byte, ending) {
	if b := p.got[p.read:]; len(b) >= 4 {
		size := int64(binary.BigEndian.Uint32(b))
		if size > maxFrame {
			return nil, broke
		}
		if int64(len(b)) >= 4+size {
			p.read += 4 + int(size)
			return b[4 : 4+size : 4+size], ended
		}
	}
	if p.closed {
		return nil, broke
	}
	return nil, waiting
}

// receiveSize is what a pipe holds.
const receiveSize = 64 << 10

// receive takes in what waits in the pipe.
func (p *reader) receive() {
	rest := copy(p.got, p.got[p.read:])
	p.got, p.read = p.got[:rest], 0
	if cap(p.got)-rest < receiveSize { // It grows with what arrives, not with what a length promises.
		p.got = append(make([]byte, 0, 2*rest+receiveSize), p.got...)
	}
	var n int
	err := uninterrupted(func() (err error) {
		n, err = unix.Read(p.out, p.got[rest:cap(p.got)])
		return err
	})
	if err != nil || n <= 0 {
		p.closed = true
		return
	}
	p.got = p.got[:rest+n]
}

// send gives the pipe what it takes of the ops.
func (p *reader) send() {
	if len(p.unsent) == 0 {
		return
	}
	n, err := unix.Write(p.in, p.unsent)
	switch {
	case err == unix.EAGAIN, err == unix.EINTR:
	case err != nil: // It is gone, and so are its answers.
		p.unsent = nil
	default:
		p.unsent = p.unsent[n:]
	}
}

// kill ends the process without waiting for it: one that sleeps in the kernel
// may never end.
func (p *reader) kill() {
	unix.Close(p.in)
	unix.Close(p.out)
	p.cmd.Process.Kill()
	p.stuck.n.Add(1)
	go func() {
		<-p.gone
		p.stuck.n.Add(-1)
	}()
}
