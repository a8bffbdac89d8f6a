package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/flight"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// recorder starts a flight recorder and waits until it has written samples.
func recorder(t *testing.T, dir string, samples int) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c := command(ctx, "record", "--every", "1s", "-o", dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for have := 0; have < samples; {
		if ctx.Err() != nil {
			t.Fatal("the recorder wrote no sample")
		}
		time.Sleep(50 * time.Millisecond)
		have = recorded(dir)
	}
	return c
}

// recorded counts the samples that can be read.
func recorded(dir string) (n int) {
	r, err := flight.Open(dir)
	if err != nil {
		return 0
	}
	for range r.Samples(time.Time{}) {
		n++
	}
	return n
}

// To be told to end is how a recorder ends well, and one that is killed leaves
// what it had written.
func TestRecorderEnds(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(sig.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "fdr")
			c := recorder(t, dir, 2)
			if err := c.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			err := c.Wait()
			if killed := sig == syscall.SIGKILL; (err != nil) != killed {
				t.Errorf("ended with %v", err)
			}
			if n := recorded(dir); n < 2 {
				t.Errorf("%d samples are left, want at least 2", n)
			}
			// The next one goes on.
			recorder(t, dir, 3)
		})
	}
}

func TestOneRecorder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "fdr")
	recorder(t, dir, 1)
	out, err := command(t.Context(), "record", "--every", "1s", "-o", dir).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != report.ExitUsage || !strings.Contains(string(out), "writes it already") {
		t.Errorf("a second recorder: %v: %s", err, out)
	}
}

// Ctrl-C is the end of a watch, not an interruption of it.
func TestWatchEnds(t *testing.T) {
	s, err := published("message.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := command(ctx, "check", "--watch", "--interval", "200ms", "--format", "jsonl")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	rates, last := 0, ""
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if err := valid(s, line); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, `{"rates":`) {
			if rates++; rates == 3 {
				if err := c.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
			}
		}
		last = line
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code > report.ExitUnknown || strings.Contains(last, "interrupted") {
		t.Errorf("exit %d, summary %s: want a verdict", code, last)
	}
	if rates < 3 || !strings.HasPrefix(last, `{"summary":`) {
		t.Errorf("%d rates, the last line is %q", rates, last)
	}
}

func TestParseSince(t *testing.T) {
	zone := time.FixedZone("CET", 3600)
	now := time.Date(2026, 11, 29, 14, 30, 0, 0, zone)
	for word, want := range map[string]time.Time{
		"02:00":                     time.Date(2026, 11, 29, 2, 0, 0, 0, zone),
		"14:30":                     now,
		"14:31":                     time.Date(2026, 11, 28, 14, 31, 0, 0, zone),
		"02:00:30":                  time.Date(2026, 11, 29, 2, 0, 30, 0, zone),
		"90m":                       time.Date(2026, 11, 29, 13, 0, 0, 0, zone),
		"0s":                        now,
		"2026-11-28 02:00":          time.Date(2026, 11, 28, 2, 0, 0, 0, zone),
		"2026-11-28T02:00":          time.Date(2026, 11, 28, 2, 0, 0, 0, zone),
		"2026-11-28 02:00:30":       time.Date(2026, 11, 28, 2, 0, 30, 0, zone),
		"2026-11-28 02:00:30 CET":   time.Date(2026, 11, 28, 2, 0, 30, 0, zone),
		"2026-11-28 02:00:30 UTC":   time.Date(2026, 11, 28, 2, 0, 30, 0, time.UTC),
		"2026-11-29T02:00:00Z":      time.Date(2026, 11, 29, 2, 0, 0, 0, time.UTC),
		"2026-11-29T02:00:00+05:30": time.Date(2026, 11, 28, 20, 30, 0, 0, time.UTC),
	} {
		if got, err := parseSince(word, now); err != nil || !got.Equal(want) {
			t.Errorf("parseSince(%q) = %v (%v), want %v", word, got, err, want)
		}
	}
	for _, word := range []string{"", "noon", "25:00", "-1h", "2026-11-29", "02:00 yesterday", "2026-11-28 02:00:30 PST"} {
		if got, err := parseSince(word, now); err == nil {
			t.Errorf("parseSince(%q) = %v, want an error", word, got)
		}
	}
}

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{"256M": 256 << 20, "1G": 1 << 30, "64MiB": 64 << 20, "8388608": 8 << 20, "9k": 9 << 10} {
		var s byteSize
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("Set(%q) = %d (%v), want %d", text, s, err, want)
		}
	}
	for _, text := range []string{"", "M", "-1M", "0", "1.5G", "99999999999G"} {
		var s byteSize
		if s.Set(text) == nil {
			t.Errorf("Set(%q) = %v, want an error", text, &s)
		}
	}
	if s := byteSize(256 << 20); s.String() != "256M" {
		t.Errorf("256 MiB is %s", &s)
	}
}
