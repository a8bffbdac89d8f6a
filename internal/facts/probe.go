package facts

import "time"

// Path is how the packets of a probe were addressed: the attributes that the
// queue pair was moved to RTR and RTS with. What does not exist on a transport
// is not read (an InfiniBand path without GRH has no SGIDIndex).
type Path struct {
	Transport    string      `json:"transport"` // "InfiniBand", "RoCE v1", "RoCE v2" or "iWARP"
	Service      string      `json:"service"`   // "RC", "UC", "UD" or "SRD"
	PathMTU      int         `json:"path_mtu_bytes,omitempty"`
	SGIDIndex    Opt[int]    `json:"sgid_index,omitzero"`
	SGID         string      `json:"sgid,omitempty"`
	DGID         string      `json:"dgid,omitempty"`
	DLID         Opt[int]    `json:"dlid,omitzero"`
	PkeyIndex    Opt[int]    `json:"pkey_index,omitzero"`
	ServiceLevel Opt[int]    `json:"sl,omitzero"`
	TrafficClass Opt[int]    `json:"traffic_class,omitzero"`
	Priority     Opt[int]    `json:"priority,omitzero"` // that the bytes rode, as the DCB facts say
	ByCM         bool        `json:"rdma_cm,omitempty"` // connected by rdma_cm, not by exchanged QP data
	Timeout      Opt[int]    `json:"timeout,omitzero"`  // local ACK timeout, 4.096 us * 2^n
	RetryCount   Opt[int]    `json:"retry_cnt,omitzero"`
	Netdev       string      `json:"netdev,omitempty"` // of the GID
	VLAN         Opt[uint16] `json:"vlan,omitzero"`
}

// Ladder is what the ladder saw: each step of a queue pair's life from opening
// the device to moving data, and what was refused. One ladder is one path, of
// a port to itself or to a peer's port.
type Ladder struct {
	Probe   string      `json:"probe"`            // "self" or "pair"
	Local   string      `json:"local"`            // "mlx5_0/1"
	Remote  string      `json:"remote,omitempty"` // "hostB mlx5_2/1"; empty: itself
	Path    Path        `json:"path"`
	Steps   []ProbeStep `json:"steps"`             // in the order in which they were made
	Refused []ProbeStep `json:"refused,omitempty"` // accesses that must not succeed
	// Varied is what was tried after a step had failed, one attribute at a time.
	Varied  []Variation     `json:"varied,omitempty"`
	Regions []Registration  `json:"regions,omitempty"` // by size
	Events  []AsyncEvent    `json:"events,omitempty"`  // asynchronous events meanwhile
	Limits  DeviceLimits    `json:"limits,omitzero"`
	Moved   []CounterMove   `json:"counters_moved,omitempty"`
	Canary  Opt[bool]       `json:"canary_changed,omitzero"` // memory outside of what was asked for changed
	Time    time.Duration   `json:"duration_nanos"`
	End     ProbeEnd        `json:"end"`
	Skipped []SkippedReason `json:"skipped,omitempty"`
	// Planned is what would have been run, of a ladder that was not.
	Planned []PlannedPart `json:"planned,omitempty"`
}

// PlannedPart is a part of a probe and the load that it makes.
type PlannedPart struct {
	What string `json:"what"`
	Load string `json:"load"`
}

// SkippedReason is a part of a probe that was not run, and why: "atomics",
// "the device has none".
type SkippedReason struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// ProbeStep is one call or one transfer. The names are: open, query-device,
// query-port, alloc-pd, create-comp-channel, create-cq, reg-mr,
// reg-mr-unaligned, create-qp, init, rtr, rts, write, read, send, recv,
// fetch-add, cmp-swap, dereg-mr, destroy-qp; resolve-addr, resolve-route,
// listen, connect, accept, established, disconnect of rdma_cm. Refused accesses
// are wrong-rkey, stale-rkey, out-of-range, no-remote-write, no-remote-read,
// no-remote-atomic and no-receive.
type ProbeStep struct {
	Name   string        `json:"name"`
	Op     string        `json:"op,omitempty"`    // of a refused access: "write", "read", "fetch-add", "send"
	Role   string        `json:"role,omitempty"`  // "requester" or "responder", where both ends make it
	Bytes  int           `json:"bytes,omitempty"` // of the transfer or region
	Time   time.Duration `json:"duration_nanos"`
	Detail string        `json:"detail,omitempty"` // what the call gave, "max_send_wr 128"
	// Verified is whether the bytes arrived as sent, where that can be seen.
	Verified Opt[bool]  `json:"verified,omitzero"`
	Error    *StepError `json:"error,omitempty" jsonschema:"nullable"`
}

