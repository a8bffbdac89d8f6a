package probes

import (
	"context"
	"errors"
	"syscall"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// stepError takes the error of a call apart.
func stepError(call string, err error) *facts.StepError {
	if err == nil {
		return nil
	}
	e := &facts.StepError{Call: call, Text: err.Error()}
	var given *facts.StepError
	var failed *verbs.Errno
	var wc *verbs.WCError
	var none *verbs.NoProviderError
	var cm *verbs.CMError
	switch {
	case errors.As(err, &given):
		return given
	case errors.As(err, &failed):
		e.Call = failed.Call
		e.Errno = int(failed.Errno)
	case errors.As(err, &wc):
		e.Call = "ibv_poll_cq"
		e.WCStatus, e.VendorErr = facts.Some(int(wc.Status)), wc.VendorErr
		if wc.QPState != verbs.QPStateUnknown {
			e.QPState = wc.QPState.String()
		}
	case errors.As(err, &cm):
		e.Call, e.Event = cm.Call, "RDMA_CM_EVENT_"+cm.Event.String()
		e.Reason = facts.Some(cm.Status)
		if cm.Status < 0 {
			e.Errno = -cm.Status
		}
	case errors.As(err, &none), errors.Is(err, verbs.ErrNoDevice):
		e.Call = "ibv_get_device_list"
	case errors.Is(err, verbs.ErrNoKernelSupport):
		e.Call, e.Errno = "ibv_get_device_list", int(syscall.ENOSYS)
	case errors.Is(err, context.DeadlineExceeded):
		e.TimedOut = true
	}
	if e.Errno != 0 {
		e.Name = verbs.ErrnoName(syscall.Errno(e.Errno))
	}
	return e
}
