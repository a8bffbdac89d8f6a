package probes

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/verbs"
)

// peerTransfer is one transfer of the ladder.
type peerTransfer struct {
	step  string
	bytes int
}

// transfers are those of the ladder: few bytes first, since a hole in the path
// MTU lets those pass, then more than a packet holds.
func (n *near) transfers() []peerTransfer {
	ts := []peerTransfer{{"write", 64}, {"write", 64 << 10}, {"read", 64 << 10}, {"send", 64 << 10}}
	if n.side.attr.AtomicCap > 0 && n.other.Atomics {
		return append(ts, peerTransfer{"fetch-add", 8}, peerTransfer{"cmp-swap", 8})
	}
	who := "the device has none"
	if n.side.attr.AtomicCap > 0 {
		who = "the far device has none"
	}
	n.ladder.Skipped = append(n.ladder.Skipped, facts.SkippedReason{What: "atomics", Why: who})
	return ts
}

// transfer makes one and looks whether the bytes are right at the other end.
func (n *near) transfer(ctx context.Context, t peerTransfer) error {
	n.seed++
	switch t.step {
	case "write":
		fillPattern(n.side.mem.Bytes()[:t.bytes], n.seed)
		return n.moved(ctx, t, verbs.OpRDMAWrite, n.compareFar)
	case "read":
		if _, err := n.ask(ctx, &request{Fill: &fillRequest{Seed: n.seed, Bytes: t.bytes}}, askTime); err != nil {
			return err
		}
		clear(n.side.mem.Bytes()[:t.bytes])
		return n.moved(ctx, t, verbs.OpRDMARead, func(context.Context, peerTransfer) (bool, error) {
			return holdsPattern(n.side.mem.Bytes()[:t.bytes], n.seed), nil
		})
	case "send":
		if _, err := n.ask(ctx, &request{Receive: &receiveRequest{Count: 1, Bytes: t.bytes}}, askTime); err != nil {
			return err
		}
		fillPattern(n.side.mem.Bytes()[:t.bytes], n.seed)
		return n.moved(ctx, t, verbs.OpSend, func(ctx context.Context, t peerTransfer) (bool, error) {
			if _, err := n.ask(ctx, &request{Await: &awaitRequest{Time: transferTime}}, transferTime+askTime); err != nil {
				return false, err
			}
			return n.compareFar(ctx, t)
		})
	}
	return n.atomic(ctx, t)
}

// moved posts the transfer and then looks at the bytes. The step is told with
// what was found.
func (n *near) moved(ctx context.Context, t peerTransfer, op verbs.Opcode, look func(context.Context, peerTransfer) (bool, error)) error {
	n.side.begin(t.step)
	st := peerStep(t.step, func(st *facts.ProbeStep) error {
		return n.side.transfer(ctx, verbs.WR{Op: op, MR: n.side.mr, Length: uint32(t.bytes), RemoteAddr: n.other.Addr, RKey: n.other.RKey})
	})
	st.Role, st.Bytes = "requester", t.bytes
	if st.Error != nil {
		n.side.step(st)
		return stopped{}
	}
	same, err := look(ctx, t)
	if err == nil {
		st.Verified = facts.Some(same)
	}
	n.side.step(st)
	return err
}

func (n *near) compareFar(ctx context.Context, t peerTransfer) (bool, error) {
	a, err := n.ask(ctx, &request{Fill: &fillRequest{Seed: n.seed, Bytes: t.bytes, Compare: true}}, askTime)
	if err != nil {
		return false, err
	}
	return a.Same, nil
}