// StepError is how a step failed. Which fields are there says how: a call has
// an errno, a completion a status, rdma_cm an event.
type StepError struct {
	Call      string   `json:"call"` // "ibv_modify_qp", "ibv_poll_cq", "rdma_resolve_addr"
	Errno     int      `json:"errno,omitempty"`
	Name      string   `json:"errno_name,omitempty"` // "ENOMEM"
	WCStatus  Opt[int] `json:"wc_status,omitzero"`   // enum ibv_wc_status
	VendorErr uint32   `json:"vendor_err,omitempty"`
	QPState   string   `json:"qp_state,omitempty"` // after it: "ERR", "RTS"
	Event     string   `json:"event,omitempty"`    // of rdma_cm or asynchronous, by its name in verbs.h
	Reason    Opt[int] `json:"reason,omitzero"`    // status of a rdma_cm event: negative errno or reject reason
	TimedOut  bool     `json:"timed_out,omitempty"`
	Text      string   `json:"text"` // one sentence
}

// Error implements error.
func (e *StepError) Error() string { return e.Text }

// Variation is one try of a failed step with one attribute changed.
type Variation struct {
	Step      string     `json:"step"`
	Attribute string     `json:"attribute"` // "sgid_index", "path_mtu", "pkey_index", "is_global", "max_inline_data"
	From      string     `json:"from"`
	To        string     `json:"to"`
	Error     *StepError `json:"error,omitempty" jsonschema:"nullable"` // nil: it worked
}

// Registration is one memory region that was registered.
type Registration struct {
	Bytes    int           `json:"bytes"`
	Register time.Duration `json:"register_nanos"`
	Deregist time.Duration `json:"deregister_nanos"`
	Error    *StepError    `json:"error,omitempty" jsonschema:"nullable"`
}

// AsyncEvent is an asynchronous event of verbs.h: "IBV_EVENT_QP_ACCESS_ERR".
type AsyncEvent struct {
	Name    string        `json:"name"`
	Subject string        `json:"subject,omitempty"` // "mlx5_0/1" or "qp 0x1a"
	After   time.Duration `json:"after_nanos"`       // since the probe began
}

// DeviceLimits are maxima of struct ibv_device_attr that probes come near to.
type DeviceLimits struct {
	MaxQP        int    `json:"max_qp,omitempty"`
	MaxQPWR      int    `json:"max_qp_wr,omitempty"`
	MaxCQ        int    `json:"max_cq,omitempty"`
	MaxCQE       int    `json:"max_cqe,omitempty"`
	MaxMR        int    `json:"max_mr,omitempty"`
	MaxMRBytes   uint64 `json:"max_mr_size_bytes,omitempty"`
	MaxPD        int    `json:"max_pd,omitempty"`
	MaxQPRDAtom  int    `json:"max_qp_rd_atom,omitempty"`
	MaxInline    int    `json:"max_inline_data_bytes,omitempty"`
	AtomicCap    string `json:"atomic_cap,omitempty"` // "IBV_ATOMIC_NONE", "IBV_ATOMIC_HCA", "IBV_ATOMIC_GLOB"
	OnDemandPage bool   `json:"odp,omitempty"`
}

// Outcome is how a probe's process ended.
type Outcome string

// The outcomes.
const (
	Completed   Outcome = "completed"   // it told all it had to tell
	Crashed     Outcome = "crashed"     // a signal of its own: SIGSEGV, SIGBUS, SIGABRT
	OOMKilled   Outcome = "oom-killed"  // SIGKILL that was not ours
	Hung        Outcome = "hung"        // no answer in time; it was killed
	Stuck       Outcome = "stuck"       // killed and did not end: asleep in the kernel, left behind
	Garbled     Outcome = "garbled"     // it told something that is not its language
	Unavailable Outcome = "unavailable" // nothing could be run: no verbs here or there, or no far end
	PeerGone    Outcome = "peer-gone"   // the far end ended or fell silent
	Stopped     Outcome = "stopped"     // interrupted by the user
	NotRun      Outcome = "not-run"     // not run: the port is busy, carries storage, or nobody agreed
)

// ProbeEnd is how a probe ended and in which step it was.
type ProbeEnd struct {
	Outcome Outcome `json:"outcome"`
	Step    string  `json:"step,omitempty"`   // begun and not ended
	Signal  string  `json:"signal,omitempty"` // "SIGSEGV"
	Detail  string  `json:"detail,omitempty"`
}
