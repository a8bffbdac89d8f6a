package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// Cmd is a program to run in a guest.
type Cmd struct {
	// Argv is the program and its arguments. Script is a text for sh -c and
	// is used if Argv is empty.
	Argv   []string
	Script string
	// User is a name or number of the guest's /etc/passwd, root if empty.
	User string
	// Cgroup is a path below /sys/fs/cgroup, made if absent; the root group
	// if empty.
	Cgroup string
	// Stdin is the program's input.
	Stdin []byte
	// Env is added to the guest's PATH, HOME and LANG.
	Env []string
	// Dir is the working directory, "/" if empty.
	Dir string
	// Timeout is when the program is killed, after one minute if 0.
	Timeout time.Duration
	// Terminal runs it on a terminal of that size, with all output in
	// stdout.
	Terminal *wire.Size
}

// Result is how a program ended.
type Result struct {
	// ExitCode is 128 + N if signal N ended it, 127 if it did not start;
	// Stderr then says why.
	ExitCode int
	// Stdout and Stderr are what it wrote.
	Stdout, Stderr []byte
	// Duration is from its start to its end, as the lab saw it.
	Duration time.Duration
	// TimedOut says that it was killed at its timeout.
	TimedOut bool
}

// Text is what a program said, for messages.
func (r Result) Text() string {
	return strings.TrimSpace(printable(string(r.Stdout) + string(r.Stderr)))
}

const (
	// defaultTimeout ends programs that have no timeout of their own.
	defaultTimeout = time.Minute
	// killGrace is how long a killed program may take to end. One that the
	// kernel holds does not end at all.
	killGrace = 10 * time.Second
	// maxOutput is how much output of one program is kept, in bytes.
	maxOutput = 64 << 20
)

// ErrUnkillable says that a program did not end when it was killed: the
// guest's kernel holds it.
var ErrUnkillable = errors.New("program does not end when killed")

// Run runs a program to its end. A program that fails is no error: see the
// result's exit code.
func (g *Guest) Run(ctx context.Context, c Cmd) (Result, error) {
	var out, errOut limitedBuffer
	p, err := g.launch(c, &out, &errOut)
	if err != nil {
		return Result{}, err
	}
	p.Write(c.Stdin)
	p.CloseInput()
	r, err := p.Wait(ctx)
	r.Stdout = out.Bytes()
	r.Stderr = append(errOut.Bytes(), r.Stderr...)
	return r, err
}

// Start starts a program and returns. Its output goes to stdout and stderr,
// which must not block for long; nil drops it.
func (g *Guest) Start(c Cmd, stdout, stderr io.Writer) (*Process, error) {
	if stdout == nil {
		stdout = io.Discard
	}
	if stderr == nil {
		stderr = io.Discard
	}
	return g.launch(c, stdout, stderr)
}

// Process is a program that runs in a guest.
type Process struct {
	g       *Guest
	id      uint32
	started time.Time
	timeout time.Duration
	ended   chan struct{} // closed when ending is set
	ending  wire.Ending
}

