package verbs

import (
	"fmt"
	"strings"
)

// Access is ibv_access_flags.
type Access uint32

// The access flags of verbs.h. RelaxedOrdering is an optional flag: a provider
// that does not know it ignores it, and a library without ibv_reg_mr_iova2
// never sees it.
const (
	AccessLocalWrite      Access = 1 << 0
	AccessRemoteWrite     Access = 1 << 1
	AccessRemoteRead      Access = 1 << 2
	AccessRemoteAtomic    Access = 1 << 3
	AccessOnDemand        Access = 1 << 6
	AccessRelaxedOrdering Access = 1 << 20

	// AccessAll is what a ladder needs of one MR.
	AccessAll = AccessLocalWrite | AccessRemoteWrite | AccessRemoteRead | AccessRemoteAtomic
)

func (a Access) String() string {
	var s []string
	for _, f := range []struct {
		bit  Access
		name string
	}{{AccessLocalWrite, "LOCAL_WRITE"}, {AccessRemoteWrite, "REMOTE_WRITE"}, {AccessRemoteRead, "REMOTE_READ"},
		{AccessRemoteAtomic, "REMOTE_ATOMIC"}, {AccessOnDemand, "ON_DEMAND"}, {AccessRelaxedOrdering, "RELAXED_ORDERING"}} {
		if a&f.bit != 0 {
			s = append(s, f.name)
		}
	}
	if len(s) == 0 {
		return "none"
	}
	return strings.Join(s, "|")
}

// QPType is ibv_qp_type.
type QPType int

// The QP types that the engine makes.
const (
	RC QPType = 2
	UC QPType = 3
	UD QPType = 4
)

func (t QPType) String() string {
	return name(int(t), map[int]string{2: "RC", 3: "UC", 4: "UD"}, "QP type")
}

// QPState is ibv_qp_state plus one, so that its zero value is not asked.
type QPState int

// The states of a QP.
const (
	QPStateUnknown QPState = iota
	QPStateReset
	QPStateInit
	QPStateRTR
	QPStateRTS
	QPStateSQD
	QPStateSQE
	QPStateErr
)

func (s QPState) String() string {
	return name(int(s), map[int]string{0: "unknown", 1: "RESET", 2: "INIT", 3: "RTR", 4: "RTS", 5: "SQD", 6: "SQE", 7: "ERR"}, "QP state")
}

// WCStatus is ibv_wc_status.
type WCStatus int

// The statuses that a reader looks for by name.
const (
	WCSuccess        WCStatus = 0
	WCLocLenErr      WCStatus = 1
	WCLocQPOpErr     WCStatus = 2
	WCLocProtErr     WCStatus = 4
	WCWRFlushErr     WCStatus = 5
	WCLocAccessErr   WCStatus = 8
	WCRemInvReqErr   WCStatus = 9
	WCRemAccessErr   WCStatus = 10
	WCRemOpErr       WCStatus = 11
	WCRetryExcErr    WCStatus = 12
	WCRNRRetryExcErr WCStatus = 13
	WCFatalErr       WCStatus = 19
	WCGeneralErr     WCStatus = 21
)

func (s WCStatus) String() string {
	return name(int(s), map[int]string{0: "SUCCESS", 1: "LOC_LEN_ERR", 2: "LOC_QP_OP_ERR", 3: "LOC_EEC_OP_ERR",
		4: "LOC_PROT_ERR", 5: "WR_FLUSH_ERR", 6: "MW_BIND_ERR", 7: "BAD_RESP_ERR", 8: "LOC_ACCESS_ERR",
		9: "REM_INV_REQ_ERR", 10: "REM_ACCESS_ERR", 11: "REM_OP_ERR", 12: "RETRY_EXC_ERR", 13: "RNR_RETRY_EXC_ERR",
		14: "LOC_RDD_VIOL_ERR", 15: "REM_INV_RD_REQ_ERR", 16: "REM_ABORT_ERR", 17: "INV_EECN_ERR",
		18: "INV_EEC_STATE_ERR", 19: "FATAL_ERR", 20: "RESP_TIMEOUT_ERR", 21: "GENERAL_ERR", 22: "TM_ERR",
		23: "TM_RNDV_INCOMPLETE"}, "status")
}

// WCOpcode is ibv_wc_opcode. It is defined only where the status is success.
type WCOpcode int

// The opcodes of completions.
const (
	WCSend      WCOpcode = 0
	WCRDMAWrite WCOpcode = 1
	WCRDMARead  WCOpcode = 2
	WCCompSwap  WCOpcode = 3
	WCFetchAdd  WCOpcode = 4
	WCRecv      WCOpcode = 128
	WCRecvImm   WCOpcode = 129
)

func (o WCOpcode) String() string {
	return name(int(o), map[int]string{0: "SEND", 1: "RDMA_WRITE", 2: "RDMA_READ", 3: "COMP_SWAP", 4: "FETCH_ADD",
		128: "RECV", 129: "RECV_RDMA_WITH_IMM"}, "opcode")
}

// Opcode is ibv_wr_opcode, of what is posted.
type Opcode int

// The opcodes of send work requests.
const (
	OpRDMAWrite    Opcode = 0
	OpRDMAWriteImm Opcode = 1
	OpSend         Opcode = 2
	OpSendImm      Opcode = 3
	OpRDMARead     Opcode = 4
	OpCompSwap     Opcode = 5
	OpFetchAdd     Opcode = 6
)

func (o Opcode) String() string {
	return name(int(o), map[int]string{0: "RDMA write", 1: "RDMA write with immediate", 2: "send",
		3: "send with immediate", 4: "RDMA read", 5: "compare and swap", 6: "fetch and add"}, "opcode")
}

// EventType is ibv_event_type.
type EventType int

// The events that a prober reads a meaning from.
const (
	EventCQErr        EventType = 0
	EventQPFatal      EventType = 1
	EventQPReqErr     EventType = 2
	EventQPAccessErr  EventType = 3
	EventCommEst      EventType = 4
	EventDeviceFatal  EventType = 8
	EventPortActive   EventType = 9
	EventPortErr      EventType = 10
	EventLIDChange    EventType = 11
	EventPKeyChange   EventType = 12
	EventGIDChange    EventType = 18
	EventClientRereg  EventType = 17
	EventLastWQEReach EventType = 16
)

func (e EventType) String() string {
	return name(int(e), map[int]string{0: "CQ_ERR", 1: "QP_FATAL", 2: "QP_REQ_ERR", 3: "QP_ACCESS_ERR", 4: "COMM_EST",
		5: "SQ_DRAINED", 6: "PATH_MIG", 7: "PATH_MIG_ERR", 8: "DEVICE_FATAL", 9: "PORT_ACTIVE", 10: "PORT_ERR",
		11: "LID_CHANGE", 12: "PKEY_CHANGE", 13: "SM_CHANGE", 14: "SRQ_ERR", 15: "SRQ_LIMIT_REACHED",
		16: "QP_LAST_WQE_REACHED", 17: "CLIENT_REREGISTER", 18: "GID_CHANGE", 19: "WQ_FATAL"}, "event")
}

// OfPort says that the event's element is a port.
func (e EventType) OfPort() bool {
	return e >= EventPortActive && e <= 13 || e == EventClientRereg || e == EventGIDChange
}

// OfQP says that the event's element is a QP.
func (e EventType) OfQP() bool {
	return e >= EventQPFatal && e <= 7 || e == EventLastWQEReach
}

func name(v int, names map[int]string, kind string) string {
	if s, ok := names[v]; ok {
		return s
	}
	return fmt.Sprintf("%s %d", kind, v)
}
