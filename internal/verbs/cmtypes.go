package verbs

import (
	"fmt"
	"unsafe"
)

// CMEventType is rdma_cm_event_type.
type CMEventType int

// The events of rdma_cm.
const (
	CMAddrResolved   CMEventType = 0
	CMAddrError      CMEventType = 1
	CMRouteResolved  CMEventType = 2
	CMRouteError     CMEventType = 3
	CMConnectRequest CMEventType = 4
	CMConnectError   CMEventType = 6
	CMUnreachable    CMEventType = 7
	CMRejected       CMEventType = 8
	CMEstablished    CMEventType = 9
	CMDisconnected   CMEventType = 10
	CMDeviceRemoval  CMEventType = 11
	CMTimewaitExit   CMEventType = 15
)

func (e CMEventType) String() string {
	return name(int(e), map[int]string{0: "ADDR_RESOLVED", 1: "ADDR_ERROR", 2: "ROUTE_RESOLVED", 3: "ROUTE_ERROR",
		4: "CONNECT_REQUEST", 5: "CONNECT_RESPONSE", 6: "CONNECT_ERROR", 7: "UNREACHABLE", 8: "REJECTED",
		9: "ESTABLISHED", 10: "DISCONNECTED", 11: "DEVICE_REMOVAL", 12: "MULTICAST_JOIN", 13: "MULTICAST_ERROR",
		14: "ADDR_CHANGE", 15: "TIMEWAIT_EXIT"}, "rdma_cm event")
}

// CMError is an event of rdma_cm that came instead of the one that was waited
// for.
type CMError struct {
	Step  string      // "resolve route"
	Call  string      // what was waited for the end of: "rdma_resolve_route"
	Event CMEventType // ROUTE_ERROR
	// Status is a negative errno, or with REJECTED the reason of InfiniBand's
	// CM (8: invalid service ID, nobody listens; 28: the consumer says no).
	Status int
}

func (e *CMError) Error() string {
	return fmt.Sprintf("%s: event RDMA_CM_EVENT_%s, status %d", e.Step, e.Event, e.Status)
}

// CMParam is what a connection asks for and is answered with.
type CMParam struct {
	ResponderResources int // RDMA reads and atomics of the peer in flight
	InitiatorDepth     int // of its own
	RetryCount         int // ignored when accepting
	RNRRetryCount      int
	Data               []byte // private data: at most 56 bytes in a request, 196 in an answer
}

// CMID is an rdma_cm identifier, with an event channel of its own.
type CMID struct {
	*node
	lib     *Library
	ch      unsafe.Pointer // *C.struct_rdma_event_channel
	p       unsafe.Pointer // *C.struct_rdma_cm_id
	ctx     *Context
	port    int
	request CMParam
}

// Context is the device that the address is on, known after ResolveAddr and
// for the ID of a request. It is rdma_cm's own: its PDs, CQs and MRs are to be
// made from it, and it closes with the ID.
func (c *CMID) Context() *Context { return c.ctx }

// Port is the device's port, 0 where it is not known.
func (c *CMID) Port() int { return c.port }

// Request is what the peer asked for, of the ID of a request; after Connect
// what it answered.
func (c *CMID) Request() CMParam { return c.request }

// Close disconnects what is connected and destroys what was made from the ID.
func (c *CMID) Close() error { return c.close() }

// CMListener waits for connections on one address.
type CMListener struct {
	id   *CMID
	port uint16
}

// Port is the port that was bound.
func (l *CMListener) Port() uint16 { return l.port }

// Close stops listening.
func (l *CMListener) Close() error { return l.id.Close() }
