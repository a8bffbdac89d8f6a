package hostio

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// system answers System ops.
func system(name string) Result {
	switch name {
	case "uname":
		var u unix.Utsname
		if err := unix.Uname(&u); err != nil {
			return failed(err)
		}
		return asJSON(Uname{
			Nodename: unix.ByteSliceToString(u.Nodename[:]), Release: unix.ByteSliceToString(u.Release[:]),
			Version: unix.ByteSliceToString(u.Version[:]), Machine: unix.ByteSliceToString(u.Machine[:]),
		})
	case "ids":
		groups, err := unix.Getgroups()
		if err != nil {
			return failed(err)
		}
		uid := os.Geteuid()
		return asJSON(IDs{PID: os.Getpid(), UID: uid, GID: os.Getegid(), Groups: groups, User: userName(uid)})
	case "monotonic":
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			return failed(err)
		}
		return Result{Data: strconv.AppendInt(nil, time.Duration(ts.Nano()).Nanoseconds(), 10)}
	}
	return Result{NotInForm: true}
}

// userName looks uid up in /etc/passwd only: getpwuid(3) may ask a directory
// server that does not answer. It is "" for users that are not local.
func userName(uid int) string {
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return ""
	}
	defer f.Close()
	want := strconv.Itoa(uid)
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if f := strings.Split(sc.Text(), ":"); len(f) > 2 && f[2] == want {
			return f[0]
		}
	}
	return ""
}
