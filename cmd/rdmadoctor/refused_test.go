package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// Command lines that ask for what cannot be meant are refused, and what they
// name stays as it was.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "host.tar.gz")
	if out, err := command(t.Context(), "record", "--interval", "0s", "-o", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"record", "--every", "0s", "-o", filepath.Join(dir, "fdr")}, "--every 0s"},
		{[]string{"record", "--keep", "1h", "-o", file}, "--keep needs --every"},
		{[]string{"record", "--for", "1h", "-o", file}, "--for needs --every"},
		{[]string{"anonymise", file, file}, "overwritten by itself"},
	} {
		c := command(t.Context(), test.args...)
		out, _ := c.CombinedOutput() // The exit code is judged below.
		if code := c.ProcessState.ExitCode(); code != report.ExitUsage || !strings.Contains(string(out), test.says) {
			t.Errorf("%q: got exit code %d, %s; want %d with %q", test.args, code, out, report.ExitUsage, test.says)
		}
	}
	after, err := os.ReadFile(file)
	if err != nil || string(after) != string(before) {
		t.Errorf("the recording was changed: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
