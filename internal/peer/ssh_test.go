package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// fakeSSH is a client that runs the command here, after what the test wants.
// Its last argument is the command.
func fakeSSH(t *testing.T, before string) SSH {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "ssh")
	text := "#!/bin/sh\n" + before + "\nfor last; do :; done\nexec ${FAKE_SHELL:-sh} -c \"$last\"\n"
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", os.Getenv("TMPDIR"))
	return SSH{Host: "far", Binary: os.Args[0], Argv: []string{file}, Begin: 30 * time.Second}
}

// left lists what is left in the place where the copy was.
func left(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "rdmadoctor.*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func examined(t *testing.T, s SSH) {
	t.Helper()
	ctx := within(t, 60*time.Second)
	conn, _, err := s.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Connect(ctx, conn, "test")
	if err != nil {
		t.Fatal(err)
	}
	if p.Hello.Hostname != "far" {
		t.Errorf("it says %+v of itself", p.Hello)
	}
	if r := p.Run(ctx, pairOf("far", exchange)); r.Near.End.Outcome != facts.Completed || r.Far.End.Outcome != facts.Completed {
		t.Errorf("near %+v, far %+v", r.Near.End, r.Far.End)
	}
	if names := left(t); len(names) > 0 { // It has removed itself.
		t.Errorf("while it runs there is %q", names)
	}
	if err := p.Close(); err != nil {
		t.Log(err)
	}
	if names := left(t); len(names) > 0 {
		t.Errorf("it left %q behind", names)
	}
}

func TestSSHThroughShells(t *testing.T) {
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "fish", "tcsh", "csh", "busybox sh", "mksh"} {
		if _, err := exec.LookPath(strings.Fields(shell)[0]); err != nil {
			continue
		}
		t.Run(shell, func(t *testing.T) {
			t.Setenv("FAKE_SHELL", shell)
			examined(t, fakeSSH(t, ""))
		})
	}
}

func TestSSHThroughNoise(t *testing.T) {
	examined(t, fakeSSH(t, `echo "Welcome to the cluster"; printf '\033[31mno newline at the end'; echo motd >&2`))
}

// The options given to ssh: no terminal, nothing forwarded, no question, and a
// host that cannot be taken for an option.
func TestSSHArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "args")
	s := fakeSSH(t, `printf '%s\n' "$@" > `+file+`; exit 255`)
	_, _, _ = s.Start(within(t, 20*time.Second))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(string(text), "\n")
	want := []string{"-T", "-a", "-x", "-o", "ClearAllForwardings=yes", "-o", "BatchMode=yes", "--", "far"}
	if len(args) < len(want) || !slices.Equal(args[:len(want)], want) {
		t.Errorf("arguments %q, want %q", args, want)
	}
	for _, host := range []string{"", "-oProxyCommand=touch /tmp/x", "a b", "a'b"} {
		s.Host = host
		if _, _, err := s.Start(context.Background()); err == nil {
			t.Errorf("it went to %q", host)
		}
	}
}

