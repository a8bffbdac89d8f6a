package peer

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ServeStdio is Serve over standard input and output, as SSH starts it.
func ServeStdio(ctx context.Context, in io.ReadCloser, out io.Writer, far Far) error {
	if _, err := fmt.Fprintln(out, Ready); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	Serve(ctx, Pipe(in, out, in.Close), far)
	return nil
}

// RemoveOwn removes the file of this program and the folder that start.sh made
// for it, at once: whatever ends this process, nothing is left. The program
// can still be run by way of /proc/self/exe.
func RemoveOwn() error {
	file, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("remove own copy: %w", err)
	}
	dir := filepath.Dir(file)
	if filepath.Base(file) != "rdmadoctor" || !strings.HasPrefix(filepath.Base(dir), "rdmadoctor.") {
		return fmt.Errorf("remove own copy: %q is none", file)
	}
	if err := os.Remove(file); err != nil {
		return fmt.Errorf("remove own copy: %w", err)
	}
	if err := os.Remove(dir); err != nil { // Only where nothing else is in it.
		return fmt.Errorf("remove own copy: %w", err)
	}
	return nil
}
