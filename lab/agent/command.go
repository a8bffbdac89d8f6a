package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

const cgroupDir = "/sys/fs/cgroup"

// pipeDelay is how long a command's output may stay open in the hands of a
// background process after the command has ended.
const pipeDelay = 300 * time.Millisecond

// command is a running command of the lab.
type command struct {
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	terminal *os.File      // nil without one
	copied   chan struct{} // closed when the terminal's output has been sent

	mu     sync.Mutex
	queue  [][]byte
	queued *sync.Cond
	ended  bool
}

// start starts a command and sends its output and end on the stream.
func (s *server) start(stream uint32, w wire.Command) {
	c := &command{}
	c.queued = sync.NewCond(&c.mu)
	if err := s.prepare(c, stream, w); err != nil {
		s.send(wire.Exit, stream, wire.Ending{Code: 127, Error: err.Error()})
		return
	}
	s.mu.Lock()
	s.commands[stream] = c
	s.mu.Unlock()
	go c.feed()
	go func() {
		err := c.cmd.Wait()
		s.reap.done(c.cmd.Process.Pid)
		c.closeTerminal()
		s.mu.Lock()
		delete(s.commands, stream)
		s.mu.Unlock()
		c.end()
		s.send(wire.Exit, stream, ending(c.cmd, err))
	}()
}

// prepare fills in c and starts it.
func (s *server) prepare(c *command, stream uint32, w wire.Command) error {
	if len(w.Argv) == 0 {
		return errors.New("start command: no program")
	}
	c.cmd = exec.Command(w.Argv[0], w.Argv[1:]...)
	c.cmd.Dir, c.cmd.Env, c.cmd.WaitDelay = w.Dir, w.Env, pipeDelay
	if c.cmd.Dir == "" {
		c.cmd.Dir = "/"
	}
	attr := &syscall.SysProcAttr{Setsid: true}
	c.cmd.SysProcAttr = attr
	var err error
	if attr.Credential, err = credential(w.User); err != nil {
		return err
	}
	if w.Cgroup != "" {
		group, err := openCgroup(w.Cgroup)
		if err != nil {
			return err
		}
		defer group.Close()
		attr.UseCgroupFD, attr.CgroupFD = true, int(group.Fd())
	}
	if w.Terminal != nil {
		tty, err := c.openTerminal(*w.Terminal)
		if err != nil {
			return err
		}
		defer tty.Close()
		attr.Setctty = true
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = tty, tty, tty
		c.stdin = c.terminal
	} else {
		if c.stdin, err = c.cmd.StdinPipe(); err != nil {
			return fmt.Errorf("start command: %w", err)
		}
		c.cmd.Stdout = output{s, wire.Stdout, stream}
		c.cmd.Stderr = output{s, wire.Stderr, stream}
	}
	if err := s.reap.start(c.cmd); err != nil {
		return fmt.Errorf("start command: %w", err)
	}
	if c.terminal != nil {
		c.copied = make(chan struct{})
		go func() {
			defer close(c.copied)
			io.Copy(output{s, wire.Stdout, stream}, c.terminal)
		}()
	}
	return nil
}

// output sends what is written to it as frames of one kind and stream.
type output struct {
	s      *server
	kind   wire.Kind
	stream uint32
}

func (o output) Write(p []byte) (int, error) {
	for n := 0; n < len(p); {
		part := p[n:min(n+wire.MaxData, len(p))]
		err := o.s.sendFrame(wire.Frame{Kind: o.kind, Stream: o.stream, Data: part})
		if err != nil {
			return n, err
		}
		n += len(part)
	}
	return len(p), nil
}

// input queues data for the command's input; none is its end. A command that
// does not read must not keep the channel waiting.
func (c *command) input(data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue, data)
	c.queued.Signal()
}

// feed writes queued input until its end or the command's.
func (c *command) feed() {
	for {
		c.mu.Lock()
		for len(c.queue) == 0 && !c.ended {
			c.queued.Wait()
		}
		if c.ended {
			c.mu.Unlock()
			return
		}
		data := c.queue[0]
		c.queue = c.queue[1:]
		c.mu.Unlock()
		if len(data) == 0 {
			if c.terminal == nil {
				c.stdin.Close()
			}
			return
		}
		if _, err := c.stdin.Write(data); err != nil {
			return
		}
	}
}

// end stops feed.
func (c *command) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.queued.Signal()
}

// signal signals the command and the processes of its session's first group.
func (c *command) signal(sig syscall.Signal) {
	syscall.Kill(-c.cmd.Process.Pid, sig)
}

// ending is the outcome of a command whose Wait returned err.
func ending(cmd *exec.Cmd, err error) wire.Ending {
	state := cmd.ProcessState
	if state == nil {
		return wire.Ending{Code: 127, Error: err.Error()}
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return wire.Ending{Code: 128 + int(ws.Signal())}
	}
	return wire.Ending{Code: state.ExitCode()}
}

// openCgroup opens a control group below cgroupDir, made if absent.
func openCgroup(name string) (*os.File, error) {
	dir := filepath.Join(cgroupDir, filepath.Clean("/"+name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("start command: cgroup: %w", err)
	}
	f, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, fmt.Errorf("start command: cgroup: %w", err)
	}
	return f, nil
}
