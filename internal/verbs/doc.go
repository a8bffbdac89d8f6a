// Package verbs is the doctor's hand on libibverbs: it opens the library at
// run time, wraps its objects in handles, and runs measurement loops in C. It
// is the only package with import "C".
//
// It reports what happened (errno, completion status, nanoseconds) and never
// whether that is good: measurements are judged by package checks.
//
// # Library
//
// [Load] opens libibverbs.so.1 with dlopen, so the program starts where it is
// missing. Every error says which of library, symbol, provider or kernel
// support was missing: [ErrNotInstalled], [*SymbolError], [*NoProviderError],
// [ErrNoKernelSupport]. A build without cgo, not for Linux or with the tag
// noverbs has the same API, where Load fails with [ErrUnsupported].
//
// # Handles
//
// [Library.Open] gives a [Context], which gives [PD], [CQ] and [CompChannel];
// a PD gives [MR], [QP] and [AH]. Memory comes from [Library.Alloc]: it is
// mapped in C and outlives its MRs, so that a canary can be read after an MR
// is gone. Closing a handle closes what was made from it first, and closing it
// twice is no error. [Live] counts what is open.
//
// A handle may be used by one goroutine at a time. It must not be closed while
// a call on it runs.
//
// # Measuring
//
// A [Loop] runs in C from its first post to its last completion, in one call:
// [Loop.Latency], [Loop.Stream] with [Loop.Sink], [Loop.OrderWriter] with
// [Loop.OrderReader]. It is made as perftest's loops are, with its numbers for
// what is left zero, and gives raw samples. It ends at its Limit or with its
// context. How its QPs were connected is no matter of the loop.
//
// # rdma_cm
//
// [Library.NewCMID] and [Library.CMListen] connect by librdmacm.so.1, which is
// opened at run time and may be missing ([Library.CMErr]).
//
// # Errors
//
// A failed call is an [*Errno] with the call, its object and the errno; a
// failed work request is a [*WCError] with status and vendor error, an event
// of rdma_cm that was not wanted a [*CMError], a loop that did not end well a
// [*LoopError] around any of these.
//
// # Waiting
//
// Whatever waits takes a context, and ends when that is done. The kernel or a
// provider can still hang inside a call: use the package from a worker process
// that can be killed.
package verbs
