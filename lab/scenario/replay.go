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
// its standard output and exit code. Arguments that name one of files, of the
// guest, name a copy of it.
func (s *Suite) replay(ctx context.Context, recording []byte, args []string,
	files map[string][]byte) (out []byte, code int, err error) {
	dir, err := os.MkdirTemp("", "rdmadoctor-replay-")
	if err != nil {
		return nil, 0, fmt.Errorf("check recording: %w", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "recording.tar.gz")
	if err := os.WriteFile(name, recording, 0o600); err != nil {
		return nil, 0, fmt.Errorf("check recording: %w", err)
	}
	argv := []string{"check", "--from", name, "--json"}
	for i, arg := range args {
		if data, ok := files[arg]; ok {
			arg = filepath.Join(dir, fmt.Sprintf("%d-%s", i, filepath.Base(arg)))
			if err := os.WriteFile(arg, data, 0o600); err != nil {
				return nil, 0, fmt.Errorf("check recording: %w", err)
			}
		}
		argv = append(argv, arg)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, replayLimit,
		fmt.Errorf("no end in %v", replayLimit))
	defer cancel()
	cmd := exec.CommandContext(ctx, s.opts.Doctor, argv...)
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
