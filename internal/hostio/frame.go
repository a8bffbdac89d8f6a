package hostio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// The child and its parent exchange frames: a big-endian length of four bytes
// and as many bytes of payload. Numbers in a payload are big-endian, strings
// are a two-byte length and the text, byte slices a four-byte length and the
// bytes.
const (
	maxFrame   = MaxData + 64<<10
	maxKind    = 32
	maxName    = 4096 // PATH_MAX
	maxRequest = 32 << 10
	hello      = "rdmadoctor read-host 1" // the child's first frame
)

var errFrame = errors.New("frame not in form")

// appendFrame appends payload as a frame.
func appendFrame(b, payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(payload))), payload...)
}

// appendRequest appends op as a frame. One that is too large to send goes as an
// op without a kind, which is answered with NotInForm.
func appendRequest(b []byte, id uint32, op Op) []byte {
	at := len(b)
	b, ok := appendOp(append(b, 0, 0, 0, 0), id, op)
	if !ok {
		b, _ = appendOp(b, id, Op{})
	}
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// readFrame reads one frame. What is longer than an op with its request is
// allocated as it arrives, not as the length promises.
func readFrame(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > maxFrame {
		return nil, fmt.Errorf("read frame: %w: %d bytes", errFrame, size)
	}
	if size <= maxRequest {
		payload := make([]byte, size)
		if _, err := io.ReadFull(r, payload); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		return payload, nil
	}
	payload, err := io.ReadAll(io.LimitReader(r, size))
	if err == nil && int64(len(payload)) < size {
		err = io.ErrUnexpectedEOF
	}
	return payload, err
}

// appendOp encodes op as the payload of request id. False: too large to send.
func appendOp(b []byte, id uint32, op Op) ([]byte, bool) {
	if len(op.Kind) > maxKind || len(op.Name) > maxName || len(op.Request) > maxRequest || op.Limit < 0 || op.Limit > MaxData {
		return b, false
	}
	b = binary.BigEndian.AppendUint32(b, id)
	b = appendString(b, string(op.Kind))
	b = appendString(b, op.Name)
	b = binary.BigEndian.AppendUint32(b, uint32(op.Limit))
	return appendBytes(b, op.Request), true
}

func parseOp(b []byte) (id uint32, op Op, err error) {
	p := payload{b: b}
	id = p.uint32()
	op.Kind = Kind(p.text(maxKind))
	op.Name = p.text(maxName)
	op.Limit = int(p.uint32())
	op.Request = p.bytes(maxRequest)
	if op.Limit > MaxData {
		p.bad = true
	}
	return id, op, p.end()
}

const (
	flagTimedOut = 1 << iota
	flagTruncated
	flagNotInForm
	flagNotTried
)

func appendResult(b []byte, id uint32, r Result) []byte {
	var flags byte
	if r.TimedOut {
		flags |= flagTimedOut
	}
	if r.Truncated {
		flags |= flagTruncated
	}
	if r.NotInForm {
		flags |= flagNotInForm
	}
	if r.NotTried {
		flags |= flagNotTried
	}
	b = binary.BigEndian.AppendUint32(b, id)
	b = binary.BigEndian.AppendUint32(b, uint32(r.Errno))
	b = append(b, flags)
	return appendBytes(b, r.Data)
}

func parseResult(b []byte) (id uint32, r Result, err error) {
	p := payload{b: b}
	id = p.uint32()
	errno := p.uint32()
	flags := p.take(1)
	r.Data = p.bytes(MaxData)
	if errno >= 4096 || p.bad || flags[0] >= flagNotTried<<1 {
		return 0, Result{}, errFrame
	}
	r.Errno = syscall.Errno(errno)
	r.TimedOut = flags[0]&flagTimedOut != 0
	r.Truncated = flags[0]&flagTruncated != 0
	r.NotInForm = flags[0]&flagNotInForm != 0
	r.NotTried = flags[0]&flagNotTried != 0
	return id, r, p.end()
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(s))), s...)
}

func appendBytes(b, data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(data))), data...)
}

// payload takes values off a payload; after the first that is not there, bad is
// set and values are empty.
type payload struct {
	b   []byte
	bad bool
}

func (p *payload) take(n int) []byte {
	if p.bad || n > len(p.b) {
		p.bad = true
		return nil
	}
	v := p.b[:n:n]
	p.b = p.b[n:]
	return v
}

func (p *payload) uint32() uint32 {
	if v := p.take(4); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (p *payload) text(limit int) string {
	v := p.take(2)
	if v == nil {
		return ""
	}
	n := int(binary.BigEndian.Uint16(v))
	if n > limit {
		p.bad = true
	}
	return string(p.take(n))
}

func (p *payload) bytes(limit int) []byte {
	n := p.uint32()
	if int64(n) > int64(limit) {
		p.bad = true
	}
	if n == 0 {
		return nil
	}
	return p.take(int(n))
}

// end reports whether the payload held exactly what was taken.
func (p *payload) end() error {
	if p.bad || len(p.b) != 0 {
		return errFrame
	}
	return nil
}
