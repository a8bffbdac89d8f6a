package spawner

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// maxWorkers bounds what one spawner has running.
const maxWorkers = 64

// Serve is the whole of a spawner: it starts workers with starter until its
// parent is gone, which ends them, too.
func Serve(sock *os.File, starter worker.Starter) error {
	c := &connection{fd: int(sock.Fd())}
	defer sock.Close()
	running := &workers{procs: map[int]worker.Process{}}
	defer running.kill()
	for {
		var r request
		files, err := c.receive(&r, 3)
		if errors.Is(err, ErrGone) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case r.Start:
			launch(c, starter, running, r, files)
		case r.Signal == syscall.SIGTERM || r.Signal == syscall.SIGKILL:
			running.signal(r.ID, r.Signal)
		}
		closeAll(files)
	}
}

// launch starts one worker, says so, and later how it ended.
func launch(c *connection, starter worker.Starter, running *workers, r request, files []*os.File) {
	fail := func(text string) { _ = c.send(reply{ID: r.ID, Error: text}) }
	if len(files) != 3 || !running.room(r.ID) {
		fail("the spawner wants three files, a new number and fewer workers")
		return
	}
	p, err := starter.Start(context.Background(), worker.Launch{In: files[0], Out: files[1], Log: files[2], CPUs: r.CPUs})
	if err != nil {
		fail(err.Error())
		return
	}
	running.add(r.ID, p)
	if c.send(reply{ID: r.ID, PID: p.PID()}) != nil {
		return // The parent is gone, as the next read will show.
	}
	go func() {
		exit, err := p.Wait()
		if err != nil {
			exit = worker.Exit{Code: -1}
		}
		running.drop(r.ID)
		_ = c.send(reply{ID: r.ID, Exit: &exit})
	}()
}