func TestSSHFails(t *testing.T) {
	tools := func(t *testing.T, without string) string {
		dir := t.TempDir()
		for _, tool := range []string{"mktemp", "head", "chmod", "wc", "rm", "uname", "sh"} {
			if path, err := exec.LookPath(tool); err == nil && tool != without {
				if err := os.Symlink(path, filepath.Join(dir, tool)); err != nil {
					t.Fatal(err)
				}
			}
		}
		return "PATH=" + dir + "; export PATH"
	}
	for name, test := range map[string]struct {
		before func(*testing.T) string
		change func(*SSH)
		want   string
		hint   string
	}{
		"no key":          {func(*testing.T) string { return "echo 'u@far: Permission denied (publickey).' >&2; exit 255" }, nil, "may not log in", "try ssh far true"},
		"unknown host":    {func(*testing.T) string { return "echo 'ssh: Could not resolve hostname far' >&2; exit 255" }, nil, "name is not known", ""},
		"host key":        {func(*testing.T) string { return "echo 'Host key verification failed.' >&2; exit 255" }, nil, "host key", "try ssh far true"},
		"nologin":         {func(*testing.T) string { return "echo 'This account is currently not available.'; exit 1" }, nil, "not available", "try ssh far true"},
		"no mktemp":       {func(t *testing.T) string { return tools(t, "mktemp") }, nil, `no "mktemp" there`, "coreutils"},
		"another machine": {func(*testing.T) string { return ":" }, func(s *SSH) { s.Machine = "s390x" }, "for Linux s390x", "agent --listen"},
		"noise without end": {func(*testing.T) string {
			return "while echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; do :; done"
		}, nil,
			"prints without end", "login script"},
		"it hangs":      {func(*testing.T) string { return "echo hello; exec sleep 60" }, func(s *SSH) { s.Begin = time.Second }, `printed "hello"`, "true"},
		"it is no ELF":  {func(*testing.T) string { return ":" }, func(s *SSH) { s.Binary = "start.sh" }, "does not run there", "glibc"},
		"no such file":  {func(*testing.T) string { return ":" }, func(s *SSH) { s.Binary = "absent" }, "copy this binary", ""},
		"no client":     {func(*testing.T) string { return ":" }, func(s *SSH) { s.Argv = []string{"/nonexistent/ssh"} }, "run /nonexistent/ssh", "openssh-client"},
		"no room there": {func(*testing.T) string { return "ulimit -f 8" }, nil, "cut off", "space"},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakeSSH(t, test.before(t))
			if test.change != nil {
				test.change(&s)
			}
			_, _, err := s.Start(within(t, 40*time.Second))
			if err == nil {
				t.Fatal("it began")
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
			var failed *StartError
			if errors.As(err, &failed) && !strings.Contains(failed.Hint, test.hint) {
				t.Errorf("the hint is %q, want %q", failed.Hint, test.hint)
			}
			if names := left(t); len(names) > 0 {
				t.Errorf("it left %q behind", names)
			}
		})
	}
}

// A folder from which nothing may be run is passed over, and said.
func TestSSHNoexec(t *testing.T) {
	s := fakeSSH(t, "")
	home := t.TempDir()
	t.Setenv("HOME", home)
	// A mktemp that gives folders of a mount without exec cannot be had without
	// root, so one whose folders cannot be written stands for it.
	t.Setenv("TMPDIR", "/proc")
	conn, notes, err := s.Start(within(t, 40*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if len(notes) != 0 {
		t.Errorf("it says %q of folders that cannot be written", notes)
	}
}

// The copy is gone although everything that runs there is killed.
func TestSSHKilled(t *testing.T) {
	s := fakeSSH(t, "")
	conn, _, err := s.Start(within(t, 40*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := Connect(within(t, 20*time.Second), conn, "test"); err != nil {
		t.Fatal(err)
	}
	if names := left(t); len(names) > 0 {
		t.Errorf("after a kill there would be %q", names)
	}
}

func TestSSHInterrupted(t *testing.T) {
	s := fakeSSH(t, "exec sleep 60")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, _, err := s.Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// FuzzBoot is a far host that prints anything before there is a far end.
func FuzzBoot(f *testing.F) {
	f.Add("rdmadoctor-n ready Linux x86_64\nrdmadoctor-n copied\n" + Ready + "\n")
	f.Add("motd rdmadoctor-n ready Linux x86_64 /tmp:noexec\n")
	f.Add("rdmadoctor-n missing mktemp\n")
	f.Add("rdmadoctor-n ready\n")
	f.Add("rdmadoctor-n short 12 /tmp/x\n\xff\x1b[2J")
	f.Fuzz(func(t *testing.T, text string) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_, _ = r.Close(), w.Close() // Nothing takes the copy.
		b := &boot{ssh: SSH{Host: "far", Machine: "x86_64"}, client: &client{in: w, said: &lastWords{}}, nonce: "n",
			out: bufio.NewReaderSize(strings.NewReader(text), maxLine)}
		notes, err := b.run(strings.NewReader(""), 0)
		if err != nil {
			err = b.explain(err, false)
		}
		if said := fmt.Sprint(err, notes); len(said) > 8<<10 {
			t.Errorf("%d bytes of words", len(said))
		}
	})
}
