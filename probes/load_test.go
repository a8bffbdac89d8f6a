package probes

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

const statText = "cpu  100 10 50 1000 5 2 3 7 0 0\ncpu0 50 5 25 500 2 1 1 3 0 0\ncpu1 50 5 25 500 3 1 2 4 0 0\nintr 5\nctxt 9\n"

func processStat(name string, flags, user, system int) string {
	return "812 (" + name + ") R 1 812 812 0 -1 " + strconv.Itoa(flags) + " 0 0 0 0 " + strconv.Itoa(user) + " " + strconv.Itoa(system) + " 0 0 20 0 1 0\n"
}

func TestParseStat(t *testing.T) {
	busy, stolen, n, err := parseStat(statText)
	if err != nil || busy != 165 || stolen != 7 || n != 2 {
		t.Errorf("%d %d %d %v", busy, stolen, n, err)
	}
	for _, bad := range []string{"", "cpu", "cpu 1 2\n", "cpu0 1\n", "cpu x\ncpu0 1\n", "cpu 99999999999999999999\ncpu0\n", statText[:20]} {
		if _, _, _, err := parseStat(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestParseProcessStat(t *testing.T) {
	comm, took, kernel, err := parseProcessStat(processStat("a) (b", 4194304, 30, 12))
	if err != nil || comm != "a) (b" || took != 42 || kernel {
		t.Errorf("%q %d %t %v", comm, took, kernel, err)
	}
	if _, _, kernel, err = parseProcessStat(processStat("kworker/0:1", 69238880, 0, 1)); err != nil || !kernel {
		t.Errorf("a kernel thread: %t %v", kernel, err)
	}
	whole := processStat("x", 0, 1, 1)
	for _, bad := range []string{"", "812 (x", "812 x) R", ")(", "812 (x) R 1 2", strings.Replace(whole, " 1 1 0 0 20", " -1 1 0 0 20", 1), whole[:24]} {
		if _, _, _, err := parseProcessStat(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestLoadSince reads a constructed /proc twice.
func TestLoadSince(t *testing.T) {
	proc := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(proc, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(proc, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func() Load {
		t.Helper()
		l, err := ReadLoad(proc, "rdmadoctor")
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	put("stat", statText)
	put("812/stat", processStat("stress", 0, 100, 0))
	put("9/stat", processStat("kworker/0:1", kernelThread, 10, 0))
	put("40/stat", processStat("rdmadoctor", 0, 10, 10))
	put("self/stat", "not a number")
	before := read()
	put("stat", strings.Replace(statText, "cpu  100", "cpu  300", 1))
	put("812/stat", processStat("stress", 0, 190, 10))
	put("813/stat", processStat("new", 0, 20, 0))
	put("9/stat", processStat("kworker/0:1", kernelThread, 900, 0))
	put("40/stat", processStat("rdmadoctor", 0, 60, 10))
	put("77/stat", "cut of")
	got := read().Since(before)
	got.Elapsed = 0
	want := facts.HostLoad{Processors: 2, Busy: 2 * time.Second, Own: 500 * time.Millisecond, Top: "stress (pid 812)", TopTime: time.Second}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := ReadLoad(filepath.Join(proc, "none")); err == nil {
		t.Error("a host without /proc has a load")
	}
}

func FuzzParseLoad(f *testing.F) {
	f.Add(statText)
	f.Add(processStat("x) (y", 0, 1, 1))
	f.Add("cpu  18446744073709551615\ncpu0\n")
	f.Fuzz(func(t *testing.T, text string) {
		if busy, stolen, n, err := parseStat(text); err == nil && (n <= 0 || span(0, busy) < 0 || span(stolen, busy) < 0) {
			t.Errorf("%d %d %d", busy, stolen, n)
		}
		if comm, took, _, err := parseProcessStat(text); err == nil && (span(0, took) < 0 || !strings.Contains(text, comm)) {
			t.Errorf("%q %d", comm, took)
		}
	})
}
