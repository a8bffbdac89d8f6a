// Package wire is the language that the lab and its guest agent speak over
// the guest's virtio serial port: frames, each of a kind and a stream, so
// that many commands share the one channel.
//
// A frame is a 4-byte big-endian length of what follows, one byte of kind,
// a 4-byte big-endian stream number, and the data.
package wire

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxData is the largest data of one frame, in bytes.
const MaxData = 1 << 20

// headerSize is the size of kind and stream, in bytes.
const headerSize = 5

// ErrFrame is returned for bytes that are no frame. The channel cannot be
// used any more, since the next frame's start is unknown.
var ErrFrame = errors.New("malformed frame")

// Kind says what a frame holds.
type Kind byte

// Kinds of frames. Host to guest: Start, Stdin, Signal, Resize, Ping, Call.
// Guest to host: Hello, Stdout, Stderr, Exit, Pong, Reply.
const (
	// Hello is the guest's first frame, a Greeting.
	Hello Kind = iota + 1
	// Ping asks the agent to answer with a Pong.
	Ping
	// Pong answers a Ping.
	Pong
	// Start starts a command on a new stream, a Command.
	Start
	// Stdin is input of the stream's command. Without data it is its end.
	Stdin
	// Stdout is output of the stream's command.
	Stdout
	// Stderr is error output of the stream's command.
	Stderr
	// Signal signals the stream's command and its process group, a Kill.
	Signal
	// Resize sets the window size of the stream's terminal, a Size.
	Resize
	// Exit ends a stream, an Ending.
	Exit
	// Call asks the agent itself to do something, a Request.
	Call
	// Reply answers a Call, an Answer.
	Reply
)

// Frame is one message on the channel.
type Frame struct {
	Kind   Kind
	Stream uint32
	Data   []byte
}

// JSON returns a frame with v as its data.
func JSON(kind Kind, stream uint32, v any) (Frame, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return Frame{}, fmt.Errorf("encode frame of kind %d: %w", kind, err)
	}
	return Frame{Kind: kind, Stream: stream, Data: data}, nil
}

// Write writes a frame with one call of w.Write, so that writers which share
// a lock never mix frames.
func Write(w io.Writer, f Frame) error {
	if len(f.Data) > MaxData {
		return fmt.Errorf("write frame: %d bytes of data, at most %d: %w",
			len(f.Data), MaxData, ErrFrame)
	}
	b := make([]byte, 4+headerSize, 4+headerSize+len(f.Data))
	binary.BigEndian.PutUint32(b, uint32(headerSize+len(f.Data)))
	b[4] = byte(f.Kind)
	binary.BigEndian.PutUint32(b[5:], f.Stream)
	if _, err := w.Write(append(b, f.Data...)); err != nil {
		return fmt.Errorf("write frame: %w", err)
	}
	return nil
}

// Read reads a frame. At the end of r between two frames it returns io.EOF.
func Read(r io.Reader) (Frame, error) {
	var head [4 + headerSize]byte
	if _, err := io.ReadFull(r, head[:4]); err != nil {
		return Frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:4])
	if size < headerSize || size > headerSize+MaxData {
		return Frame{}, fmt.Errorf("read frame: length %d: %w", size, ErrFrame)
	}
	if _, err := io.ReadFull(r, head[4:]); err != nil {
		return Frame{}, cut(err)
	}
	f := Frame{Kind: Kind(head[4]), Stream: binary.BigEndian.Uint32(head[5:])}
	if f.Kind < Hello || f.Kind > Reply {
		return Frame{}, fmt.Errorf("read frame: kind %d: %w", f.Kind, ErrFrame)
	}
	f.Data = make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, f.Data); err != nil {
		return Frame{}, cut(err)
	}
	return f, nil
}

// cut turns the end of input inside a frame into what it is.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read frame: %w", err)
}
