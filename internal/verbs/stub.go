//go:build !cgo || !linux || noverbs

package verbs

import (
	"context"
	"net/netip"
	"time"
)

// Supported says that this build has the engine.
const Supported = false

// Load fails with ErrUnsupported. No handle can be had without it, so what
// follows is never reached and only keeps the API the same.
func Load(Options) (*Library, error) { return nil, ErrUnsupported }

// Devices needs the engine.
func (l *Library) Devices() ([]Device, error) { return nil, ErrUnsupported }

// Open needs the engine.
func (l *Library) Open(string) (*Context, error) { return nil, ErrUnsupported }

// Alloc needs the engine.
func (l *Library) Alloc(uint64) (*Memory, error) { return nil, ErrUnsupported }

// QueryDevice needs the engine.
func (c *Context) QueryDevice() (DeviceAttr, error) { return DeviceAttr{}, ErrUnsupported }

// QueryPort needs the engine.
func (c *Context) QueryPort(int) (PortAttr, error) { return PortAttr{}, ErrUnsupported }

// QueryGID needs the engine.
func (c *Context) QueryGID(int, int) (GID, error) { return GID{}, ErrUnsupported }

// GIDTable needs the engine.
func (c *Context) GIDTable(int) ([]GIDEntry, error) { return nil, ErrUnsupported }

// QueryPKey needs the engine.
func (c *Context) QueryPKey(int, int) (uint16, error) { return 0, ErrUnsupported }

// AsyncEvent needs the engine.
func (c *Context) AsyncEvent() (AsyncEvent, error) { return AsyncEvent{}, ErrUnsupported }

// AllocPD needs the engine.
func (c *Context) AllocPD() (*PD, error) { return nil, ErrUnsupported }

// CreateCompChannel needs the engine.
func (c *Context) CreateCompChannel() (*CompChannel, error) { return nil, ErrUnsupported }

// CreateCQ needs the engine.
func (c *Context) CreateCQ(int, *CompChannel) (*CQ, error) { return nil, ErrUnsupported }

// RegMR needs the engine.
func (p *PD) RegMR(*Memory, uint64, uint64, Access) (*MR, error) { return nil, ErrUnsupported }

// CreateQP needs the engine.
func (p *PD) CreateQP(QPInit) (*QP, error) { return nil, ErrUnsupported }

// CreateAH needs the engine.
func (p *PD) CreateAH(AHAttr) (*AH, error) { return nil, ErrUnsupported }

// ToInit needs the engine.
func (q *QP) ToInit(InitAttr) error { return ErrUnsupported }

// ToRTR needs the engine.
func (q *QP) ToRTR(RTRAttr) error { return ErrUnsupported }

// ToRTS needs the engine.
func (q *QP) ToRTS(RTSAttr) error { return ErrUnsupported }

// ToErr needs the engine.
func (q *QP) ToErr() error { return ErrUnsupported }

// ToReset needs the engine.
func (q *QP) ToReset() error { return ErrUnsupported }

// Query needs the engine.
func (q *QP) Query() (QPStatus, error) { return QPStatus{}, ErrUnsupported }

// State needs the engine.
func (q *QP) State() QPState { return QPStateUnknown }

// PostSend needs the engine.
func (q *QP) PostSend(WR) error { return ErrUnsupported }

// PostRecv needs the engine.
func (q *QP) PostRecv(uint64, *MR, uint64, uint32) error { return ErrUnsupported }

// Poll needs the engine.
func (c *CQ) Poll() (WC, bool, error) { return WC{}, false, ErrUnsupported }

// Wait needs the engine.
func (c *CQ) Wait(context.Context, time.Duration) (WC, error) { return WC{}, ErrUnsupported }

// WaitEvent needs the engine.
func (c *CQ) WaitEvent(context.Context, time.Duration) (WC, error) { return WC{}, ErrUnsupported }

// Prepare needs the engine.
func (l Loop) Prepare() error { return ErrUnsupported }

// Latency needs the engine.
func (l Loop) Latency(context.Context) (Latency, error) { return Latency{}, ErrUnsupported }

// Stream needs the engine.
func (l Loop) Stream(context.Context) (Flow, error) { return Flow{}, ErrUnsupported }

// Sink needs the engine.
func (l Loop) Sink(context.Context) (Flow, error) { return Flow{}, ErrUnsupported }

// OrderWriter needs the engine.
func (l Loop) OrderWriter(context.Context) error { return ErrUnsupported }

// OrderReader needs the engine.
func (l Loop) OrderReader(context.Context) (Ordering, error) { return Ordering{}, ErrUnsupported }

// NewCMID needs the engine.
func (l *Library) NewCMID() (*CMID, error) { return nil, ErrUnsupported }

// ResolveAddr needs the engine.
func (c *CMID) ResolveAddr(context.Context, time.Duration, netip.Addr, netip.AddrPort) error {
	return ErrUnsupported
}

// ResolveRoute needs the engine.
func (c *CMID) ResolveRoute(context.Context, time.Duration) error { return ErrUnsupported }

// CreateQP needs the engine.
func (c *CMID) CreateQP(*PD, QPInit) (*QP, error) { return nil, ErrUnsupported }

// Connect needs the engine.
func (c *CMID) Connect(context.Context, time.Duration, CMParam) error { return ErrUnsupported }

// Accept needs the engine.
func (c *CMID) Accept(context.Context, time.Duration, CMParam) error { return ErrUnsupported }

// Reject needs the engine.
func (c *CMID) Reject() error { return ErrUnsupported }

// Disconnect needs the engine.
func (c *CMID) Disconnect(context.Context, time.Duration) error { return ErrUnsupported }

// WaitDisconnected needs the engine.
func (c *CMID) WaitDisconnected(context.Context, time.Duration) error { return ErrUnsupported }

// CMListen needs the engine.
func (l *Library) CMListen(netip.AddrPort) (*CMListener, error) { return nil, ErrUnsupported }

// Request needs the engine.
func (l *CMListener) Request(context.Context, time.Duration) (*CMID, error) {
	return nil, ErrUnsupported
}
