package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// Boot boots a guest and returns when its agent has answered, at most
// o.BootLimit after the start of its machine. The guest runs until it is
// closed; ctx is for the boot only.
func Boot(ctx context.Context, o Options) (*Guest, error) {
	o = o.withDefaults()
	// A short path: a Unix socket's may have 107 bytes.
	dir, err := os.MkdirTemp("", "rdmadoctor-lab-")
	if err != nil {
		return nil, fmt.Errorf("boot guest: %w", err)
	}
	g := newGuest(o, dir)
	if err := g.prepare(ctx); err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("boot guest: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.BootLimit,
		fmt.Errorf("no answer in %v", o.BootLimit))
	defer cancel()
	if err := g.start(ctx); err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

// prepare fills the run folder.
func (g *Guest) prepare(ctx context.Context) error {
	work := filepath.Join(g.dir, workFolder)
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	boot := wire.Boot{Hostname: g.opts.Name, Release: g.opts.Kernel.Release,
		ModulesDir: g.opts.Kernel.Modules}
	for _, name := range g.opts.Tools {
		base := filepath.Base(name)
		if err := copyFile(name, filepath.Join(work, base)); err != nil {
			return err
		}
		boot.Tools = append(boot.Tools, base)
	}
	init := g.opts.init
	if init == nil {
		var err error
		if init, err = agent(ctx); err != nil {
			return err
		}
	}
	return writeInitramfs(ctx, filepath.Join(g.dir, initramfsFile), init,
		g.opts.Kernel, boot)
}

// agentProgram is the guest's agent, built once in the life of a process.
var agentProgram struct {
	sync.Mutex
	elf []byte
}

// agent builds the guest's agent.
func agent(ctx context.Context) ([]byte, error) {
	agentProgram.Lock()
	defer agentProgram.Unlock()
	if agentProgram.elf != nil {
		return agentProgram.elf, nil
	}
	dir, err := os.MkdirTemp("", "rdmadoctor-agent-")
	if err != nil {
		return nil, fmt.Errorf("build agent: %w", err)
	}
	defer os.RemoveAll(dir)
	top, err := kernels.Repository()
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, "agent")
	_, err = tool.Run(ctx, top, "env", "CGO_ENABLED=0", "GOOS=linux",
		"GOARCH=amd64", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", name,
		"./lab/agent")
	if err != nil {
		return nil, fmt.Errorf("build agent: %w", err)
	}
	agentProgram.elf, err = os.ReadFile(name)
	return agentProgram.elf, err
}

// start starts QEMU and waits for the agent's greeting.
func (g *Guest) start(ctx context.Context) error {
	channel, err := net.Listen("unix", filepath.Join(g.dir, channelSocket))
	if err != nil {
		return fmt.Errorf("boot guest: %w", err)
	}
	defer channel.Close()
	qmp, err := net.Listen("unix", filepath.Join(g.dir, qmpSocket))
	if err != nil {
		return fmt.Errorf("boot guest: %w", err)
	}
	defer qmp.Close()
	if g.machine, err = startMachine(g.opts, g.dir); err != nil {
		return fmt.Errorf("boot guest: %w", err)
	}
	// An end of QEMU or of ctx ends every wait below.
	booted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { channel.Close(); qmp.Close() })
	defer stop()
	go func() {
		select {
		case <-g.machine.exited:
			channel.Close()
			qmp.Close()
		case <-booted:
		}
	}()
	defer close(booted)
	if g.conn, err = channel.Accept(); err != nil {
		return g.neverBooted(ctx, err)
	}
	control, err := qmp.Accept()
	if err != nil {
		return g.neverBooted(ctx, err)
	}
	hello := make(chan wire.Greeting, 1)
	go g.read(hello)
	if g.monitor, err = newMonitor(control, g.event); err != nil {
		return g.neverBooted(ctx, err)
	}
	select {
	case h, ok := <-hello:
		if !ok {
			return g.neverBooted(ctx, errors.New("channel ended before a greeting"))
		}
		g.Release = h.Release
	case <-g.machine.exited:
		return g.neverBooted(ctx, errors.New("virtual machine ended"))
	case <-ctx.Done():
		return g.neverBooted(ctx, context.Cause(ctx))
	}
	if g.Release != g.opts.Kernel.Release {
		return g.neverBooted(ctx, fmt.Errorf("kernel is %q, want %q", g.Release,
			g.opts.Kernel.Release))
	}
	go g.watch()
	return nil
}

// endGrace is how long an end of the channel waits for the end of the
// machine, which is the reason for most.
const endGrace = time.Second

// neverBooted says why a guest did not boot.
func (g *Guest) neverBooted(ctx context.Context, err error) error {
	detail := err.Error()
	if ctx.Err() != nil {
		detail = context.Cause(ctx).Error()
	} else {
		select {
		case <-g.machine.exited:
			detail = "virtual machine ended, " + g.machine.state
		case <-time.After(endGrace):
		}
	}
	if log := qemuLog(g.dir); log != "" {
		detail += "; qemu says: " + log
	}
	return g.fail(ErrNeverBooted, detail)
}

// watch asks the agent for a sign of life, and notices its absence and the
// end of the machine.
func (g *Guest) watch() {
	every := g.opts.HangLimit / 10
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-g.down:
			return
		case <-g.machine.exited:
			g.fail(ErrDied, "virtual machine ended, "+g.machine.state)
			return
		case <-tick.C:
		}
		silent := time.Since(time.Unix(0, g.heard.Load()))
		if silent > g.opts.HangLimit {
			g.fail(ErrHung, fmt.Sprintf("silent for %v", silent.Round(time.Second)))
			return
		}
		// A full channel would block here, and the clock must go on.
		go g.send(wire.Frame{Kind: wire.Ping})
	}
}

// event takes an event of QEMU.
func (g *Guest) event(e qmpEvent) {
	if e.Event == "VSERPORT_CHANGE" && !e.Data.Open {
		// A machine that ends closes its port, too.
		select {
		case <-g.machine.exited:
		case <-g.down:
		case <-time.After(endGrace):
			g.fail(ErrChannelLost, "nothing has the guest's end of it open")
		}
	}
}

// read takes frames until the channel ends. It closes hello if that is
// before a greeting.
func (g *Guest) read(hello chan<- wire.Greeting) {
	greeted := false
	for {
		f, err := wire.Read(g.conn)
		if err != nil && !greeted {
			close(hello)
			return
		}
		if err != nil {
			g.channelEnded(err)
			return
		}
		g.heard.Store(time.Now().UnixNano())
		if f.Kind == wire.Hello && !greeted {
			var h wire.Greeting
			if err := json.Unmarshal(f.Data, &h); err != nil {
				close(hello)
				return
			}
			greeted = true
			hello <- h
			continue
		}
		if s := g.stream(f.Stream); s != nil {
			s.take(f)
		}
	}
}

// channelEnded says why there is no channel any more: mostly because QEMU
// has ended, which shows a moment later.
func (g *Guest) channelEnded(err error) {
	select {
	case <-g.machine.exited:
		g.fail(ErrDied, "virtual machine ended, "+g.machine.state)
	case <-g.down:
	case <-time.After(endGrace):
		if errors.Is(err, io.EOF) {
			err = errors.New("end of channel")
		}
		g.fail(ErrChannelLost, err.Error())
	}
}
