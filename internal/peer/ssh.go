package peer

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed" // The script is a file of its own.
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// SSH says how to start the far end over the system's OpenSSH client, which
// reads the user's own configuration: names, keys, jump hosts.
type SSH struct {
	Host    string // as ssh takes it: name, user@name, ssh://user@name:port
	Binary  string // to be copied to the far host
	Machine string // what Binary runs on, as uname -m says it; "": as this host
	// Ask lets ssh ask at the terminal, for a password or whether a host key is
	// right.
	Ask  bool
	Argv []string // of the client; nil: ssh
	// Begin is how long until the far end runs; 0 is a minute. It bounds the time
	// that a person has for a password, too.
	Begin time.Duration
}

// StartError is a far end that could not be started.
type StartError struct {
	Host string
	What string // one sentence without the host
	Hint string // what to do, "" where What says it
	Said string // the last of what ssh and the far host wrote to standard error
}

func (e *StartError) Error() string {
	s := fmt.Sprintf("start the far end on %s: %s", e.Host, e.What)
	if e.Said != "" {
		s += ": " + e.Said
	}
	return s
}

//go:embed start.sh
var startScript string

// script is start.sh on one line: the login shell of the far user, which may
// be any, passes it on in single quotes.
func script(nonce string, size int64) string {
	var words []string
	for line := range strings.Lines(startScript) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			words = append(words, line)
		}
	}
	s := strings.Join(words, " ")
	s = strings.ReplaceAll(s, "NONCE", nonce)
	return strings.ReplaceAll(s, "SIZE", strconv.FormatInt(size, 10))
}

// Start starts the far end and returns the connection to it, with what could
// not be had but is no failure: folders from which programs may not be run.
func (s SSH) Start(ctx context.Context) (net.Conn, []string, error) {
	if s.Host == "" || strings.HasPrefix(s.Host, "-") || strings.ContainsAny(s.Host, " \t\n'\"") {
		return nil, nil, &StartError{Host: s.Host, What: "this is no name of a host"}
	}
	if s.Begin <= 0 {
		s.Begin = time.Minute
	}
	conn, notes, err := s.start(ctx, false)
	var failed *StartError
	if s.Ask && errors.As(err, &failed) && wantsAnswer(failed.Said) {
		return s.start(ctx, true)
	}
	return conn, notes, err
}

// wantsAnswer reports whether ssh would have asked.
func wantsAnswer(said string) bool {
	for _, w := range []string{"Permission denied", "Host key verification failed", "passphrase", "Too many authentication failures"} {
		if strings.Contains(said, w) {
			return true
		}
	}
	return false
}

func (s SSH) start(ctx context.Context, ask bool) (conn net.Conn, notes []string, err error) {
	binary, err := os.Open(s.Binary)
	if err != nil {
		return nil, nil, fmt.Errorf("copy this binary: %w", err)
	}
	defer binary.Close()
	st, err := binary.Stat()
	if err != nil {
		return nil, nil, fmt.Errorf("copy this binary: %w", err)
	}
	nonce := rand.Text()[:12]
	c, err := s.run(ask, script(nonce, st.Size()))
	if err != nil {
		return nil, nil, err
	}
	began, cancel := context.WithTimeout(ctx, s.Begin)
	defer cancel()
	// Whatever waits below waits in a read or write of the pipes, which this ends.
	stop := context.AfterFunc(began, func() { c.kill() })
	b := &boot{ssh: s, client: c, nonce: nonce, out: bufio.NewReaderSize(c.out, maxLine)}
	notes, err = b.run(binary, st.Size())
	if !stop() && err == nil {
		err = began.Err()
	}
	if err != nil {
		_ = c.in.Close() // Then start.sh ends and clears up.
		if began.Err() == nil {
			select {
			case <-c.ended:
			case <-time.After(time.Second):
			}
		}
		c.kill()
		_ = c.close()
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, nil, ctx.Err()
		}
		return nil, nil, b.explain(err, began.Err() != nil)
	}
	return Pipe(b.out, c.in, c.close), notes, nil
}

// client is a running ssh.
type client struct {
	cmd   *exec.Cmd
	in    *os.File // its standard input
	out   *os.File // its standard output
	said  *lastWords
	ended chan struct{}
}

func (s SSH) run(ask bool, script string) (*client, error) {
	argv := s.Argv
	if len(argv) == 0 {
		argv = []string{"ssh"}
	}
	argv = append(append([]string{}, argv...), "-T", "-a", "-x", "-o", "ClearAllForwardings=yes")
	if !ask {
		argv = append(argv, "-o", "BatchMode=yes")
	}
	argv = append(argv, "--", s.Host, "exec /bin/sh -c '"+script+"'")
	cmd := exec.Command(argv[0], argv[1:]...)
	// Without a terminal of its own it is spared the interrupt key, so that the
	// far end can be told to stop. To ask, it must be in front.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: !ask}
	said := &lastWords{}
	cmd.Stderr = said
	theirIn, in, err1 := os.Pipe()
	out, theirOut, err2 := os.Pipe()
	if err := errors.Join(err1, err2); err != nil {
		return nil, fmt.Errorf("run ssh: %w", err)
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	// The pipe of standard error may be held by a master connection that stays.
	cmd.WaitDelay = time.Second
	err := cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, &StartError{Host: s.Host, What: fmt.Sprintf("run %s: %v", argv[0], err), Hint: "the far end is started with OpenSSH's client (Debian: openssh-client)"}
	}
	c := &client{cmd: cmd, in: in, out: out, said: said, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // How it ended shows in what it said.
		close(c.ended)
	}()
	return c, nil
}

func (c *client) kill() { _ = c.cmd.Process.Kill() }

// closeWithin is how long ssh has to end after its input was closed: the far
// end stops its worker and the folder is removed meanwhile.
const closeWithin = 5 * time.Second

func (c *client) close() error {
	_ = c.in.Close()
	select {
	case <-c.ended:
	case <-time.After(closeWithin):
		c.kill()
		<-c.ended
	}
	return c.out.Close()
}

func uname(goarch string) string {
	switch goarch {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return goarch
}

func (s SSH) machine() string {
	if s.Machine != "" {
		return s.Machine
	}
	return uname(runtime.GOARCH)
}
