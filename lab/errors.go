package lab

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// What can happen to a guest. Each is reported as a *GuestError that wraps
// one of these.
var (
	// ErrNeverBooted says that the agent never answered.
	ErrNeverBooted = errors.New("guest never booted")
	// ErrHung says that the guest answered, and then fell silent.
	ErrHung = errors.New("guest hangs")
	// ErrChannelLost says that the guest runs on, and that nothing listens
	// at its end of the channel any more.
	ErrChannelLost = errors.New("guest lost its channel")
	// ErrDied says that the virtual machine ended: a panic of the guest's
	// kernel, or the end of its agent.
	ErrDied = errors.New("guest died")
	// ErrClosed says that the guest was closed by the lab itself.
	ErrClosed = errors.New("guest is closed")
	// ErrDirty says that a guest could not be brought back to what it was
	// at boot. It is to be replaced.
	ErrDirty = errors.New("guest cannot be reset")
)

// GuestError says what happened to a guest.
type GuestError struct {
	// Err is one of the errors above.
	Err error
	// Guest is the guest's host name and kernel.
	Guest string
	// Detail says how it was noticed.
	Detail string
	// Console is the end of what the guest's kernel and agent printed.
	Console string
}

func (e *GuestError) Error() string {
	s := fmt.Sprintf("%s: %v: %s", e.Guest, e.Err, e.Detail)
	if e.Console != "" {
		s += "\nend of its console:\n" + e.Console
	}
	return s
}

func (e *GuestError) Unwrap() error { return e.Err }

// consoleTail returns the last lines of a console's file.
func consoleTail(name string) string {
	const lines = 60
	b, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(printable(string(b))), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// printable removes what a terminal would act on.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || (r >= ' ' && r != 0x7f) {
			return r
		}
		return -1
	}, s)
}
