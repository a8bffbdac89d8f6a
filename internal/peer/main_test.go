package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// TestMain makes the test binary a far end, since that is what is copied to the
// far host in tests of SSH.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "agent" {
		if err := RemoveOwn(); err != nil {
			os.Exit(3)
		}
		if ServeStdio(context.Background(), os.Stdin, os.Stdout, testFar("far")) != nil {
			os.Exit(4)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// inProcess starts workers as goroutines.
type inProcess struct {
	run func(context.Context, worker.Task, *worker.Reporter) error
}

func (p inProcess) Start(ctx context.Context, s worker.Launch) (worker.Process, error) {
	in, err1 := dup(s.In)
	out, err2 := dup(s.Out)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	g := &goroutine{done: make(chan worker.Exit, 1), cancel: cancel}
	g.exit = sync.OnceFunc(func() {
		_, _ = in.Close(), out.Close()
		g.done <- worker.Exit{Code: g.code}
	})
	go func() {
		defer g.exit()
		defer func() {
			if v := recover(); v != nil { // A probe that crashes.
				g.code = 2
			}
		}()
		_ = worker.Serve(ctx, in, out, p.run)
	}()
	return g, nil
}

func dup(f *os.File) (*os.File, error) {
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

type goroutine struct {
	done   chan worker.Exit
	cancel func()
	exit   func()
	code   int
}

func (g *goroutine) PID() int { return 1 << 30 }
func (g *goroutine) Signal(s syscall.Signal) error {
	g.cancel()
	if s == syscall.SIGKILL {
		g.exit()
	}
	return nil
}
func (g *goroutine) Wait() (worker.Exit, error) { return <-g.done, nil }

// start starts workers that run f.
func start(f func(context.Context, worker.Task, *worker.Reporter) error) func(context.Context, worker.Options) (*worker.Worker, error) {
	return func(ctx context.Context, opt worker.Options) (*worker.Worker, error) {
		opt.Starter, opt.Phase, opt.Grace = inProcess{f}, 5*time.Second, 200*time.Millisecond
		return worker.Start(ctx, opt)
	}
}

// testFar is a far end whose workers run exchange.
func testFar(name string) Far {
	return Far{Version: "test", Hostname: name, Notes: []string{"no sandbox"},
		Read: func(_ context.Context, sources []facts.Source, interval time.Duration) *facts.Snapshot {
			return &facts.Snapshot{Schema: facts.SchemaVersion, Host: facts.Host{Hostname: name}, Interval: interval, Sources: sources,
				Measured: []facts.Measurement{{Probe: "a lie"}}}
		},
		Start: start(exchange)}
}

// exchange sends the name of the probe and reports what came back.
func exchange(ctx context.Context, t worker.Task, r *worker.Reporter) error {
	r.Begin("swap", 0)
	if err := r.Send([]byte(t.Probe)); err != nil {
		return err
	}
	b, err := r.Receive(ctx)
	if err != nil {
		return err
	}
	r.Measurement(&facts.Measurement{Probe: t.Probe, Op: string(b), Samples: []float64{1, 2, 3}})
	return nil
}

// connected is a near end whose far one is served in this process.
func connected(t *testing.T, far Far) (*Peer, net.Conn) {
	t.Helper()
	here, there := net.Pipe()
	served := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(served)
		Serve(ctx, there, far)
	}()
	t.Cleanup(func() {
		cancel()
		<-served
	})
	p, err := Connect(within(t, 10*time.Second), here, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p, there
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

var _ io.Closer = (*Peer)(nil)
