package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// What check kept of its own examination is judged as the examination was.
func TestCheckRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "host.tar.gz")
	live, _ := checked(t, "check", "--json", "--interval", "0s", "--record", file)
	if live.Snapshot != nil {
		t.Error("the report has a snapshot that nobody asked for")
	}
	again, _ := checked(t, "check", "--json", "--from", file)
	if again.Summary.ExitCode != live.Summary.ExitCode || len(again.Checks) != len(live.Checks) || len(live.Checks) == 0 {
		t.Errorf("recording: got %+v, want as live %+v", again.Summary, live.Summary)
	}
	for i, d := range live.Diagnoses {
		if i >= len(again.Diagnoses) || again.Diagnoses[i].Code != d.Code || again.Diagnoses[i].Subject != d.Subject {
			t.Errorf("diagnosis %d of the recording is not %s %s", i, d.Code, d.Subject)
		}
	}
	both, _ := checked(t, "check", "--json", "--interval", "0s", "--snapshot", "--record", file)
	if both.Snapshot == nil {
		t.Error("--snapshot with --record: no snapshot in the report")
	}
}

// A recording that cannot be made is said before anything is read, and leaves
// nothing behind.
func TestCheckRecordRefused(t *testing.T) {
	dir := t.TempDir()
	for _, args := range [][]string{
		{"--record", "-"},
		{"--record", filepath.Join(dir, "absent", "host.tar.gz")},
		{"--record", dir},
		{"--record", filepath.Join(dir, "a"), "--from", dir},
		{"--record", filepath.Join(dir, "a"), "--output", dir + "/./a"},
	} {
		d, code := checked(t, append([]string{"check", "--json"}, args...)...)
		if code != report.ExitUsage || d.Error == nil || d.Error.Kind != report.UsageError || len(d.Checks) > 0 {
			t.Errorf("%q: got exit code %d, error %+v, want a usage error", args, code, d.Error)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// checked runs the program and reads its JSON report.
func checked(t *testing.T, args ...string) (*report.Document, int) {
	t.Helper()
	c := command(t.Context(), args...)
	out, _ := c.Output() // The exit code is judged below.
	var d report.Document
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&d); err != nil {
		t.Fatalf("%q: %v in %q", args, err, out)
	}
	return &d, c.ProcessState.ExitCode()
}
