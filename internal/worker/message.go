package worker

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// Bounds of what a process may say, so that one that went mad costs nothing
// else.
const (
	MaxMessage  = 16 << 20 // bytes of a frame
	MaxOOB      = 1 << 20  // bytes of a blob
	maxMessages = 1 << 20  // of one process
	maxTotal    = 512 << 20
	maxName     = 64 // bytes of the name of a probe or step
	protocol    = 1
)

// ErrFrame is the error of bytes that are no message.
var ErrFrame = errors.New("message not in form")

// Task is what a worker is to do. It names no file and no program: it may come
// from another host.
type Task struct {
	Probe  string          `json:"probe"`            // a name that the process knows
	Params json.RawMessage `json:"params,omitempty"` // what that probe takes
	// Limit ends the whole task. 0 is DefaultLimit.
	Limit time.Duration `json:"limit_nanos,omitempty"`
}

// Message is what parent and process tell each other. Exactly one field is
// set.
type Message struct {
	// From the parent.
	Task *Task `json:"task,omitempty"` // first
	Stop bool  `json:"stop,omitempty"` // end early, and tell what there is

	// Both ways: for the other worker of a pair.
	OOB []byte `json:"oob,omitzero"`

	// From the process.
	Hello       *Hello             `json:"hello,omitempty"` // first
	Begun       *Begun             `json:"begun,omitempty"`
	Ended       *Ended             `json:"ended,omitempty"`
	Ladder      *Ladder            `json:"ladder,omitempty"`
	Measurement *facts.Measurement `json:"measurement,omitempty"`
	Log         string             `json:"log,omitempty"`
	Done        *Done              `json:"done,omitempty"` // last
}

// Hello opens what a process tells.
type Hello struct {
	Protocol int `json:"protocol"`
	PID      int `json:"pid"`
}

// Begun says that a step began, before anything of it is done. Where the
// process never speaks again, this is the step that it hangs in.
type Begun struct {
	Step string `json:"step"` // "rtr", or words: "latency write 2 B"
	// Limit is how long until the next message at most. 0 is DefaultPhase.
	Limit time.Duration `json:"limit_nanos,omitempty"`
}

// Ended is a step of the ladder with this ID that ended.
type Ended struct {
	Ladder  int             `json:"ladder"`
	Refused bool            `json:"refused,omitempty"` // an access that must not succeed
	Step    facts.ProbeStep `json:"step"`
}

// Ladder is a ladder as far as it is known. A later one of the same ID stands
// for it and for the steps that ended until then.
type Ladder struct {
	ID     int          `json:"id"`
	Ladder facts.Ladder `json:"ladder"`
}

// Done closes what a process tells.
type Done struct {
	// Unavailable: this build or this host has no verbs.
	Unavailable bool   `json:"unavailable,omitempty"`
	Error       string `json:"error,omitempty"` // why the task could not be done
}

// kinds counts the fields that are set.
func (m *Message) kinds() int {
	n := 0
	for _, set := range []bool{m.Task != nil, m.Stop, m.OOB != nil, m.Hello != nil, m.Begun != nil, m.Ended != nil,
		m.Ladder != nil, m.Measurement != nil, m.Log != "", m.Done != nil} {
		if set {
			n++
		}
	}
	return n
}

// check finds what the types do not say.
func (m *Message) check() error {
	switch {
	case m.kinds() != 1:
		return fmt.Errorf("%w: %d kinds in one", ErrFrame, m.kinds())
	case len(m.OOB) > MaxOOB:
		return fmt.Errorf("%w: a blob of %d bytes", ErrFrame, len(m.OOB))
	case m.Task != nil && (m.Task.Probe == "" || len(m.Task.Probe) > maxName || m.Task.Limit < 0):
		return fmt.Errorf("%w: task %q", ErrFrame, clip(m.Task.Probe))
	case m.Begun != nil && (m.Begun.Step == "" || len(m.Begun.Step) > maxName || m.Begun.Limit < 0):
		return fmt.Errorf("%w: step %q", ErrFrame, clip(m.Begun.Step))
	case m.Ended != nil && (m.Ended.Step.Name == "" || len(m.Ended.Step.Name) > maxName):
		return fmt.Errorf("%w: step %q", ErrFrame, clip(m.Ended.Step.Name))
	}
	return nil
}

func clip(s string) string {
	if len(s) > maxName {
		return s[:maxName] + "..."
	}
	return s
}

// Write writes m as one frame: a big-endian length of four bytes and the JSON
// text.
func Write(w io.Writer, m *Message) error {
	if err := m.check(); err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write message: %w", err)
	}
	if len(text) > MaxMessage {
		return fmt.Errorf("write message: %w: %d bytes", ErrFrame, len(text))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(text)), uint32(len(text))), text...))
	return err
}

// Read reads one frame. io.EOF is an end between frames, and only that. It
// allocates what arrives, not what the length promises.
func Read(r io.Reader) (*Message, error) {
	m, _, err := read(r)
	return m, err
}

// read also says how many bytes the frame took.
func read(r io.Reader) (*Message, int, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: half a length", ErrFrame)
		}
		return nil, 0, err
	}
	size := int64(binary.BigEndian.Uint32(head[:]))
	if size > MaxMessage {
		return nil, 0, fmt.Errorf("%w: %d bytes", ErrFrame, size)
	}
	text, err := io.ReadAll(io.LimitReader(r, size))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(text)) < size {
		return nil, 0, fmt.Errorf("%w: %d of %d bytes", ErrFrame, len(text), size)
	}
	m, err := Parse(text)
	return m, 4 + len(text), err
}

// Parse takes the JSON text of one message apart.
func Parse(text []byte) (*Message, error) {
	var m Message
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // Both ends are the same program.
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFrame, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: more than one value", ErrFrame)
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return &m, nil
}
