package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// A reader that goes away, as head(1) does, does not make a sick host healthy:
// the exit code is the verdict in every format.
func TestHangUp(t *testing.T) {
	tree := t.TempDir()
	layOut(t, tree, "mlx5-ib-8xndr-sick")
	for _, format := range formats {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		p := &program{args: []string{"check", "--from", tree, "--format", format}, out: w, err: io.Discard}
		if code := p.run(t.Context()); code != report.ExitFailures {
			t.Errorf("%s: exit %d, want %d", format, code, report.ExitFailures)
		}
		w.Close()
	}
}

// A watch whose reader went away ends by itself, with what it saw, if it was an
// interval at least.
func TestWatchHangUp(t *testing.T) {
	for _, format := range []string{"text", "jsonl"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		c := command(ctx, "check", "--watch", "--interval", "100ms", "--format", format)
		c.Stdout = w
		_ = c.Run()
		if code := c.ProcessState.ExitCode(); ctx.Err() != nil || code < 0 || code > report.ExitUnknown && code != report.ExitInterrupted {
			t.Errorf("%s: ended with %v, want a verdict", format, c.ProcessState)
		}
		cancel()
		w.Close()
	}
}

// Timeout(1) signals the program and its group, so that it comes twice. The
// report is there all the same.
func TestSignalledTwice(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := command(ctx, "check", "--format", "jsonl", "--interval", "1h")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	text := signalled(t, c, out)
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != report.ExitInterrupted || !strings.Contains(text, `"status":"interrupted"`) {
		t.Errorf("ended with %v and %d bytes, want exit %d and a summary", c.ProcessState, len(text), report.ExitInterrupted)
	}
}

// signalled ends a program that waits for its second sample, twice, and gives
// what it wrote.
func signalled(t *testing.T, c *exec.Cmd, out io.Reader) string {
	t.Helper()
	var all strings.Builder
	buf := make([]byte, 64<<10)
	for sent := false; ; {
		n, err := out.Read(buf)
		all.Write(buf[:n])
		if !sent && strings.Contains(all.String(), `"step":"wait"`) {
			sent = true
			for range 2 { // Some milliseconds apart: not one pending signal.
				_ = c.Process.Signal(syscall.SIGTERM)
				time.Sleep(5 * time.Millisecond)
			}
		}
		if err != nil {
			return all.String()
		}
	}
}
