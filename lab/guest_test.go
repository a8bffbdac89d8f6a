package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// needLab skips a test that boots guests with -short and where something is
// missing, unless RDMADOCTOR_REQUIRE=lab forbids that. It returns the kernel.
func needLab(t *testing.T, series string) kernels.Kernel {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a guest, left out with -short")
	}
	k, err := Ready(t.Context(), series)
	if err == nil {
		return k
	}
	if Required() {
		t.Fatalf("%s=lab, and the lab cannot run: %v", RequireEnv, err)
	}
	t.Skipf("the lab cannot run here: %v", err)
	return k
}

// bootTest boots a guest that is closed when the test ends.
func bootTest(t *testing.T, o Options) *Guest {
	t.Helper()
	start := time.Now()
	g, err := Boot(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s booted in %v", g.Release, time.Since(start).Round(100*time.Millisecond))
	t.Cleanup(func() { g.Close() })
	return g
}

func TestGuest(t *testing.T) {
	for _, series := range kernels.Series() {
		t.Run(series, func(t *testing.T) {
			k := needLab(t, series)
			tool := filepath.Join(t.TempDir(), "lab-tool")
			script := "#!/bin/sh\necho \"$0 $1\"\n"
			if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			g := bootTest(t, Options{Kernel: k, Tools: []string{tool}})
			t.Run("run", func(t *testing.T) { testRun(t, g) })
			t.Run("timeout", func(t *testing.T) { testTimeout(t, g) })
			t.Run("start", func(t *testing.T) { testStart(t, g) })
			t.Run("files", func(t *testing.T) { testFiles(t, g) })
			t.Run("terminal", func(t *testing.T) { testTerminal(t, g) })
			t.Run("concurrent", func(t *testing.T) { testConcurrent(t, g) })
			t.Run("reset", func(t *testing.T) { testReset(t, g) })
			t.Run("dirty", func(t *testing.T) { testDirty(t, g) })
		})
	}
}

func testRun(t *testing.T, g *Guest) {
	tests := []struct {
		name           string
		cmd            Cmd
		code           int
		stdout, stderr string
	}{
		{"success", Cmd{Argv: []string{"true"}}, 0, "", ""},
		{"exit code, both outputs",
			Cmd{Script: "echo out; echo err >&2; exit 7"}, 7, "out\n", "err\n"},
		{"input", Cmd{Argv: []string{"wc", "-c"}, Stdin: make([]byte, 3<<20)}, 0,
			"3145728\n", ""},
		{"signal", Cmd{Script: "kill -TERM $$"}, 143, "", ""},
		{"user", Cmd{Argv: []string{"id", "-un"}, User: "nobody"}, 0, "nobody\n", ""},
		{"environment", Cmd{Script: "echo $A", Env: []string{"A=b c"}}, 0, "b c\n", ""},
		{"directory", Cmd{Argv: []string{"pwd"}, Dir: "/usr"}, 0, "/usr\n", ""},
		{"cgroup", Cmd{Script: "cat /proc/self/cgroup", Cgroup: "lab/a"}, 0,
			"0::/lab/a\n", ""},
		{"kernel", Cmd{Argv: []string{"uname", "-r"}}, 0, g.Release + "\n", ""},
		{"tool", Cmd{Argv: []string{"lab-tool", "x"}}, 0, "/lab/bin/lab-tool x\n", ""},
		{"background process holds output",
			Cmd{Script: "sleep 1000 & echo started"}, 0, "started\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := g.Run(t.Context(), tt.cmd)
			if err != nil {
				t.Fatal(err)
			}
			if r.ExitCode != tt.code || string(r.Stdout) != tt.stdout ||
				string(r.Stderr) != tt.stderr {
				t.Errorf("got %d, %q, %q, want %d, %q, %q", r.ExitCode, r.Stdout,
					r.Stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
	t.Run("absent program", func(t *testing.T) {
		r, err := g.Run(t.Context(), Cmd{Argv: []string{"no-such-program"}})
		if err != nil {
			t.Fatal(err)
		}
		if r.ExitCode != 127 || !strings.Contains(string(r.Stderr), "not found") {
			t.Errorf("got %d, %q, want 127 and why", r.ExitCode, r.Stderr)
		}
	})
}

func testTimeout(t *testing.T, g *Guest) {
	r, err := g.Run(t.Context(), Cmd{Script: "sleep 1000 | cat",
		Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if !r.TimedOut || r.ExitCode != 137 {
		t.Errorf("got exit code %d, timed out %t, want 137, true", r.ExitCode,
			r.TimedOut)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if _, err := g.Run(ctx, Cmd{Script: "sleep 1000"}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got %v, want context.Canceled", err)
	}
}

func testStart(t *testing.T, g *Guest) {
	var out limitedBuffer
	p, err := g.Start(Cmd{Script: "echo on; exec sleep 1000"}, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); len(out.Bytes()) == 0; {
		if time.Now().After(end) {
			t.Fatal("no output of a started program")
		}
		time.Sleep(10 * time.Millisecond)
	}
	if !p.Running() {
		t.Error("program has ended by itself")
	}
	if err := p.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Running() {
		t.Error("program runs after it was killed")
	}
}

func testFiles(t *testing.T, g *Guest) {
	want := strings.Repeat("a\x00\xff\n", 1<<19)
	if err := g.Put(t.Context(), "/tmp/f", 0o640, []byte(want)); err != nil {
		t.Fatal(err)
	}
	got, err := g.Get(t.Context(), "/tmp/f")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got %d bytes that differ from the %d put", len(got), len(want))
	}
	r, err := g.Run(t.Context(), Cmd{Argv: []string{"stat", "-c", "%a", "/tmp/f"}})
	if err != nil || string(r.Stdout) != "640\n" {
		t.Errorf("mode: got %q, %v, want 640", r.Stdout, err)
	}
	if _, err := g.Get(t.Context(), "/no/file"); err == nil {
		t.Error("get of an absent file: got no error")
	}
	if err := g.Put(t.Context(), "/no/file", 0o600, nil); err == nil {
		t.Error("put into an absent folder: got no error")
	}
}

func testConcurrent(t *testing.T, g *Guest) {
	var wait sync.WaitGroup
	for _, text := range []string{"a", "b", "c", "d", "e", "f"} {
		wait.Go(func() {
			r, err := g.Run(t.Context(), Cmd{Argv: []string{"cat"},
				Stdin: []byte(strings.Repeat(text, 100_000))})
			if err != nil || strings.Trim(string(r.Stdout), text) != "" ||
				len(r.Stdout) != 100_000 {
				t.Errorf("%s: got %d bytes, %v", text, len(r.Stdout), err)
			}
		})
	}
	wait.Wait()
}

// testTerminal runs a program on a terminal, types, and changes its size.
func testTerminal(t *testing.T, g *Guest) {
	var out limitedBuffer
	p, err := g.Start(Cmd{Terminal: &wire.Size{Rows: 30, Columns: 100},
		Script: `test -t 0 && test -t 1 && stty size
			trap 'stty size; exit 3' WINCH
			read word; echo "got $word"
			while :; do sleep 0.1; done`}, &out, nil)
	if err != nil {
		t.Fatal(err)
	}
	wait := func(want string) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); ; {
			if strings.Contains(string(out.Bytes()), want) {
				return
			} else if time.Now().After(end) {
				t.Fatalf("got %q, want %q in it", out.Bytes(), want)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	wait("30 100\r\n")
	p.Write([]byte("key\n"))
	wait("got key\r\n")
	if err := p.Resize(wire.Size{Rows: 40, Columns: 120}); err != nil {
		t.Fatal(err)
	}
	r, err := p.Wait(t.Context())
	if err != nil || r.ExitCode != 3 {
		t.Errorf("got exit code %d, %v, want 3", r.ExitCode, err)
	}
	wait("40 120\r\n")
}
