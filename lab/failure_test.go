package lab

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNeverBooted boots guests whose first process does not work.
func TestNeverBooted(t *testing.T) {
	k := needLab(t, "6.1")
	tmp := ownFolder(t)
	tests := []struct {
		name, init string
		limit      time.Duration
		want       string // of the message
	}{
		{"init fails", "#!/no/such/interpreter\n", 0, "virtual machine ended"},
		{"init not reached", "", 200 * time.Millisecond, "no answer in 200ms"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Kernel: k, BootLimit: tt.limit}
			if tt.init != "" {
				o.init = []byte(tt.init)
			}
			g, err := Boot(t.Context(), o)
			if err == nil {
				g.Close()
				t.Fatal("got a guest, want none")
			}
			if !errors.Is(err, ErrNeverBooted) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want ErrNeverBooted with %q", err, tt.want)
			}
		})
	}
	noMachine(t, tmp)
}

// TestFailures breaks running guests and asks for their names.
func TestFailures(t *testing.T) {
	k := needLab(t, "6.1")
	tmp := ownFolder(t)
	tests := []struct {
		name    string
		limit   time.Duration // of silence
		harm    harm
		want    error
		console string // that the report must quote
	}{
		{"paused by its machine", 3 * time.Second, func(g *Guest) error {
			return g.monitor.execute("stop")
		}, ErrHung, ""},
		{"machine stopped by a signal", 3 * time.Second, func(g *Guest) error {
			return syscall.Kill(g.machine.pid, syscall.SIGSTOP)
		}, ErrHung, ""},
		{"channel taken away", 0, inGuest("echo virtio0 virtio1 virtio2 virtio3 | " +
			"tr ' ' '\\n' | while read d; do " +
			"echo $d > /sys/bus/virtio/drivers/virtio_console/unbind; done"),
			ErrChannelLost, ""},
		{"kernel panic", 0, inGuest("echo c > /proc/sysrq-trigger"), ErrDied,
			"sysrq triggered crash"},
		{"switched off", 0, inGuest("echo o > /proc/sysrq-trigger"), ErrDied, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := bootTest(t, Options{Kernel: k, HangLimit: tt.limit})
			p, err := g.Start(Cmd{Script: "sleep 1000", Timeout: time.Hour}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := tt.harm(g); err != nil {
				t.Fatal(err)
			}
			_, err = p.Wait(t.Context())
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if !strings.Contains(err.Error(), tt.console) {
				t.Errorf("got %v, want %q of the console in it", err, tt.console)
			}
			if err := g.Reset(t.Context()); !errors.Is(err, tt.want) {
				t.Errorf("reset after: got %v, want %v", err, tt.want)
			}
		})
	}
	noMachine(t, tmp)
}

// harm breaks a guest.
type harm func(*Guest) error

// inGuest breaks a guest by a script that runs in it and may not end.
func inGuest(script string) harm {
	return func(g *Guest) error {
		_, err := g.Start(Cmd{Script: script}, nil, nil)
		return err
	}
}

// killedEnv makes the test binary the process that TestParentKilled kills.
const killedEnv = "RDMADOCTOR_LAB_TEST_BOOT"

// TestParentKilled boots a guest in another process, kills that process as
// nothing can prepare for, and looks for the machine.
func TestParentKilled(t *testing.T) {
	k := needLab(t, "6.1")
	if os.Getenv(killedEnv) != "" {
		bootTest(t, Options{Kernel: k})
		os.Stdout.WriteString("booted\n")
		time.Sleep(time.Minute)
		return
	}
	tmp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestParentKilled$")
	cmd.Env = append(os.Environ(), killedEnv+"=1", "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, len("booted\n"))
	if _, err := out.Read(line); err != nil || string(line) != "booted\n" {
		t.Fatalf("process that boots: %q, %v", line, err)
	}
	if n := len(machines(t, tmp)); n != 1 {
		t.Errorf("while it runs: got %d machines, want 1", n)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for end := time.Now().Add(10 * time.Second); len(machines(t, tmp)) > 0; {
		if time.Now().After(end) {
			t.Fatalf("machine runs on: %q", machines(t, tmp))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ownFolder makes guests keep their files where those of other runs on this
// machine do not.
func ownFolder(t *testing.T) string {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	return tmp
}

// noMachine checks that no machine with files in tmp is left, and no file.
func noMachine(t *testing.T, tmp string) {
	t.Helper()
	if left := machines(t, tmp); len(left) > 0 {
		t.Errorf("machines left: %q", left)
	}
	if left, err := filepath.Glob(tmp + "/rdmadoctor-*"); err != nil || len(left) > 0 {
		t.Errorf("files left: %q, %v", left, err)
	}
}

// machines lists the command lines of every QEMU that runs with files below
// dir.
func machines(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // It has ended meanwhile.
		}
		line := strings.ReplaceAll(string(b), "\x00", " ")
		if strings.HasPrefix(filepath.Base(strings.Fields(line + " -")[0]),
			"qemu-system") && strings.Contains(line, dir) {
			found = append(found, line)
		}
	}
	return found
}
