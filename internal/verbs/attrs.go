package verbs

import (
	"fmt"
	"net/netip"
	"time"
)

// Options says which libraries Load opens. The zero value is the system's.
// A path comes from a test or from a worker's task, never from a user's
// environment: what is opened runs with the rights of this process.
type Options struct {
	Verbs  string // "" is libibverbs.so.1
	RDMACM string // "" is librdmacm.so.1
}

// Device is an entry of ibv_get_device_list.
type Device struct {
	Name      string // mlx5_0
	Uverbs    string // uverbs0
	NodeGUID  uint64
	NodeType  int // ibv_node_type: 1 CA, 4 RNIC
	Transport int // ibv_transport_type: 0 IB (and RoCE), 1 iWARP
}

// NodeRNIC is the ibv_node_type of an iWARP device.
const NodeRNIC = 4

// DeviceAttr is ibv_query_device_ex, or ibv_query_device where the provider
// has no more.
type DeviceAttr struct {
	FWVer                        string
	NodeGUID, SysImageGUID       uint64
	VendorID, VendorPartID       uint32
	HWVer                        uint32
	MaxMRSize                    uint64 // bytes
	PageSizeCap                  uint64 // bit set of page sizes
	DeviceCapFlags               uint32 // ibv_device_cap_flags
	MaxQP, MaxQPWR, MaxSGE       int
	MaxSGERd                     int
	MaxCQ, MaxCQE                int
	MaxMR, MaxPD, MaxAH, MaxSRQ  int
	MaxQPRdAtom, MaxQPInitRdAtom int
	AtomicCap                    int // ibv_atomic_cap: 0 none, 1 HCA, 2 global
	MaxPKeys                     int
	PhysPortCnt                  int
	LocalCAAckDelay              int // exponent of 4.096 us

	Ex bool // what follows was answered
	// ODPGeneral is ibv_odp_general_caps, ODPRC ibv_odp_transport_cap_bits.
	ODPGeneral uint64
	ODPRC      uint32
	// PCIAtomicFetchAdd and so on are the sizes the device can do over PCIe.
	PCIAtomicFetchAdd, PCIAtomicSwap, PCIAtomicCompareSwap uint16
}

// PortAttr is ibv_query_port. MTUs are bytes.
type PortAttr struct {
	State      int // ibv_port_state: 1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE
	PhysState  int // 5 LinkUp
	MaxMTU     int
	ActiveMTU  int
	GIDTblLen  int
	PKeyTblLen int
	MaxMsgSz   uint32
	LID, SMLID uint16
	LMC, SMSL  uint8
	LinkLayer  int // 1 InfiniBand, 2 Ethernet
	// ActiveWidth and ActiveSpeed are the codes of verbs.h.
	ActiveWidth, ActiveSpeed uint8
	PortCapFlags             uint32
}

// The codes of PortAttr.
const (
	PortActive          = 4
	LinkLayerInfiniBand = 1
	LinkLayerEthernet   = 2
)

// GIDType is ibv_gid_type.
type GIDType int

// The types of a GID table's entries.
const (
	GIDTypeIB     GIDType = 0
	GIDTypeRoCEv1 GIDType = 1
	GIDTypeRoCEv2 GIDType = 2
)

func (t GIDType) String() string {
	return name(int(t), map[int]string{0: "IB", 1: "RoCE v1", 2: "RoCE v2"}, "GID type")
}

// GID is 16 bytes, written as an IPv6 address.
type GID [16]byte

func (g GID) String() string { return netip.AddrFrom16(g).String() }

// GIDEntry is an entry of a port's GID table.
type GIDEntry struct {
	GID     GID
	Index   int
	Port    int
	Type    GIDType
	IfIndex int // of its netdev, 0 for none
}

// QPCaps is ibv_qp_cap: what is asked of a QP, and what it got.
type QPCaps struct {
	MaxSendWR, MaxRecvWR   int
	MaxSendSGE, MaxRecvSGE int
	MaxInlineData          int // bytes
}

// QPInit says what QP to make. SGEs of 0 are taken for 1.
type QPInit struct {
	Type           QPType
	SendCQ, RecvCQ *CQ // RecvCQ nil is SendCQ
	Caps           QPCaps
	SignalAll      bool // sq_sig_all
}

