package hostio

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// stuckCount counts killed processes that have not ended.
type stuckCount struct{ n atomic.Int64 }

func (s *stuckCount) value() int { return int(s.n.Load()) }

// A reader is one running child process.
type reader struct {
	cmd   *exec.Cmd
	in    *os.File
	out   *os.File
	reply chan []byte // frames; closed when the process has no more
	quit  chan struct{}
	next  uint32 // id of the next op
	stuck *stuckCount
	gone  chan struct{} // closed when the process was reaped
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
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		childIn.Close()
		in.Close()
		return nil, err
	}
	p := &reader{in: in, out: out, reply: make(chan []byte, 64), quit: make(chan struct{}), gone: make(chan struct{}), stuck: stuck}
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env, p.cmd.Stdin, p.cmd.Stdout = env, childIn, childOut
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	err = spawn()(p.cmd.Start)
	childIn.Close()
	childOut.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, err
	}
	go p.receive()
	go func() {
		p.cmd.Wait() // How it ended does not matter: it was killed, or its answers stop.
		close(p.gone)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case frame, ok := <-p.reply:
		if ok && string(frame) == hello {
			return p, nil
		}
		p.kill()
		return nil, syscall.EPROTO
	case <-timer.C:
		p.kill()
		return nil, syscall.ETIMEDOUT
	case <-ctx.Done():
		p.kill()
		return nil, syscall.ETIMEDOUT
	}
}

// receive reads frames until the process or its killer ends it.
func (p *reader) receive() {
	defer close(p.reply)
	r := bufio.NewReaderSize(p.out, 64<<10)
	for {
		frame, err := readFrame(r)
		if err != nil {
			return
		}
		select {
		case p.reply <- frame:
		case <-p.quit:
			return
		}
	}
}

// kill ends the process without waiting for it: one that sleeps in the kernel
// may never end.
func (p *reader) kill() {
	close(p.quit)
	p.in.Close()
	p.out.Close()
	p.cmd.Process.Kill()
	p.stuck.n.Add(1)
	go func() {
		<-p.gone
		p.stuck.n.Add(-1)
	}()
}
