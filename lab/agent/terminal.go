package main

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/lab/wire"
)

// openTerminal makes a pseudo terminal of that size: its near end becomes
// c.terminal, its far end is returned.
func (c *command) openTerminal(size wire.Size) (*os.File, error) {
	near, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	number := 0
	err = control(near, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err != nil {
		near.Close()
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	far, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number),
		os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		near.Close()
		return nil, fmt.Errorf("open terminal: %w", err)
	}
	c.terminal = near
	c.resize(size)
	return far, nil
}

// resize sets the terminal's size; without a terminal it does nothing.
func (c *command) resize(size wire.Size) {
	if c.terminal == nil {
		return
	}
	control(c.terminal, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ,
			&unix.Winsize{Row: size.Rows, Col: size.Columns})
	})
}

// closeTerminal closes the terminal after what was written to it has been
// sent. A background process that holds the far end gets pipeDelay.
func (c *command) closeTerminal() {
	if c.terminal == nil {
		return
	}
	select {
	case <-c.copied:
	case <-time.After(pipeDelay):
	}
	c.terminal.Close()
}

// control runs do with the file's descriptor without making it blocking, as
// Fd would, so that closing it still ends a read.
func control(f *os.File, do func(fd int) error) error {
	var conn syscall.RawConn
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var doErr error
	if err := conn.Control(func(fd uintptr) { doErr = do(int(fd)) }); err != nil {
		return err
	}
	return doErr
}
