package collect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// errnoName spells an errno as verbs.h and man pages do: "EACCES".
func errnoName(err error) string {
	var e syscall.Errno
	if errors.As(err, &e) {
		if e == unix.EOPNOTSUPP { // The same number as ENOTSUP, by which x/sys calls it and netlink does not.
			return "EOPNOTSUPP"
		}
		if n := unix.ErrnoName(e); n != "" {
			return n
		}
		return fmt.Sprintf("errno %d", int(e))
	}
	return err.Error()
}

// quote shows foreign text safely: control characters escaped.
func quote(s string) string { return strconv.Quote(strings.ToValidUTF8(s, "�")) }
