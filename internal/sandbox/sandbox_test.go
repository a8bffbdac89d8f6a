package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What cannot be undone is done in a process of its own: the test binary with
// this variable set.
const inside = "RDMADOCTOR_TEST_SANDBOX"

// saw is what a process in a sandbox could do.
type saw struct {
	Report  Report
	Exec    syscall.Errno
	Write   syscall.Errno // of a new file in the folder
	Read    syscall.Errno // of a file in it
	Null    syscall.Errno // writing to /dev/null
	Child   string        // what a child said that was started
	Threads int           // that could do what none should
}

func TestMain(m *testing.M) {
	dir := os.Getenv(inside)
	if dir == "" {
		os.Exit(m.Run())
	}
	var s saw
	switch {
	case len(os.Args) > 1 && os.Args[1] == "rerun":
		r, environ := Rerun(os.Args, os.Environ())
		s.Report = r
		for _, v := range append(environ, os.Environ()...) {
			if strings.HasPrefix(v, mark) {
				s.Child = "the mark is still there"
			}
		}
		wrote := make(chan bool)
		for range 8 { // Any thread.
			go func() {
				runtime.LockOSThread()
				wrote <- os.WriteFile(filepath.Join(dir, "thread"), nil, 0o600) == nil
			}()
		}
		for range 8 {
			if <-wrote {
				s.Threads++
			}
		}
	case len(os.Args) > 1 && os.Args[1] == "restrict":
		runtime.LockOSThread()
		s.Report = Restrict()
		c := exec.Command("/bin/sh", "-c", "echo x > "+dir+"/child; cat "+dir+"/there; echo y > /dev/null && echo null")
		out, _ := c.CombinedOutput() // Forked by this thread.
		s.Child = string(out)
	default:
		busy, free := make(chan bool), make(chan bool)
		for range 8 { // Threads that are there before.
			go func() {
				runtime.LockOSThread()
				<-busy
				if errno(syscall.Exec("/bin/true", []string{"true"}, nil)) != syscall.EPERM {
					s.Threads++
				}
				free <- true
			}()
		}
		s.Report = Seal()
		for range 8 {
			busy <- true
			<-free
		}
		s.Exec = errno(exec.Command("/bin/true").Run())
	}
	s.Write = errno(os.WriteFile(filepath.Join(dir, "own"), nil, 0o600))
	_, err := os.ReadFile(filepath.Join(dir, "there"))
	s.Read = errno(err)
	s.Null = errno(os.WriteFile("/dev/null", []byte("x"), 0))
	_ = json.NewEncoder(os.Stdout).Encode(s)
	os.Exit(0)
}

func errno(err error) syscall.Errno {
	var e syscall.Errno
	if err != nil && !errors.As(err, &e) {
		return syscall.EIO
	}
	return e
}

// within runs the test binary in a sandbox.
func within(t *testing.T, args ...string) saw {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "there"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], args...)
	c.Env = append(os.Environ(), inside+"="+dir)
	out, err := c.Output()
	var s saw
	if err != nil || json.Unmarshal(out, &s) != nil {
		t.Fatalf("%v: %q", err, out)
	}
	return s
}

func TestSeal(t *testing.T) {
	s := within(t)
	if !s.Report.Seccomp {
		t.Skipf("no seccomp here: %v", s.Report)
	}
	if s.Exec != syscall.EPERM || s.Threads != 0 {
		t.Errorf("running a program gave %v, on %d older threads it was not refused", s.Exec, s.Threads)
	}
	if s.Read != 0 || s.Write != 0 { // The files are Landlock's business.
		t.Errorf("read %v, write %v", s.Read, s.Write)
	}
}

func TestRestrict(t *testing.T) {
	s := within(t, "restrict")
	if s.Report.Landlock == 0 {
		if len(s.Report.Lacks) == 0 || !strings.Contains(s.Report.String(), "without Landlock") {
			t.Errorf("it does not say what it lacks: %v", s.Report)
		}
		t.Skipf("no Landlock here: %v", s.Report)
	}
	if s.Read != 0 || s.Write != syscall.EACCES || s.Null != 0 {
		t.Errorf("read %v, write %v, /dev/null %v", s.Read, s.Write, s.Null)
	}
	if !strings.Contains(s.Child, "text\nnull\n") || strings.Count(s.Child, "\n") < 3 {
		t.Errorf("a child could do %q", s.Child)
	}
}

// A process that runs itself again is restricted on every thread.
func TestRerun(t *testing.T) {
	s := within(t, "rerun")
	if s.Report.Landlock == 0 {
		t.Skipf("no Landlock here: %v", s.Report)
	}
	if s.Write != syscall.EACCES || s.Read != 0 || s.Threads != 0 || s.Child != "" {
		t.Errorf("write %v, read %v, %d threads could write, %s", s.Write, s.Read, s.Threads, s.Child)
	}
}

// The filter is walked by hand: every call that is named is refused, and no
// other.
func TestFilter(t *testing.T) {
	p := program()
	if p == nil {
		t.Skip("not written for this architecture")
	}
	refused := map[uint32]bool{}
	for _, n := range forbidden {
		refused[n] = true
	}
	for n := range uint32(600) {
		want := uint32(unix.SECCOMP_RET_ALLOW)
		if refused[n] {
			want = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
		}
		if got := walk(t, p, n, auditArch); got != want {
			t.Errorf("call %d: %#x, want %#x", n, got, want)
		}
	}
	for _, other := range []struct{ number, arch uint32 }{{0, unix.AUDIT_ARCH_I386}, {x32Bit | 1, auditArch}} {
		if got := walk(t, p, other.number, other.arch); got != unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM) {
			t.Errorf("call %#x of architecture %#x: %#x", other.number, other.arch, got)
		}
	}
}

// walk runs a filter as the kernel does.
func walk(t *testing.T, p []unix.SockFilter, number, arch uint32) uint32 {
	t.Helper()
	var a uint32
	for i := 0; i < len(p); i++ {
		switch ins := p[i]; ins.Code {
		case unix.BPF_LD | unix.BPF_W | unix.BPF_ABS:
			a = map[uint32]uint32{dataNumber: number, dataArch: arch}[ins.K]
		case unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K:
			i += jump(a == ins.K, ins)
		case unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K:
			i += jump(a >= ins.K, ins)
		case unix.BPF_RET | unix.BPF_K:
			return ins.K
		default:
			t.Fatalf("instruction %d: code %#x", i, ins.Code)
		}
	}
	t.Fatal("the filter has no end")
	return 0
}

func jump(taken bool, ins unix.SockFilter) int {
	if taken {
		return int(ins.Jt)
	}
	return int(ins.Jf)
}
