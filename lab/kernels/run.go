package kernels

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// ToolError says that a program which the lab needs is not on this host.
type ToolError struct {
	// Tool is the program that was looked for.
	Tool string
	// Package is the Debian package that has it.
	Package string
}

func (e *ToolError) Error() string {
	return fmt.Sprintf("%s is not here: it comes with Debian's package %s",
		e.Tool, e.Package)
}

// toolPackages maps each program that this package runs to its package.
var toolPackages = map[string]string{
	"apt-get":   "apt",
	"apt-cache": "apt",
	"dpkg-deb":  "dpkg",
	"depmod":    "kmod",
	"tar":       "tar",
	"xz":        "xz-utils",
}

// needTools returns a *ToolError for the first tool that is missing.
func needTools(names ...string) error {
	for _, name := range names {
		if _, err := find(name); err != nil {
			return &ToolError{Tool: name, Package: toolPackages[name]}
		}
	}
	return nil
}

// find looks for a program in PATH and in the folders of system programs,
// which a plain user's PATH lacks on Debian.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if p, err := exec.LookPath(dir + name); err == nil {
			return p, nil
		}
	}
	return "", err
}

// run runs a program in dir and returns its standard output. The error holds
// the end of what the program wrote to standard error. Its whole process
// group is killed when ctx ends.
func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	path, err := find(name)
	if err != nil {
		return "", &ToolError{Tool: name, Package: toolPackages[name]}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("run %s %s: %w%s", name, args[0], err,
			tail(stderr.String()))
	}
	return stdout.String(), nil
}

// tail returns the last lines of a program's complaint for an error text.
func tail(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	lines := strings.Split(s, "\n")
	return ": " + strings.Join(lines[max(0, len(lines)-6):], "; ")
}
