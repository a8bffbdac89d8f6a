package kernels

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// CacheEnv names the environment variable with the lab's cache folder.
const CacheEnv = "RDMADOCTOR_LAB_CACHE"

// module is how go.mod at the top of the repository starts.
const module = "module github.com/rdmadoctor/rdmadoctor\n"

// Cache returns the lab's cache folder: $RDMADOCTOR_LAB_CACHE if set, else
// .cache/lab at the top of the repository that the working directory is in.
func Cache() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	top, err := Repository()
	if err != nil {
		return "", err
	}
	return filepath.Join(top, ".cache", "lab"), nil
}

// Repository returns the top folder of the repository that the working
// directory is in: the lab's modules are built from the sources there.
func Repository() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		b, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), module) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("find repository: no go.mod of rdmadoctor "+
				"at or above %q", wd)
		}
	}
}

// Lock makes dir if needed and takes an exclusive lock on it. It waits until
// the holder lets go or ctx ends. The kernel releases the lock of a process
// that died, so none is ever stale.
func Lock(ctx context.Context, dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("lock folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR,
		0o644)
	if err != nil {
		return nil, fmt.Errorf("lock folder: %w", err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock folder %q: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock folder %q: held by another process: %w",
				dir, context.Cause(ctx))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// writeFile writes a file so that a reader sees all of it or nothing.
func writeFile(name string, b []byte) error {
	tmp := name + ".tmp"
	if err := os.WriteFile(tmp, b, 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, name)
}
