// Package tool runs the host's programs for the lab's set-up: each has a
// deadline by its context, its whole process group ends with it, and a missing
// one is an error that names the Debian package to install.
package tool

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

// MissingError says that a program which the lab needs is not on this host.
type MissingError struct {
	// Tool is the program that was looked for.
	Tool string
	// Package is the Debian package that has it.
	Package string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not here: it comes with Debian's package %s",
		e.Tool, e.Package)
}

// packages maps each program that the set-up runs to its Debian package.
var packages = map[string]string{
	"apt-get":   "apt",
	"apt-cache": "apt",
	"dpkg-deb":  "dpkg",
	"depmod":    "kmod",
	"tar":       "tar",
	"xz":        "xz-utils",
	"make":      "make",
	"gcc-12":    "gcc-12",
	"strip":     "binutils",
	"modprobe":  "kmod",
	"modinfo":   "kmod",
	"env":       "coreutils",
	"go":        "golang-go",

	"qemu-system-x86_64": "qemu-system-x86",
}

// Need returns a *MissingError for the first tool that is missing.
func Need(names ...string) error {
	for _, name := range names {
		if _, err := Find(name); err != nil {
			return err
		}
	}
	return nil
}

// Find looks for a program in PATH and in the folders of system programs,
// which a plain user's PATH lacks on Debian. The error is a *MissingError.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
		if p, err := exec.LookPath(dir + name); err == nil {
			return p, nil
		}
	}
	return "", &MissingError{Tool: name, Package: packages[name]}
}

// Run runs a program in dir and returns its standard output. The error holds
// the end of what the program wrote to standard error. Its whole process
// group is killed when ctx ends.
func Run(ctx context.Context, dir, name string, args ...string) (string, error) {
	path, err := Find(name)
	if err != nil {
		return "", err
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

// tail returns what matters of a program's complaint for an error text: the
// first lines that say "error:", as compilers do, else the last lines.
func tail(s string) string {
	const most = 6
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	lines := strings.Split(s, "\n")
	var guilty []string
	for _, line := range lines {
		if strings.Contains(line, "error:") && len(guilty) < most {
			guilty = append(guilty, line)
		}
	}
	if guilty == nil {
		guilty = lines[max(0, len(lines)-most):]
	}
	return ": " + strings.Join(guilty, "; ")
}
