package spawner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// The test binary is its own spawner and worker.
const role = "RDMADOCTOR_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "spawner":
		_ = os.Setenv(role, "worker")
		err := Serve(os.NewFile(3, "spawner"), worker.Exec{Argv: []string{os.Args[0]}})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(4)
		}
		os.Exit(0)
	case "worker":
		in, out := worker.Files()
		_ = worker.Serve(context.Background(), in, out, task)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func task(ctx context.Context, t worker.Task, r *worker.Reporter) error {
	switch r.Begin("open", 0); t.Probe {
	case "echo":
		blob, err := r.Receive(ctx)
		if err != nil {
			return err
		}
		return r.Send(blob)
	case "crash":
		fmt.Fprintln(os.Stderr, "provider: broken")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "hang":
		select {}
	}
	return nil
}

func testSpawner(t *testing.T) *Spawner {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), role+"=spawner")
	s, err := start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func options(s *Spawner, probe string) worker.Options {
	return worker.Options{Task: worker.Task{Probe: probe, Limit: time.Minute}, Starter: s, Phase: 20 * time.Second, Grace: 20 * time.Second}
}

func TestWorkersOfASpawner(t *testing.T) {
	s := testSpawner(t)
	o := options(s, "echo")
	var w *worker.Worker
	back := make(chan string, 1)
	o.Tell = func(m *worker.Message) {
		if m.OOB != nil {
			back <- string(m.OOB)
		}
	}
	w, err := worker.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.OOB([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if r := w.Wait(); r.End.Outcome != facts.Completed || <-back != "hello" || r.PID == 0 {
		t.Errorf("result %+v", r)
	}
	if r := worker.Run(t.Context(), options(s, "crash")); r.End.Outcome != facts.Crashed || r.End.Signal != "SIGKILL" ||
		!strings.Contains(r.End.Detail, "provider: broken") {
		t.Errorf("a crash: %+v", r.End)
	}
	o = options(s, "hang")
	o.Phase, o.Grace = 300*time.Millisecond, 300*time.Millisecond
	if r := worker.Run(t.Context(), o); r.End.Outcome != facts.Hung || r.End.Step != "open" {
		t.Errorf("a hang: %+v", r.End)
	} else if err := syscall.Kill(r.PID, 0); err != syscall.ESRCH {
		t.Errorf("it was left: %v", err)
	}
}

func TestSpawnerIsGone(t *testing.T) {
	s := testSpawner(t)
	o := options(s, "hang")
	begun := make(chan bool, 1)
	o.Tell = func(m *worker.Message) {
		if m.Begun != nil {
			begun <- true
		}
	}
	w, err := worker.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r := w.Wait(); r.End.Outcome != facts.Crashed {
		t.Errorf("result %+v", r.End)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := s.Start(t.Context(), worker.Launch{In: os.Stdin, Out: os.Stdout, Log: os.Stderr}); errors.Is(err, ErrGone) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it can still be asked")
		}
	}
}

// What is no request ends the spawner, or is refused; nothing else is run.
func TestSpawnerRefuses(t *testing.T) {
	s := testSpawner(t)
	p := &process{s: s, id: 7, started: make(chan error, 1), exited: make(chan worker.Exit, 1)}
	s.mu.Lock()
	s.waiting[7] = p
	s.mu.Unlock()
	if err := s.conn.send(request{ID: 7, Start: true}); err != nil { // Without files.
		t.Fatal(err)
	}
	if err := <-p.started; err == nil || !strings.Contains(err.Error(), "three files") {
		t.Errorf("a start without files: %v", err)
	}
	if err := s.conn.send(map[string]string{"id": "rm -rf"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Start(t.Context(), worker.Launch{In: os.Stdin, Out: os.Stdout, Log: os.Stderr}); err == nil {
		t.Error("it went on after nonsense")
	}
}
