package probes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// PeerProbe is the name of the task that both workers of a pair get.
const PeerProbe = "pair"

var _ = register(PeerProbe, func(ctx context.Context, lib *verbs.Library, params json.RawMessage, tell Reporter) error {
	p, err := ParsePeer(params)
	if err != nil {
		return err
	}
	return runPeer(ctx, lib, p, tell)
})

// Peer is what one worker of a pair is told. The near one asks for everything
// over the Link, and the far one does it.
type Peer struct {
	Near   bool   `json:"near,omitempty"`
	Device string `json:"device"`
	Port   int    `json:"port"`
	// Local and Remote name both ports in what is reported: "mlx5_0/1" and
	// "hostB mlx5_2/1".
	Local  string `json:"local,omitempty"`
	Remote string `json:"remote,omitempty"`
	// Transport and Netdev are only reported.
	Transport string `json:"transport,omitempty"`
	Netdev    string `json:"netdev,omitempty"`
	Global    bool   `json:"global,omitempty"` // with a GRH
	GIDIndex  int    `json:"gid_index"`
	// Others are indexes that are tried where GIDIndex does not work.
	Others       []int `json:"other_gid_indexes,omitempty"`
	PKeyIndex    int   `json:"pkey_index"`
	SL           int   `json:"sl"`
	TrafficClass int   `json:"traffic_class"`
	// PathMTU is in bytes; 0 is the lesser active MTU of both ports.
	PathMTU int `json:"path_mtu_bytes,omitempty"`
	// Address is that of the netdev, and PeerAddress the far one's, for rdma_cm.
	Address     string `json:"address,omitempty"`
	PeerAddress string `json:"peer_address,omitempty"`
	// CM asks for a ladder of a connection by rdma_cm.
	CM bool `json:"rdma_cm,omitempty"`
	// Ladder asks for the steps of a connection and one transfer of each kind.
	Ladder bool `json:"ladder,omitempty"`
	// Tests are measured after it, in order. The far end ignores them.
	Tests []PeerTest `json:"tests,omitempty"`
}

// PeerTest is one measurement.
type PeerTest struct {
	Probe     string        `json:"probe"` // "latency", "bandwidth", "message-rate"
	Op        string        `json:"op"`    // "write", "read", "send"
	Size      int           `json:"size_bytes"`
	Depth     int           `json:"depth"`
	QPs       int           `json:"qps"`
	Direction string        `json:"direction"`      // "out", "in", "both"
	Mode      string        `json:"mode,omitempty"` // "event"
	Time      time.Duration `json:"time_nanos"`     // at most, warm-up included
	Count     int           `json:"iterations"`
}

// Bounds of what a worker does for another host.
const (
	maxPeerSize  = 8 << 20 // bytes of a message
	maxPeerDepth = 1024
	maxPeerQPs   = 64
	maxPeerTime  = time.Minute
	maxPeerCount = 1 << 20
	maxPeerTests = 256
	peerMemory   = 16 << 20 // bytes registered at each end
)

var errPeer = errors.New("pair probe not in form")

// ParsePeer reads the parameters of a task, which may come from another host.
func ParsePeer(text []byte) (*Peer, error) {
	var p Peer
	if err := decode(text, &p); err != nil {
		return nil, fmt.Errorf("%w: %w", errPeer, err)
	}
	switch {
	case p.Device == "" || len(p.Device) > 64 || p.Port < 1 || p.Port > 255:
		return nil, fmt.Errorf("%w: port %d of device %.80q", errPeer, p.Port, p.Device)
	case p.GIDIndex < 0 || p.GIDIndex > 255 || p.PKeyIndex < 0 || p.PKeyIndex > 65535 || p.SL < 0 || p.SL > 15 || p.TrafficClass < 0 || p.TrafficClass > 255:
		return nil, fmt.Errorf("%w: GID index, pkey index, SL or traffic class out of range", errPeer)
	case p.PathMTU != 0 && !isMTU(p.PathMTU):
		return nil, fmt.Errorf("%w: path MTU %d", errPeer, p.PathMTU)
	case len(p.Tests) > maxPeerTests || len(p.Others) > 16:
		return nil, fmt.Errorf("%w: %d tests", errPeer, len(p.Tests))
	}
	for i := range p.Tests {
		if err := p.Tests[i].check(); err != nil {
			return nil, err
		}
	}
	return &p, nil
}

func (t *PeerTest) check() error {
	switch {
	case t.Size < 1 || t.Size > maxPeerSize || t.Depth < 1 || t.Depth > maxPeerDepth || t.QPs < 1 || t.QPs > maxPeerQPs ||
		t.Time <= 0 || t.Time > maxPeerTime || t.Count < 1 || t.Count > maxPeerCount:
		return fmt.Errorf("%w: a test of %d bytes, depth %d, %d QPs, %v, %d iterations", errPeer, t.Size, t.Depth, t.QPs, t.Time, t.Count)
	}
	return nil
}

