package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// terminal is the user's terminal in raw mode.
type terminal struct{ before *term.State }

// openTerminal takes the terminal into raw mode, so that every key goes to
// the guest. It returns nil if input or output is no terminal.
func openTerminal() (*terminal, error) {
	if !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd()) {
		return nil, nil
	}
	before, err := term.MakeRaw(os.Stdin.Fd())
	if err != nil {
		return nil, fmt.Errorf("set terminal: %w", err)
	}
	return &terminal{before}, nil
}

// restore undoes openTerminal.
func (t *terminal) restore() { term.Restore(os.Stdin.Fd(), t.before) }

// size is the terminal's, or what most have.
func (t *terminal) size() wire.Size {
	w, h, err := term.GetSize(os.Stdout.Fd())
	if err != nil || w <= 0 || h <= 0 {
		return wire.Size{Rows: 24, Columns: 80}
	}
	return wire.Size{Rows: uint16(h), Columns: uint16(w)}
}

// follow sends keys and changes of size to a program until this process ends.
func (t *terminal) follow(p *lab.Process) {
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for range changed {
			p.Resize(t.size())
		}
	}()
	go func() {
		keys := make([]byte, 4096)
		for {
			n, err := os.Stdin.Read(keys)
			if err != nil {
				return
			}
			if _, err := p.Write(keys[:n]); err != nil {
				return
			}
		}
	}()
}
