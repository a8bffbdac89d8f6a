package sandbox

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Seal forbids every thread of this process to run a program, to trace or
// reach into another process, and to load anything into the kernel. It cannot
// be undone. What was called and is forbidden answers EPERM.
func Seal() (r Report) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		r.lacks("no_new_privs", err)
		return r
	}
	filter := program()
	if filter == nil {
		r.lacks("seccomp", errNoArch)
		return r
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	// Synchronised: all threads get the filter and no_new_privs, or none.
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		r.lacks("seccomp", notHere(errno))
		return r
	}
	r.NoNewPrivs, r.Seccomp = true, true
	return r
}

// forbidden are the system calls of which none is needed to speak to a peer
// and to a spawner. Those of other architectures on this one (x32, i386) are
// forbidden altogether.
var forbidden = []uint32{
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SETNS,
	unix.SYS_UNSHARE, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_PIDFD_GETFD,
}

var errNoArch = errors.New("not written for this architecture")

// Offsets in struct seccomp_data (linux/seccomp.h).
const (
	dataNumber = 0
	dataArch   = 4
	x32Bit     = 0x40000000 // of the number of a call of the x32 ABI
)

// program is the filter, nil on an architecture that it is not written for.
func program() []unix.SockFilter {
	if auditArch == 0 {
		return nil
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(what uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: what} }
	equal := func(value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	const allow, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	p := []unix.SockFilter{
		load(dataArch), equal(auditArch, 1, 0), answer(refuse),
		load(dataNumber),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32Bit, Jt: 0, Jf: 1}, answer(refuse),
	}
	for i, number := range forbidden {
		p = append(p, equal(number, uint8(len(forbidden)-i), 0)) // To the last instruction.
	}
	return append(p, answer(allow), answer(refuse))
}