// atomic makes a fetch-and-add or compare-and-swap on the first eight bytes of
// the far memory. What it was is returned, and what it is then is read.
func (n *near) atomic(ctx context.Context, t peerTransfer) error {
	if _, err := n.ask(ctx, &request{Fill: &fillRequest{Seed: n.seed, Bytes: 8}}, askTime); err != nil {
		return err
	}
	var was [8]byte
	fillPattern(was[:], n.seed)
	old := binary.NativeEndian.Uint64(was[:])
	w := verbs.WR{Op: verbs.OpFetchAdd, MR: n.side.mr, Length: 8, RemoteAddr: n.other.Addr, RKey: n.other.RKey, CompareAdd: 7}
	want := old + 7
	if t.step == "cmp-swap" {
		w.Op, w.CompareAdd, w.Swap, want = verbs.OpCompSwap, old, ^old, ^old
	}
	n.side.begin(t.step)
	st := peerStep(t.step, func(*facts.ProbeStep) error { return n.side.transfer(ctx, w) })
	st.Role, st.Bytes = "requester", 8
	if st.Error != nil {
		n.side.step(st)
		return stopped{}
	}
	returned := binary.NativeEndian.Uint64(n.side.mem.Bytes()[:8])
	err := n.side.transfer(ctx, verbs.WR{Op: verbs.OpRDMARead, MR: n.side.mr, Length: 8, RemoteAddr: n.other.Addr, RKey: n.other.RKey})
	if err == nil {
		st.Verified = facts.Some(returned == old && binary.NativeEndian.Uint64(n.side.mem.Bytes()[:8]) == want)
	}
	n.side.step(st)
	return nil
}

// varyConnect tries a connection that failed with one attribute changed at a
// time. It returns early, which is why the ladder ends.
func (n *near) varyConnect(ctx context.Context, early error) error {
	step := ""
	for _, s := range n.ladder.Steps {
		if s.Error != nil {
			step = s.Name
		}
	}
	if step != "rtr" && step != "rts" && step != "init" {
		return early
	}
	once := func(ctx context.Context) error { return n.connect(ctx, 1) }
	err := n.varyGID(ctx, step, once)
	if err == nil && len(n.ladder.Varied) == 0 || err == nil && n.ladder.Varied[len(n.ladder.Varied)-1].Error != nil {
		err = n.varyMTU(ctx, step, once)
	}
	if err != nil {
		return err
	}
	return early
}

// varyTransfer tries a transfer that got no answer at lower path MTUs, and by
// another GID.
func (n *near) varyTransfer(ctx context.Context, t peerTransfer, early error) error {
	last := n.ladder.Steps[len(n.ladder.Steps)-1].Error
	if last == nil {
		return early
	}
	if st, ok := last.WCStatus.Get(); (!ok || verbs.WCStatus(st) != verbs.WCRetryExcErr) && !last.TimedOut {
		return early
	}
	again := func(ctx context.Context) error {
		if err := n.connect(ctx, 1); err != nil {
			return err
		}
		return n.transfer(ctx, t)
	}
	// A hole lets few bytes pass, so those say whether there is one.
	passed := false
	for _, s := range n.ladder.Steps {
		passed = passed || s.Name == t.step && s.Error == nil
	}
	if passed {
		if err := n.varyMTU(ctx, t.step, again); err != nil {
			return err
		}
	} else if err := n.varyGID(ctx, t.step, again); err != nil {
		return err
	}
	return early
}

func (n *near) varyGID(ctx context.Context, step string, again func(context.Context) error) error {
	from := n.gid
	defer func() { n.gid = from }()
	for _, i := range n.pair.Others {
		n.gid = i
		if worked, err := n.try(ctx, step, "sgid_index", strconv.Itoa(from), strconv.Itoa(i), again); err != nil || worked {
			return err
		}
	}
	return nil
}

func (n *near) varyMTU(ctx context.Context, step string, again func(context.Context) error) error {
	from := n.mtu
	defer func() { n.mtu = from }()
	for mtu := from / 2; mtu >= 256; mtu /= 2 {
		n.mtu = mtu
		if worked, err := n.try(ctx, step, "path_mtu", strconv.Itoa(from), strconv.Itoa(mtu), again); err != nil || worked {
			return err
		}
	}
	return nil
}

// try makes a step again and keeps what became of it.
func (n *near) try(ctx context.Context, step, attribute, from, to string, again func(context.Context) error) (bool, error) {
	n.trying, n.last = true, nil
	err := again(ctx)
	n.trying = false
	if _, early := err.(stopped); err != nil && !early {
		return false, fmt.Errorf("%s with another %s: %w", step, attribute, err)
	}
	v := facts.Variation{Step: step, Attribute: attribute, From: from, To: to, Error: n.last}
	if err == nil {
		v.Error = nil
	}
	n.ladder.Varied = append(n.ladder.Varied, v)
	return err == nil, nil
}