func (g *Guest) launch(c Cmd, stdout, stderr io.Writer) (*Process, error) {
	argv := c.Argv
	if len(argv) == 0 {
		argv = []string{"sh", "-c", c.Script}
	}
	p := &Process{g: g, started: time.Now(), timeout: c.Timeout,
		ended: make(chan struct{})}
	if p.timeout == 0 {
		p.timeout = defaultTimeout
	}
	var err error
	p.id, err = g.open(func(f wire.Frame) {
		switch f.Kind {
		case wire.Stdout:
			stdout.Write(f.Data)
		case wire.Stderr:
			stderr.Write(f.Data)
		case wire.Exit:
			if err := json.Unmarshal(f.Data, &p.ending); err != nil {
				p.ending = wire.Ending{Code: 127, Error: err.Error()}
			}
			close(p.ended)
			g.forget(p.id)
		}
	})
	if err != nil {
		return nil, err
	}
	env := append([]string{"PATH=" + wire.Path, "HOME=/root", "LANG=C.UTF-8"},
		c.Env...)
	err = g.sendJSON(wire.Start, p.id, wire.Command{Argv: argv, Dir: c.Dir,
		Env: env, User: c.User, Cgroup: c.Cgroup, Terminal: c.Terminal})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Write sends input to the program.
func (p *Process) Write(data []byte) (int, error) {
	for n := 0; n < len(data); {
		part := data[n:min(n+wire.MaxData, len(data))]
		err := p.g.send(wire.Frame{Kind: wire.Stdin, Stream: p.id, Data: part})
		if err != nil {
			return n, err
		}
		n += len(part)
	}
	return len(data), nil
}

// CloseInput ends the program's input.
func (p *Process) CloseInput() error {
	return p.g.send(wire.Frame{Kind: wire.Stdin, Stream: p.id})
}

// Resize sets the size of the program's terminal.
func (p *Process) Resize(size wire.Size) error {
	return p.g.sendJSON(wire.Resize, p.id, size)
}

// Signal signals the program and the processes it started, unless they made
// a session of their own.
func (p *Process) Signal(sig syscall.Signal) error {
	return p.g.sendJSON(wire.Signal, p.id, wire.Kill{Signal: int(sig)})
}

// Kill kills the program and the processes it started, and waits for the end.
func (p *Process) Kill(ctx context.Context) error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-p.g.down:
		return p.g.Err()
	case <-ctx.Done():
		return fmt.Errorf("kill program: %w", context.Cause(ctx))
	case <-time.After(killGrace):
		return ErrUnkillable
	}
}

// Running says whether the program has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Wait waits for the program's end and kills it at its timeout or the end of
// ctx.
func (p *Process) Wait(ctx context.Context) (Result, error) {
	limit := time.NewTimer(time.Until(p.started.Add(p.timeout)))
	defer limit.Stop()
	var timedOut bool
	var err error
	select {
	case <-p.ended:
	case <-p.g.down:
		return Result{}, p.g.Err()
	case <-limit.C:
		timedOut = true
		err = p.Kill(ctx)
	case <-ctx.Done():
		if err = p.Kill(context.WithoutCancel(ctx)); err == nil {
			err = fmt.Errorf("run program: %w", context.Cause(ctx))
		}
	}
	r := Result{ExitCode: 128 + int(syscall.SIGKILL), TimedOut: timedOut,
		Duration: time.Since(p.started)}
	if !p.Running() {
		r.ExitCode = p.ending.Code
		r.Stderr = []byte(p.ending.Error)
	}
	return r, err
}

// Put writes a file in the guest with that mode, as root.
func (g *Guest) Put(ctx context.Context, name string, mode os.FileMode,
	data []byte) error {
	r, err := g.Run(ctx, Cmd{
		Argv: []string{"sh", "-c", `cat >"$1" && chmod "$2" "$1"`, "put", name,
			fmt.Sprintf("%o", mode.Perm())},
		Stdin: data,
	})
	if err == nil && r.ExitCode != 0 {
		err = errors.New(r.Text())
	}
	if err != nil {
		return fmt.Errorf("put %q: %w", name, err)
	}
	return nil
}

// Get reads a file of the guest.
func (g *Guest) Get(ctx context.Context, name string) ([]byte, error) {
	r, err := g.Run(ctx, Cmd{Argv: []string{"cat", "--", name}})
	if err == nil && r.ExitCode != 0 {
		err = errors.New(strings.TrimSpace(string(r.Stderr)))
	}
	if err != nil {
		return nil, fmt.Errorf("get %q: %w", name, err)
	}
	return r.Stdout, nil
}

// limitedBuffer keeps the first maxOutput bytes.
type limitedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p[:min(len(p), maxOutput-l.b.Len())])
	return len(p), nil
}

// Bytes returns a copy of what was kept.
func (l *limitedBuffer) Bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.b.Bytes())
}
