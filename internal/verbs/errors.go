package verbs

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

var (
	// ErrUnsupported is what a build without the engine says.
	ErrUnsupported = errors.New("this build has no verbs engine: it needs cgo on Linux")
	// ErrNotInstalled wraps dlopen's message when libibverbs is not found.
	ErrNotInstalled = errors.New("libibverbs is not installed")
	// ErrCMNotInstalled wraps dlopen's message when librdmacm is not found.
	ErrCMNotInstalled = errors.New("librdmacm is not installed")
	// ErrNoKernelSupport means that the kernel has no RDMA subsystem loaded:
	// ibv_get_device_list gives NULL with ENOSYS. No device is another thing.
	ErrNoKernelSupport = errors.New("the kernel has no RDMA support loaded (ib_uverbs)")
	// ErrNoDevice means that neither the library nor the kernel has the device.
	ErrNoDevice = errors.New("no such RDMA device")
	// ErrNotOffered means that the library or the provider has no such call.
	ErrNotOffered = errors.New("not offered by this libibverbs or provider")
	// ErrClosed is the error of a call on a closed handle.
	ErrClosed = errors.New("handle is closed")
	// ErrLied means that a completion is not of what was posted.
	ErrLied = errors.New("completion does not match what was posted")
	// ErrNoEvent means that no event is waiting.
	ErrNoEvent = errors.New("no event is waiting")
)

// SymbolError is a library that lacks a symbol that cannot be done without.
type SymbolError struct {
	Library string // path or name given to dlopen
	Name    string // ibv_open_device
	Version string // IBVERBS_1.1
}

func (e *SymbolError) Error() string {
	return fmt.Sprintf("load %s: no symbol %s@%s", e.Library, e.Name, e.Version)
}

// NoProviderError is a device that the kernel has and libibverbs does not
// list: its user-space provider is missing or does not load.
type NoProviderError struct {
	Device string // mlx5_0
	Uverbs string // uverbs0
}

func (e *NoProviderError) Error() string {
	return fmt.Sprintf("open device %s: the kernel has it (%s), no user-space provider claims it", e.Device, e.Uverbs)
}

// Errno is a verbs or rdma_cm call that failed.
type Errno struct {
	Step   string        // what was tried: "modify QP to RTR"
	Call   string        // the C function: "ibv_modify_qp"
	Object string        // on what: "mlx5_0/1", "" for none
	Attr   string        // with which attributes, "" for none
	Errno  syscall.Errno // 0 where the call failed without one
}

func (e *Errno) Error() string {
	var b strings.Builder
	b.WriteString(e.Step)
	if e.Object != "" {
		b.WriteString(" " + e.Object)
	}
	if e.Attr != "" {
		fmt.Fprintf(&b, " (%s)", e.Attr)
	}
	if e.Errno == 0 {
		fmt.Fprintf(&b, ": %s failed without an errno", e.Call)
	} else {
		fmt.Fprintf(&b, ": %s: %s (%s)", e.Call, ErrnoName(e.Errno), e.Errno.Error())
	}
	return b.String()
}

// Unwrap gives the errno, so that errors.Is(err, syscall.ENOMEM) holds.
func (e *Errno) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// WCError is a work request that completed with another status than success.
type WCError struct {
	Op        string   // "RDMA write"
	Status    WCStatus // ibv_wc_status
	VendorErr uint32   // the provider's own code
	QPN       uint32   // the QP it completed on
	QPState   QPState  // the QP's state afterwards, QPStateUnknown when not asked
}

func (e *WCError) Error() string {
	s := fmt.Sprintf("%s: status %d %s, vendor error 0x%x", e.Op, int(e.Status), e.Status, e.VendorErr)
	if e.QPState != QPStateUnknown {
		s += ", QP state " + e.QPState.String()
	}
	return s
}
