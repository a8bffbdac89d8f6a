package hostio

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// flushAfter is how long an answer may wait for others, so that a batch costs
// few writes and few turns of the scheduler. It is far below any deadline: when
// an op hangs, what was answered before it goes out this soon, and the parent
// knows which op it is.
const flushAfter = 20 * time.Millisecond

// Serve is the reading child: it answers the ops that come in on r, one after
// another, on w until r ends. Answers go out together when no more ops are
// waiting, or flushAfter later.
func Serve(ctx context.Context, r io.Reader, w io.Writer, h Host) error {
	out := newOutbox(w)
	if err := out.send([]byte(hello), true); err != nil {
		return fmt.Errorf("write greeting: %w", err)
	}
	if f, ok := r.(*os.File); ok {
		r = patient{int(f.Fd())}
	}
	in := bufio.NewReaderSize(r, 64<<10)
	var answer []byte
	for {
		frame, err := readFrame(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read op: %w", err)
		}
		id, op, err := parseOp(frame)
		if err != nil {
			return fmt.Errorf("parse op: %w", err)
		}
		res := One(ctx, h, op)
		if len(res.Data) > MaxData {
			res.Data, res.Truncated = res.Data[:MaxData], true
		}
		answer = appendResult(answer[:0], id, res)
		if err := out.send(answer, in.Buffered() == 0); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
}

// An outbox gathers frames.
type outbox struct {
	mu    sync.Mutex
	w     *bufio.Writer
	err   error // of a flush by the timer
	timer *time.Timer
	armed bool
}

func newOutbox(w io.Writer) *outbox {
	o := &outbox{w: bufio.NewWriterSize(w, 64<<10)}
	o.timer = time.AfterFunc(time.Hour, o.flush)
	o.timer.Stop()
	return o
}

// send adds a frame, and lets go of all that are waiting if it is the last.
func (o *outbox) send(payload []byte, last bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.w.Write(binary.BigEndian.AppendUint32(o.w.AvailableBuffer(), uint32(len(payload)))); err != nil {
		return err
	}
	if _, err := o.w.Write(payload); err != nil {
		return err
	}
	if last {
		o.armed = false
		return o.w.Flush()
	}
	if !o.armed {
		o.armed = true
		o.timer.Reset(flushAfter)
	}
	return o.err
}

// flush is the timer's.
func (o *outbox) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.armed = false
	if err := o.w.Flush(); err != nil {
		o.err = err
	}
}
