package main

import (
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// reaper waits for processes whose parent has ended: they become children of
// this one. It leaves those that the agent started itself to exec.Cmd.
type reaper struct {
	mu  sync.Mutex
	own map[int]bool
}

func newReaper() *reaper {
	r := &reaper{own: make(map[int]bool)}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	go func() {
		// A child of our own may hide the ones behind it until its Wait has
		// run, so a signal is not enough to go by.
		tick := time.NewTicker(200 * time.Millisecond)
		for {
			select {
			case <-ended:
			case <-tick.C:
			}
			r.reap()
		}
	}()
	return r
}

// start starts a command and knows it before anyone can wait for it.
func (r *reaper) start(cmd *exec.Cmd) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	r.own[cmd.Process.Pid] = true
	return nil
}

// done forgets a command that exec.Cmd has waited for.
func (r *reaper) done(pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.own, pid)
}

// reap waits for all ended children up to the first of our own.
func (r *reaper) reap() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info,
			unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		pid := pidOf(&info)
		if err != nil || pid == 0 || r.own[pid] {
			return
		}
		unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}
