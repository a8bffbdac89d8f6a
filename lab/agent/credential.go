package main

import (
	"fmt"
	"os/user"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// credential is what to run a command of that user as: nil for root.
func credential(name string) (*syscall.Credential, error) {
	if name == "" || name == "root" {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return nil, fmt.Errorf("start command: user %q: %w", name, err)
		}
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("start command: groups of %q: %w", name, err)
	}
	c := &syscall.Credential{}
	for i, text := range append([]string{u.Uid, u.Gid}, groups...) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("start command: user %q: %w", name, err)
		}
		switch i {
		case 0:
			c.Uid = uint32(id)
		case 1:
			c.Gid = uint32(id)
		default:
			c.Groups = append(c.Groups, uint32(id))
		}
	}
	return c, nil
}

// pidOf reads si_pid, which x/sys does not name: it is the first field of
// the union behind signo, errno and code, on 64-bit machines at offset 16.
func pidOf(info *unix.Siginfo) int {
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), 16)))
}