// AHAttr is ibv_ah_attr: the way to a port.
type AHAttr struct {
	Port         int
	DLID         uint16 // InfiniBand
	SL           uint8
	SrcPathBits  uint8
	StaticRate   uint8
	Global       bool // with a GRH: always so for RoCE
	DGID         GID
	SGIDIndex    int
	HopLimit     uint8
	TrafficClass uint8
	FlowLabel    uint32
}

func (a AHAttr) String() string {
	if !a.Global {
		return fmt.Sprintf("port %d, DLID %d, SL %d", a.Port, a.DLID, a.SL)
	}
	s := fmt.Sprintf("port %d, GID index %d, DGID %v, hop limit %d, traffic class %d", a.Port, a.SGIDIndex, a.DGID,
		a.HopLimit, a.TrafficClass)
	if a.DLID != 0 {
		s += fmt.Sprintf(", DLID %d", a.DLID)
	}
	return s
}

// InitAttr is what modify to INIT takes. Access is of RC and UC, QKey of UD.
type InitAttr struct {
	Port      int
	PKeyIndex int
	Access    Access
	QKey      uint32
}

// RTRAttr is what modify to RTR takes. A UD QP takes nothing of it, a UC QP
// neither MaxDestRdAtomic nor MinRNRTimer.
type RTRAttr struct {
	AH              AHAttr
	PathMTU         int // bytes: 256, 512, 1024, 2048, 4096
	DestQPN         uint32
	RQPSN           uint32
	MaxDestRdAtomic int
	MinRNRTimer     int // code of verbs.h: 12 is 0.64 ms, 0 is 655 ms
}

// RTSAttr is what modify to RTS takes. UC and UD QPs take SQPSN alone.
type RTSAttr struct {
	SQPSN       uint32
	Timeout     int // 4.096 us * 2^Timeout; 0 waits for ever
	RetryCnt    int // 0 to 7
	RNRRetry    int // 0 to 7; 7 tries for ever
	MaxRdAtomic int
}

// DefaultRTS is what perftest takes: timeout 14 (67 ms), 7 retries.
func DefaultRTS() RTSAttr { return RTSAttr{Timeout: 14, RetryCnt: 7, RNRRetry: 7, MaxRdAtomic: 1} }

// QPStatus is what ibv_query_qp says.
type QPStatus struct {
	State       QPState
	PathMTU     int // bytes
	Caps        QPCaps
	RQPSN       uint32
	SQPSN       uint32
	DestQPN     uint32
	RetryCnt    int
	RNRRetry    int
	Timeout     int
	MinRNRTimer int
	MaxRdAtomic int
}

// WR is a send work request with at most one local piece of memory.
type WR struct {
	ID         uint64
	Op         Opcode
	MR         *MR    // nil for no data
	Offset     uint64 // into the MR
	Length     uint32 // bytes; atomics take 8
	RemoteAddr uint64
	RKey       uint32
	Imm        uint32 // host order
	Unsignaled bool
	Inline     bool
	Solicited  bool
	Fence      bool
	CompareAdd uint64 // the value compared, or added
	Swap       uint64
	// Of UD.
	AH         *AH
	RemoteQPN  uint32
	RemoteQKey uint32
}

// WC is a completion. With an error only ID, Status, VendorErr and QPN are
// defined.
type WC struct {
	ID        uint64
	Status    WCStatus
	Opcode    WCOpcode
	VendorErr uint32
	ByteLen   uint32
	QPN       uint32
	SrcQP     uint32
	Imm       uint32 // host order, with HasImm
	HasImm    bool
	HasGRH    bool
}

// Err is nil for success, else what op came to.
func (w WC) Err(op string) error {
	if w.Status == WCSuccess {
		return nil
	}
	return &WCError{Op: op, Status: w.Status, VendorErr: w.VendorErr, QPN: w.QPN}
}

// AsyncEvent is an asynchronous event of a device, already acknowledged.
type AsyncEvent struct {
	Type EventType
	Port int    // of a port event
	QPN  uint32 // of a QP event
}

// Registration is what a memory registration took.
type Registration struct {
	Length uint64
	Took   time.Duration // of the call alone
}

// mtuBytes is the bytes of an ibv_mtu, 0 for one that is none.
func mtuBytes(code int) int {
	if code < 1 || code > 5 {
		return 0
	}
	return 128 << code
}

// mtuCode is the ibv_mtu of a number of bytes, 0 for none: the library then
// refuses it itself.
func mtuCode(bytes int) int {
	for code := 1; code <= 5; code++ {
		if mtuBytes(code) == bytes {
			return code
		}
	}
	return 0
}
