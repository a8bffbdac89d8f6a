// Package spawner starts workers for a process that may start none itself. The
// spawner is a process of this binary, started before the sandbox; it runs
// nothing but this binary's worker with the arguments that it was started
// with, on pipes that it is handed, and ends with the process that started it.
//
// What it starts can write to no file but the device nodes of RDMA, where the
// kernel has Landlock.
package spawner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/hostio"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// Arg is the hidden argument that makes this binary a spawner, which only
// calls Serve.
const Arg = "spawner"

// request is what the spawner is asked. Start comes with three files: what
// worker.Launch has.
type request struct {
	ID     int            `json:"id"`
	Start  bool           `json:"start,omitempty"`
	CPUs   []int          `json:"cpus,omitempty"`
	Signal syscall.Signal `json:"signal,omitempty"`
}

// reply is what it says: that a worker was started or could not be, and later
// how it ended.
type reply struct {
	ID    int          `json:"id"`
	PID   int          `json:"pid,omitempty"`
	Error string       `json:"error,omitempty"`
	Exit  *worker.Exit `json:"exit,omitempty"`
}

// maxMessage is the longest message, in bytes. Numbers of processors take most
// of it.
const maxMessage = 64 << 10

// ErrGone is the error of a spawner that has ended.
var ErrGone = errors.New("the spawner has ended")

// Spawner is the connection to a spawner. It is a worker.Starter.
type Spawner struct {
	sock *os.File
	conn *connection

	mu      sync.Mutex
	last    int
	waiting map[int]*process
	gone    bool
}

// process is a worker that a spawner has started, or is to start.
type process struct {
	s       *Spawner
	id, pid int
	started chan error
	exited  chan worker.Exit
}

// Start starts a spawner, whose workers get args besides worker.Arg.
func Start(args ...string) (*Spawner, error) {
	return start(exec.Command(hostio.OwnBinary(), append([]string{Arg}, args...)...))
}

func start(c *exec.Cmd) (*Spawner, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("start spawner: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "spawner"), os.NewFile(uintptr(fds[1]), "spawner")
	defer theirs.Close()
	c.ExtraFiles = []*os.File{theirs}
	// A group of its own: an interrupt key ends the parent, which ends it.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		ours.Close()
		return nil, fmt.Errorf("start spawner: %w", err)
	}
	go func() { _ = c.Wait() }()
	return From(ours), nil
}

// From takes over the connection to a spawner that this process had started
// before it ran itself again.
func From(sock *os.File) *Spawner {
	s := &Spawner{sock: sock, conn: &connection{fd: int(sock.Fd())}, waiting: map[int]*process{}}
	go s.receive()
	return s
}

// File is the connection, to be kept open where this process runs itself
// again.
func (s *Spawner) File() *os.File { return s.sock }

// Close ends the spawner and with it its workers.
func (s *Spawner) Close() error { return unix.Shutdown(s.conn.fd, unix.SHUT_RDWR) }

// Start has the spawner start a worker.
func (s *Spawner) Start(ctx context.Context, l worker.Launch) (worker.Process, error) {
	p := &process{s: s, started: make(chan error, 1), exited: make(chan worker.Exit, 1)}
	s.mu.Lock()
	s.last++
	p.id = s.last
	gone := s.gone
	s.waiting[p.id] = p
	s.mu.Unlock()
	if gone {
		return nil, ErrGone
	}
	err := s.conn.send(request{ID: p.id, Start: true, CPUs: l.CPUs}, int(l.In.Fd()), int(l.Out.Fd()), int(l.Log.Fd()))
	if err != nil {
		return nil, err
	}
	select {
	case err := <-p.started:
		return p, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// receive hands replies to who waits for them.
func (s *Spawner) receive() {
	for {
		var r reply
		_, err := s.conn.receive(&r, 0)
		s.mu.Lock()
		if err != nil {
			s.gone = true
			for id, p := range s.waiting {
				p.answer(reply{ID: id, Error: ErrGone.Error()})
			}
			s.waiting = map[int]*process{}
			s.mu.Unlock()
			s.sock.Close()
			return
		}
		p := s.waiting[r.ID]
		if r.Exit != nil || r.Error != "" {
			delete(s.waiting, r.ID)
		}
		s.mu.Unlock()
		if p != nil {
			p.answer(r)
		}
	}
}

// answer gives a process its reply. A spawner that is gone has taken its
// workers along.
func (p *process) answer(r reply) {
	switch {
	case r.Exit != nil:
		p.exited <- *r.Exit
	case r.Error == "":
		p.pid = r.PID
		p.started <- nil
	default:
		select {
		case p.started <- errors.New(r.Error):
		default:
		}
		select {
		case p.exited <- worker.Exit{Signal: syscall.SIGKILL}:
		default:
		}
	}
}

func (p *process) PID() int { return p.pid }

// Signal has the spawner send the signal: this process may not.
func (p *process) Signal(sig syscall.Signal) error {
	return p.s.conn.send(request{ID: p.id, Signal: sig})
}

func (p *process) Wait() (worker.Exit, error) { return <-p.exited, nil }

// connection is a socket that keeps messages whole and carries files.
type connection struct {
	fd int
	mu sync.Mutex
}

func (c *connection) send(v any, fds ...int) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) > maxMessage {
		return fmt.Errorf("ask spawner: %d bytes", len(text))
	}
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		err = unix.Sendmsg(c.fd, text, rights, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("ask spawner: %w", err)
	}
	return nil
}

// receive reads one message and exactly as many files as are wanted with it, at
// most. Files beyond are closed.
func (c *connection) receive(into any, most int) ([]*os.File, error) {
	text, oob := make([]byte, maxMessage), make([]byte, unix.CmsgSpace(16*4))
	var n, oobn int
	var err error
	for {
		n, oobn, _, _, err = unix.Recvmsg(c.fd, text, oob, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil && n == 0 {
		err = ErrGone
	}
	if err != nil {
		return nil, err
	}
	files := filesOf(oob[:oobn])
	if len(files) > most {
		closeAll(files)
		return nil, fmt.Errorf("message to spawner: %d files", len(files))
	}
	if err := json.Unmarshal(text[:n], into); err != nil {
		closeAll(files)
		return nil, fmt.Errorf("message to spawner: %w", err)
	}
	return files, nil
}

func filesOf(oob []byte) (files []*os.File) {
	cs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for i := range cs {
		fds, err := unix.ParseUnixRights(&cs[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
