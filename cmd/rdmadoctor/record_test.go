package main

import (
	"context"
	"errors"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/recording"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// A recording that is interrupted between its samples holds the first, and
// nothing half written stays beside it.
func TestRecordInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) { recordInterrupted(t, sig) })
	}
}

func recordInterrupted(t *testing.T, sig syscall.Signal) {
	if signal.Ignored(sig) {
		t.Skip("this run ignores the signal, as nohup has it")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir := t.TempDir()
	file := filepath.Join(dir, "host.tar.gz")
	c := command(ctx, "record", "--interval", "1h", "-o", file)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// The file that is being written is made before anything is read.
	for tick := time.NewTicker(5 * time.Millisecond); ; <-tick.C {
		if temps, _ := filepath.Glob(filepath.Join(dir, ".rdmadoctor-*")); len(temps) == 1 {
			tick.Stop()
			break
		}
		if ctx.Err() != nil {
			t.Fatal("it never began")
		}
	}
	if err := c.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != report.ExitInterrupted {
		t.Fatalf("ended with %v, want exit %d", err, report.ExitInterrupted)
	}
	r, err := recording.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Times()); n != 1 {
		t.Errorf("%d samples, want the first", n)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
