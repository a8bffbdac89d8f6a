package peer

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// sshd is a real server of OpenSSH on the loopback address, with keys of its
// own, and the client's configuration for it: "far" is it, "hop" is it through
// itself.
func sshd(t *testing.T) SSH {
	t.Helper()
	server, err := exec.LookPath("/usr/sbin/sshd")
	if err == nil {
		_, err = exec.LookPath("ssh")
	}
	if err != nil {
		if os.Getenv("RDMADOCTOR_REQUIRE") != "" {
			t.Fatalf("RDMADOCTOR_REQUIRE wants every test: %v", err)
		}
		t.Skip(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // Where its service makes it.
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for _, key := range []string{"host", "user", "other"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key)).CombinedOutput(); err != nil {
			t.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	write := func(name, text string) {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("sshd_config", fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nPidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nSetEnv TMPDIR=%s\n",
		port, path("host"), path("user.pub"), os.Getenv("TMPDIR")))
	public, err := os.ReadFile(path("host.pub"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile(path("other.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write("known", fmt.Sprintf("[127.0.0.1]:%d %s", port, public))
	write("wrong", fmt.Sprintf("[127.0.0.1]:%d %s", port, other))
	at := fmt.Sprintf("HostName 127.0.0.1\nPort %d\nUser %s\nIdentitiesOnly yes\nIdentityAgent none\n", port, me.Username)
	key, known := "IdentityFile "+path("user")+"\n", "UserKnownHostsFile "+path("known")+"\n"
	write("config", "Host far\n"+at+key+known+"Host hop\nProxyJump far\n"+at+key+known+
		"Host stranger\n"+at+"IdentityFile "+path("other")+"\n"+known+"Host changed\n"+at+key+"UserKnownHostsFile "+path("wrong")+"\n")
	cmd := exec.Command(server, "-D", "-e", "-f", path("sshd_config"))
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd said:\n%s", said.String())
		}
	})
	for range 200 {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			// ProxyJump starts another ssh, which must read the same configuration.
			return SSH{Host: "far", Binary: os.Args[0], Argv: []string{"ssh", "-F", path("config")}, Begin: time.Minute}
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("sshd does not listen: %s", said.String())
	return SSH{}
}

func TestRealSSH(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := sshd(t)
	t.Run("straight", func(t *testing.T) { examined(t, s) })
	t.Run("jump", func(t *testing.T) {
		s := s
		s.Host = "hop"
		examined(t, s)
	})
	for host, want := range map[string]string{"stranger": "may not log in", "changed": "host key"} {
		t.Run(host, func(t *testing.T) {
			s := s
			s.Host = host
			if _, _, err := s.Start(within(t, 40*time.Second)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
	t.Run("the connection drops", func(t *testing.T) {
		ctx := within(t, 60*time.Second)
		conn, _, err := s.Start(ctx)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Connect(ctx, conn, "test")
		if err != nil {
			t.Fatal(err)
		}
		pair := pairOf("far", func(ctx context.Context, task worker.Task, r *worker.Reporter) error {
			if err := waits(ctx, task, r); err != nil {
				return err
			}
			return waits(ctx, task, r) // There is only one blob.
		})
		pair.FarStep = func(string) { _ = conn.Close() }
		r := p.Run(ctx, pair)
		if r.Near.End.Outcome != facts.PeerGone {
			t.Errorf("the near worker ended %+v", r.Near.End)
		}
		if names := left(t); len(names) > 0 {
			t.Errorf("it left %q behind", names)
		}
	})
}