func isMTU(n int) bool { return n == 256 || n == 512 || n == 1024 || n == 2048 || n == 4096 }

// runPeer is either worker's part of a pair.
func runPeer(ctx context.Context, lib *verbs.Library, p *Peer, tell Reporter) error {
	if p.Near {
		return (&near{pair: p, lib: lib, tell: tell}).run(ctx)
	}
	return (&far{pair: p, lib: lib, tell: tell}).run(ctx)
}

// request is what the near worker asks of the far one. Exactly one of the
// pointers is set, or End.
type request struct {
	Open    *openRequest    `json:"open,omitempty"`
	Connect *connectRequest `json:"connect,omitempty"`
	Listen  bool            `json:"listen,omitempty"` // for one connection by rdma_cm
	Accept  bool            `json:"accept,omitempty"` // that connection
	Fill    *fillRequest    `json:"fill,omitempty"`
	Receive *receiveRequest `json:"receive,omitempty"`
	Await   *awaitRequest   `json:"await,omitempty"`
	Prepare *PeerTest       `json:"prepare,omitempty"`
	Go      bool            `json:"go,omitempty"`     // starts the loop that is prepared; it has no reply
	Finish  bool            `json:"finish,omitempty"` // ends it
	End     bool            `json:"end,omitempty"`
}

// openRequest opens device, PD, CQs and memory.
type openRequest struct{}

// connectRequest makes QPs (in place of those before) and connects them.
type connectRequest struct {
	Near    endpoint `json:"near"`
	PathMTU int      `json:"path_mtu_bytes"`
	Other   bool     `json:"other,omitempty"` // with the first of the other GID indexes
}

// fillRequest sets the first bytes of the memory to the pattern of a seed, or
// compares them with it.
type fillRequest struct {
	Seed    byte `json:"seed"`
	Bytes   int  `json:"bytes"`
	Compare bool `json:"compare,omitempty"`
}

// receiveRequest posts receives.
type receiveRequest struct {
	Count int `json:"count"`
	Bytes int `json:"bytes"`
}

// awaitRequest waits for a receive to complete.
type awaitRequest struct {
	Time time.Duration `json:"time_nanos"`
}

// reply is the far worker's answer.
type reply struct {
	Steps   []facts.ProbeStep  `json:"steps,omitempty"` // that were made for it, the last may have failed
	Failed  bool               `json:"failed,omitempty"`
	Far     *endpoint          `json:"far,omitempty"`
	MTU     int                `json:"active_mtu_bytes,omitempty"`
	Port    uint16             `json:"port,omitempty"` // of the listener
	Same    bool               `json:"same,omitempty"` // the memory holds the pattern
	Result  *loopResult        `json:"result,omitempty"`
	Refused string             `json:"refused,omitempty"` // it is no request, or comes too early
	Events  []facts.AsyncEvent `json:"events,omitempty"`
}

// endpoint is what one end of a QP must know of the other.
type endpoint struct {
	QPNs      []uint32  `json:"qpns"`
	PSN       uint32    `json:"psn"`
	GID       verbs.GID `json:"gid"`
	LID       uint16    `json:"lid"`
	ActiveMTU int       `json:"active_mtu_bytes"`
	ReadDepth int       `json:"read_depth"` // READs and atomics that it answers at once
	Addr      uint64    `json:"addr"`
	RKey      uint32    `json:"rkey"`
	Length    uint64    `json:"length"`
	Atomics   bool      `json:"atomics"`
}

const maxReply = 48 << 10 // bytes

// send sends a request that has no answer.
func (n *near) send(r *request) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return n.tell.Send(text)
}

// ask sends a request and waits for its answer.
func ask(ctx context.Context, link Reporter, r *request, limit time.Duration) (*reply, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if err := link.Send(text); err != nil {
		return nil, fmt.Errorf("ask the far worker: %w", err)
	}
	if text, err = link.Receive(ctx); err != nil {
		return nil, fmt.Errorf("wait for the far worker: %w", err)
	}
	var a reply
	switch err := json.Unmarshal(text, &a); {
	case len(text) > maxReply:
		return nil, fmt.Errorf("answer of the far worker: %w: %d bytes", errPeer, len(text))
	case err != nil:
		return nil, fmt.Errorf("answer of the far worker: %w: %w", errPeer, err)
	case a.Refused != "":
		return nil, fmt.Errorf("the far worker refuses: %.200s", a.Refused)
	}
	return &a, nil
}
