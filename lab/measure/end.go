package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// control is the TCP connection that both ends tell each other over.
type control struct {
	net.Conn
	in *json.Decoder
}

// dial connects to the other end, or waits for it where address is empty.
func dial(address string, port int) (*control, error) {
	var c net.Conn
	var err error
	if address != "" {
		c, err = net.DialTimeout("tcp", net.JoinHostPort(address, strconv.Itoa(port)), time.Minute)
	} else {
		var l net.Listener
		if l, err = net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port))); err != nil {
			return nil, err
		}
		defer l.Close()
		c, err = l.Accept()
	}
	if err != nil {
		return nil, err
	}
	if err := c.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		return nil, err
	}
	return &control{c, json.NewDecoder(bufio.NewReader(c))}, nil
}

// exchange gives the other end mine and takes what it gives.
func exchange[T any](c *control, mine T) (theirs T, err error) {
	if err := json.NewEncoder(c).Encode(mine); err != nil {
		return theirs, err
	}
	err = c.in.Decode(&theirs)
	return theirs, err
}

func (c *control) barrier() error {
	_, err := exchange(c, "ready")
	return err
}

// end is one end's QP and memory.
type end struct {
	ctx   *verbs.Context
	mem   *verbs.Memory
	mr    *verbs.MR
	qp    *verbs.QP
	index int
	gid   verbs.GID
	mtu   int
	reads int
}

func open(device string, index int, l verbs.Loop) (*end, error) {
	lib, err := verbs.Load(verbs.Options{})
	if err != nil {
		return nil, err
	}
	e := &end{index: index}
	if e.ctx, err = lib.Open(device); err != nil {
		return nil, err
	}
	if err := e.make(lib, l); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *end) make(lib *verbs.Library, l verbs.Loop) error {
	d, err := e.ctx.QueryDevice()
	if err != nil {
		return err
	}
	p, err := e.ctx.QueryPort(1)
	if err != nil {
		return err
	}
	e.mtu, e.reads = p.ActiveMTU, min(d.MaxQPInitRdAtom, d.MaxQPRdAtom, 255)
	if e.gid, err = e.ctx.QueryGID(1, e.index); err != nil {
		return err
	}
	pd, err := e.ctx.AllocPD()
	if err != nil {
		return err
	}
	var chs [2]*verbs.CompChannel
	for i := range chs {
		if !l.Events {
			break
		}
		if chs[i], err = e.ctx.CreateCompChannel(); err != nil {
			return err
		}
	}
	depth := max(l.Depth, 1)
	if l.Depth == 0 {
		depth = verbs.DefaultDepth
	}
	send, err := e.ctx.CreateCQ(depth, chs[0])
	if err != nil {
		return err
	}
	recv, err := e.ctx.CreateCQ(verbs.DefaultRxDepth, chs[1])
	if err != nil {
		return err
	}
	if e.mem, err = lib.Alloc(2 * verbs.LaneBytes(l.Size)); err != nil {
		return err
	}
	if e.mr, err = pd.RegMR(e.mem, 0, e.mem.Len(), verbs.AccessAll); err != nil {
		return err
	}
	e.qp, err = pd.CreateQP(verbs.QPInit{Type: verbs.RC, SendCQ: send, RecvCQ: recv,
		Caps: verbs.QPCaps{MaxSendWR: depth, MaxRecvWR: verbs.DefaultRxDepth, MaxInlineData: l.InlineMax}})
	return err
}

func (e *end) close() {
	e.ctx.Close()
	e.mem.Close()
}

// card is what an end tells the other of itself.
type card struct {
	QPN  uint32
	GID  verbs.GID
	Addr uint64
	RKey uint32
}

// connect brings the QP to RTS and fills in the loop's lane.
func (e *end) connect(c *control, l *verbs.Loop) error {
	room := verbs.LaneBytes(l.Size)
	peer, err := exchange(c, card{e.qp.Num(), e.gid, e.mr.Addr() + room, e.mr.RKey()})
	if err != nil {
		return fmt.Errorf("exchange: %w", err)
	}
	if err := e.qp.ToInit(verbs.InitAttr{Port: 1, Access: verbs.AccessAll}); err != nil {
		return err
	}
	if err := e.qp.ToRTR(verbs.RTRAttr{PathMTU: e.mtu, DestQPN: peer.QPN, MaxDestRdAtomic: e.reads, MinRNRTimer: 12,
		AH: verbs.AHAttr{Port: 1, Global: true, DGID: peer.GID, SGIDIndex: e.index, HopLimit: 64}}); err != nil {
		return err
	}
	rts := verbs.DefaultRTS()
	rts.MaxRdAtomic = e.reads
	if err := e.qp.ToRTS(rts); err != nil {
		return err
	}
	l.Lanes = []verbs.Lane{{QP: e.qp, MR: e.mr, RecvOffset: room, RemoteAddr: peer.Addr, RKey: peer.RKey}}
	return nil
}
