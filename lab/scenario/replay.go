package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// replayLimit ends a check of a recording.
const replayLimit = time.Minute

// replay checks a recording with the suite's doctor on this host, and returns
// its standard output and exit code.
func (s *Suite) replay(ctx context.Context, recording []byte, args []string) (
	out []byte, code int, err error) {
	dir, err := os.MkdirTemp("", "rdmadoctor-replay-")
	if err != nil {
		return nil, 0, fmt.Errorf("check recording: %w", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "recording.tar.gz")
	if err := os.WriteFile(name, recording, 0o600); err != nil {
		return nil, 0, fmt.Errorf("check recording: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, replayLimit,
		fmt.Errorf("no end in %v", replayLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, s.opts.Doctor, append([]string{"check", "--from",
		name, "--json"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		return nil, 0, fmt.Errorf("check recording: %w: %s", errors.Join(err,
			context.Cause(ctx)), tail(stderr.Bytes()))
	}
	return stdout.Bytes(), cmd.ProcessState.ExitCode(), nil
}
