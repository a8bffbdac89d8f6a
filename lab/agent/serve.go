package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// server answers the lab over the channel.
type server struct {
	port *os.File
	root *guestRoot
	base wire.Inventory
	reap *reaper

	write sync.Mutex // one frame at a time

	mu       sync.Mutex
	commands map[uint32]*command
}

func newServer(port *os.File, root *guestRoot, base wire.Inventory) *server {
	return &server{port: port, root: root, base: base, reap: newReaper(),
		commands: make(map[uint32]*command)}
}

// errChannel says that the channel broke, and not by the lab.
var errChannel = errors.New("channel is lost")

// serve reads frames until the channel ends, and says how it ended.
func (s *server) serve(hello wire.Greeting) error {
	s.send(wire.Hello, 0, hello)
	for {
		f, err := wire.Read(s.port)
		if errors.Is(err, io.EOF) {
			return errors.New("the lab closed the channel")
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errChannel, err)
		}
		if err := s.handle(f); err != nil {
			return err
		}
	}
}

// handle does what one frame asks for. It never waits for a command.
func (s *server) handle(f wire.Frame) error {
	switch f.Kind {
	case wire.Ping:
		return s.sendFrame(wire.Frame{Kind: wire.Pong, Stream: f.Stream})
	case wire.Start:
		var c wire.Command
		if err := json.Unmarshal(f.Data, &c); err != nil {
			return fmt.Errorf("channel: command: %w", err)
		}
		s.start(f.Stream, c)
	case wire.Stdin:
		if c := s.command(f.Stream); c != nil {
			c.input(f.Data)
		}
	case wire.Signal:
		var k wire.Kill
		if err := json.Unmarshal(f.Data, &k); err != nil {
			return fmt.Errorf("channel: signal: %w", err)
		}
		if c := s.command(f.Stream); c != nil {
			c.signal(syscall.Signal(k.Signal))
		}
	case wire.Resize:
		var size wire.Size
		if err := json.Unmarshal(f.Data, &size); err != nil {
			return fmt.Errorf("channel: size: %w", err)
		}
		if c := s.command(f.Stream); c != nil {
			c.resize(size)
		}
	case wire.Call:
		var r wire.Request
		if err := json.Unmarshal(f.Data, &r); err != nil {
			return fmt.Errorf("channel: request: %w", err)
		}
		// A reset waits; pings must be answered meanwhile.
		go s.send(wire.Reply, f.Stream, s.call(r))
	default:
		return fmt.Errorf("channel: frame of kind %d is not for the guest", f.Kind)
	}
	return nil
}

// call does a request.
func (s *server) call(r wire.Request) wire.Answer {
	switch r.Op {
	case "inventory":
		inv, err := takeInventory(s.root)
		if err != nil {
			return wire.Answer{Error: err.Error()}
		}
		return wire.Answer{Inventory: &inv}
	case "reset":
		return s.reset()
	}
	return wire.Answer{Error: fmt.Sprintf("unknown request %q", r.Op)}
}

func (s *server) command(stream uint32) *command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands[stream]
}

// send sends v as JSON.
func (s *server) send(kind wire.Kind, stream uint32, v any) {
	f, err := wire.JSON(kind, stream, v)
	if err == nil {
		err = s.sendFrame(f)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "lab agent: %v\n", err)
	}
}

func (s *server) sendFrame(f wire.Frame) error {
	s.write.Lock()
	defer s.write.Unlock()
	return wire.Write(s.port, f)
}
