//go:build cgo && linux && !noverbs

package verbs

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra
#cgo LDFLAGS: -ldl
#include "rd.h"
#include <stdlib.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// Supported says that this build has the engine.
const Supported = true

// tables are kept where they are for ever: C is given structs that point to
// them, and the libraries stay as well.
var tables runtime.Pinner

// Load opens libibverbs, and librdmacm where it is installed (CMErr). It looks
// at no device.
func Load(o Options) (*Library, error) {
	if o.Verbs == "" {
		o.Verbs = "libibverbs.so.1"
	}
	if o.RDMACM == "" {
		o.RDMACM = "librdmacm.so.1"
	}
	table := new(C.struct_rd_lib)
	tables.Pin(table)
	l := &Library{table: unsafe.Pointer(table), path: o.Verbs}
	var missing [8]C.struct_rd_missing
	var n C.int
	path := C.CString(o.Verbs)
	defer C.free(unsafe.Pointer(path))
	var text [512]C.char
	rc := C.rd_load(table, path, &text[0], C.size_t(len(text)), &missing[0], C.int(len(missing)), &n)
	if err := loadError(o.Verbs, rc, &text[0], missing[0], ErrNotInstalled); err != nil {
		return nil, err
	}
	for _, m := range missing[:n] {
		l.missing = append(l.missing, C.GoString(m.name)+"@"+C.GoString(m.version))
	}
	cm := C.CString(o.RDMACM)
	defer C.free(unsafe.Pointer(cm))
	rc = C.rd_load_cm(table, cm, &text[0], C.size_t(len(text)), &missing[0])
	l.cmErr = loadError(o.RDMACM, rc, &text[0], missing[0], ErrCMNotInstalled)
	return l, nil
}

func loadError(name string, rc C.int, text *C.char, missing C.struct_rd_missing, absent error) error {
	switch rc {
	case 0:
		return nil
	case -C.int(syscall.ENOSYS):
		return &SymbolError{Library: name, Name: C.GoString(missing.name), Version: C.GoString(missing.version)}
	}
	return fmt.Errorf("load %s: %w: %s", name, absent, C.GoString(text))
}

func (l *Library) c() *C.struct_rd_lib { return (*C.struct_rd_lib)(l.table) }

// Devices lists the devices that libibverbs has a provider for.
func (l *Library) Devices() ([]Device, error) {
	var n C.int
	list, err := C.rd_devices(l.c(), &n)
	if list == nil {
		if errors.Is(err, syscall.ENOSYS) {
			return nil, fmt.Errorf("list devices: %w", ErrNoKernelSupport)
		}
		e, _ := err.(syscall.Errno)
		return nil, &Errno{Step: "list devices", Call: "ibv_get_device_list", Errno: e}
	}
	defer C.rd_free_devices(l.c(), list)
	var out []Device
	for _, d := range unsafe.Slice(list, int(n)) {
		out = append(out, Device{
			Name: C.GoString(&d.name[0]), Uverbs: C.GoString(&d.dev_name[0]),
			NodeGUID: uint64(C.rd_node_guid(l.c(), d)),
			NodeType: int(d.node_type), Transport: int(d.transport_type),
		})
	}
	return out, nil
}

// Open opens a device by its name.
func (l *Library) Open(name string) (*Context, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var p *C.struct_ibv_context
	switch rc := C.rd_open(l.c(), cname, &p); rc {
	case 0:
	case -C.int(syscall.ENOSYS):
		return nil, fmt.Errorf("open device %s: %w", name, ErrNoKernelSupport)
	case -C.int(syscall.ENODEV):
		if uverbs := uverbsOf("/sys/class/infiniband_verbs", name); uverbs != "" {
			return nil, &NoProviderError{Device: name, Uverbs: uverbs}
		}
		return nil, fmt.Errorf("open device %s: %w", name, ErrNoDevice)
	default:
		return nil, failed(rc, "open device", "ibv_open_device", name, "")
	}
	c := &Context{lib: l, name: name, p: unsafe.Pointer(p)}
	c.node = newNode(KindContext, func() error {
		return failed(C.rd_close_device(l.c(), p), "close device", "ibv_close_device", name, "")
	})
	return c, nil
}

// uverbsOf finds the kernel's uverbs device for an RDMA device, from the file
// ibdev of /sys/class/infiniband_verbs/uverbsN (ABI/stable/sysfs-class-infiniband).
func uverbsOf(class, name string) string {
	files, _ := filepath.Glob(filepath.Join(class, "uverbs*", "ibdev"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && strings.TrimSpace(string(b)) == name {
			return filepath.Base(filepath.Dir(f))
		}
	}
	return ""
}

// failed makes an error of what a function of rd.h returned.
func failed(rc C.int, step, call, object, attr string) error {
	if rc >= 0 {
		return nil
	}
	e := &Errno{Step: step, Call: call, Object: object, Attr: attr}
	if rc != C.RD_NO_ERRNO {
		e.Errno = syscall.Errno(-rc)
	}
	return e
}
