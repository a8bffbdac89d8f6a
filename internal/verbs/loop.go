package verbs

import (
	"fmt"
	"time"
)

// A Loop is a measurement: what is posted, on which QPs, how often. Both ends
// of a measurement have one with the same numbers.
//
// The order at each end is Prepare, a barrier with the other end, the loop
// itself. An RDMA read or write for bandwidth needs nothing but Prepare at the
// end it is done to.
type Loop struct {
	Lanes      []Lane
	Op         Opcode        // OpRDMAWrite, OpSend, OpRDMARead, OpFetchAdd, OpCompSwap
	Size       int           // bytes a message; atomics have 8
	Iterations int           // a lane; 0: for Duration, or at a sink until ctx ends
	Duration   time.Duration // of a stream without Iterations
	Depth      int           // send work requests in flight a lane; 0 is 128, perftest's
	RxDepth    int           // receives posted a lane, of OpSend; 0 is 512, perftest's
	CQMod      int           // every so many are signaled; 0 is perftest's choice: 100, above 8 KiB 1
	InlineMax  int           // messages up to so many bytes go inline where the QP takes them
	Events     bool          // latency: sleep for each completion on the CQ's channel, do not poll
	Initiator  bool          // latency: this end sends first
	Split      bool          // ordering: the flag is a write of its own, not the payload's last word
	Limit      time.Duration // the loop ends after so long, with an error
	CPU        int           // pins the loop's thread to this CPU; 0 is none, n is CPU n-1
	Marks      int           // bandwidth: at most so many points of progress; 0 is 200
}

// Lane is a connected QP with the memory it uses and that of its peer's lane.
type Lane struct {
	QP         *QP
	MR         *MR
	SendOffset uint64 // into MR: what is sent, or read into
	RecvOffset uint64 // into MR: what the peer's lane sends and writes into
	RemoteAddr uint64 // the peer's lane's memory at RecvOffset
	RKey       uint32
}

// LaneBytes is the room that SendOffset and RecvOffset each need before what
// comes behind them, for messages of size bytes.
func LaneBytes(size int) uint64 {
	const page = 4096
	// A flag of the ordering loop stands behind the payload.
	return (uint64(max(size, 0)) + 128 + page - 1) / page * page
}

// Perftest's numbers, which Loop takes for zero.
const (
	DefaultDepth   = 128
	DefaultRxDepth = 512
	defaultCQMod   = 100
	// Above this size perftest signals every message.
	cqModLimit = 8192
	// InlineWrite and InlineSend are the sizes up to which perftest's
	// latency tests send inline.
	InlineWrite = 220
	InlineSend  = 236
)

// withDefaults fills in what was left zero.
func (l Loop) withDefaults() Loop {
	if l.Depth == 0 {
		l.Depth = DefaultDepth
	}
	if l.RxDepth == 0 {
		l.RxDepth = DefaultRxDepth
	}
	if l.Iterations > 0 {
		l.Depth = min(l.Depth, l.Iterations)
		l.RxDepth = min(l.RxDepth, l.Iterations)
	}
	if l.CQMod == 0 {
		l.CQMod = defaultCQMod
		if l.Size > cqModLimit {
			l.CQMod = 1
		}
	}
	l.CQMod = min(l.CQMod, l.Depth)
	if l.Marks == 0 {
		l.Marks = 200
	}
	if l.Limit == 0 {
		l.Limit = time.Minute
	}
	if l.Op == OpFetchAdd || l.Op == OpCompSwap {
		l.Size = 8
	}
	return l
}

// Latency is what a latency loop saw.
type Latency struct {
	// Samples are in the order they were taken. Of writes and sends each is
	// half a round trip, as perftest gives it; of reads and atomics the whole
	// operation. None is left out: the first ones are warm-up.
	Samples []time.Duration
	// Took is from the first post to the last.
	Took time.Duration
}

// Flow is what a bandwidth loop saw.
type Flow struct {
	Messages uint64
	Bytes    uint64
	Took     time.Duration // from the first post (at a sink: first receive) to the last completion
	CPU      time.Duration // of the loop's thread, what the kernel did for it included
	Marks    []Mark
}

// BitsPerSecond is the payload's rate, 0 where nothing was measured.
func (f Flow) BitsPerSecond() float64 {
	if f.Took <= 0 {
		return 0
	}
	return float64(f.Bytes) * 8 / f.Took.Seconds()
}

// MessagesPerSecond is the rate of messages, 0 where nothing was measured.
func (f Flow) MessagesPerSecond() float64 {
	if f.Took <= 0 {
		return 0
	}
	return float64(f.Messages) / f.Took.Seconds()
}

// Mark is a point of a bandwidth loop's progress.
type Mark struct {
	After    time.Duration // since the loop began
	Messages uint64        // completed until then
}

// Ordering is what the reader of an ordering loop counted.
type Ordering struct {
	Checked    uint64 // flags that were seen
	Violations uint64 // of them, before all of their payload
	Words      uint64 // 8-byte words that were late
	First      uint64 // number of the first violation, from 1
}

// LoopError is a loop that did not end well. What it had measured is lost.
type LoopError struct {
	Op   string // where it was: "wait for completion"
	QPN  uint32 // 0 where it is no one QP's
	Done uint64 // messages or iterations before
	// Err is a *WCError, an *Errno, ErrLied, or an error that is
	// context.DeadlineExceeded or the cause of the context's end.
	Err error
}

func (e *LoopError) Error() string {
	return fmt.Sprintf("%s after %d: %v", e.Op, e.Done, e.Err)
}

// Unwrap gives the cause.
func (e *LoopError) Unwrap() error { return e.Err }
