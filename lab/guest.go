package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// Guest is a running guest. Its methods may be called concurrently.
type Guest struct {
	// Release is the guest's kernel, as uname -r prints it.
	Release string

	opts    Options
	dir     string
	machine *machine
	monitor *monitor
	conn    net.Conn
	heard   atomic.Int64 // when a frame last came, in ns since 1970

	write sync.Mutex // one frame at a time

	mu      sync.Mutex
	streams map[uint32]*stream
	last    uint32
	err     error         // why it is down
	down    chan struct{} // closed when err is set
}

func newGuest(o Options, dir string) *Guest {
	g := &Guest{opts: o, dir: dir, streams: make(map[uint32]*stream),
		down: make(chan struct{})}
	g.heard.Store(time.Now().UnixNano())
	return g
}

// Name is the guest's host name.
func (g *Guest) Name() string { return g.opts.Name }

// Err is nil as long as the guest can be used, else why it cannot.
func (g *Guest) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// Console is what the guest's kernel and agent have printed lately.
func (g *Guest) Console() string {
	return consoleTail(filepath.Join(g.dir, consoleFile))
}

// Close ends the guest and removes its files. It may be called twice.
func (g *Guest) Close() error {
	g.fail(ErrClosed, "by the lab")
	if g.machine != nil {
		g.machine.kill()
	}
	if g.conn != nil {
		g.conn.Close()
	}
	if g.monitor != nil {
		g.monitor.conn.Close()
	}
	return os.RemoveAll(g.dir)
}

// fail marks the guest as down and ends its machine. The first reason stays.
// It returns the reason.
func (g *Guest) fail(reason error, detail string) error {
	g.mu.Lock()
	if g.err != nil {
		defer g.mu.Unlock()
		return g.err
	}
	e := &GuestError{Err: reason, Detail: detail,
		Guest: g.opts.Name + " (" + g.opts.Kernel.Release + ")"}
	if reason != ErrClosed {
		e.Console = g.Console()
	}
	g.err = e
	close(g.down)
	g.mu.Unlock()
	if g.machine != nil {
		g.machine.kill()
	}
	return e
}

// stream is one conversation on the channel.
type stream struct {
	take func(wire.Frame) // called for each frame, must not block
}

func (g *Guest) stream(id uint32) *stream {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.streams[id]
}

// open begins a stream.
func (g *Guest) open(take func(wire.Frame)) (uint32, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	g.last++
	g.streams[g.last] = &stream{take: take}
	return g.last, nil
}

func (g *Guest) forget(id uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.streams, id)
}

// send sends a frame. If the channel does not take it, that shows elsewhere.
func (g *Guest) send(f wire.Frame) error {
	g.write.Lock()
	defer g.write.Unlock()
	if err := wire.Write(g.conn, f); err != nil {
		if down := g.Err(); down != nil {
			return down
		}
		return err
	}
	return nil
}

func (g *Guest) sendJSON(kind wire.Kind, id uint32, v any) error {
	f, err := wire.JSON(kind, id, v)
	if err != nil {
		return err
	}
	return g.send(f)
}

// call asks the agent to do something.
func (g *Guest) call(ctx context.Context, op string) (wire.Answer, error) {
	reply := make(chan wire.Frame, 1)
	id, err := g.open(func(f wire.Frame) {
		if f.Kind == wire.Reply {
			reply <- f
		}
	})
	if err != nil {
		return wire.Answer{}, err
	}
	defer g.forget(id)
	if err := g.sendJSON(wire.Call, id, wire.Request{Op: op}); err != nil {
		return wire.Answer{}, err
	}
	select {
	case f := <-reply:
		var a wire.Answer
		if err := json.Unmarshal(f.Data, &a); err != nil {
			return wire.Answer{}, fmt.Errorf("guest %s: %w", op, err)
		}
		if a.Error != "" {
			return a, fmt.Errorf("guest %s: %w", op, errors.New(a.Error))
		}
		return a, nil
	case <-g.down:
		return wire.Answer{}, g.Err()
	case <-ctx.Done():
		return wire.Answer{}, fmt.Errorf("guest %s: %w", op, context.Cause(ctx))
	}
}

// resetLimit is longer than the agent's own limits together.
const resetLimit = 40 * time.Second

// Reset brings the guest back to what it was at boot: every process ended,
// every link, module, setting and file as it was. If something is left, the
// error is ErrDirty and the guest is down.
func (g *Guest) Reset(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, resetLimit,
		fmt.Errorf("no answer in %v", resetLimit))
	defer cancel()
	a, err := g.call(ctx, "reset")
	if err != nil {
		if down := g.Err(); down != nil {
			return down
		}
		return g.fail(ErrDirty, err.Error())
	}
	if len(a.Differences) > 0 {
		return g.fail(ErrDirty, fmt.Sprintf("%d differences, first %q",
			len(a.Differences), a.Differences[:min(10, len(a.Differences))]))
	}
	return nil
}

// Inventory lists what is in the guest now, in the sections that a reset
// compares.
func (g *Guest) Inventory(ctx context.Context) (wire.Inventory, error) {
	a, err := g.call(ctx, "inventory")
	if err != nil {
		return nil, err
	}
	if a.Inventory == nil {
		return nil, errors.New("guest inventory: empty answer")
	}
	return *a.Inventory, nil
}
