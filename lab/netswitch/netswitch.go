// Package netswitch is the network between the lab's guests: Ethernet
// switches that learn addresses, with links that lose, delay, reorder,
// corrupt, slow down, cut off large frames or fall silent when told to. It
// needs no rights: a link's end is a Unix socket that QEMU connects to with
// -netdev stream.
//
// Switches may be joined by uplinks, as a tree: there is no spanning tree
// protocol to break a ring.
package netswitch

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// MaxFrame is the largest frame that a port takes, in bytes: QEMU's own limit.
const MaxFrame = 68 << 10

// headerSize is the size of an Ethernet header, in bytes.
const headerSize = 14

// hardwareAddress is an Ethernet address.
type hardwareAddress [6]byte

// group says whether the address is a multicast or the broadcast one.
func (a hardwareAddress) group() bool { return a[0]&1 != 0 }

// Switch forwards frames between its ports.
type Switch struct {
	name string

	mu    sync.Mutex
	ports []*Port
	table map[hardwareAddress]*Port
}

// New makes a switch without ports.
func New(name string) *Switch {
	return &Switch{name: name, table: make(map[hardwareAddress]*Port)}
}

// Port is one port of a switch.
type Port struct {
	sw   *Switch
	name string
	in   *lane // to the switch
	out  *lane // from the switch
}

// Name is the port's name, unique in its fabric.
func (p *Port) Name() string { return p.name }

// Counts are what became of the frames of one direction of a port.
type Counts struct {
	// Passed counts frames that came out.
	Passed int
	// Dropped counts those that an impairment or a full queue took.
	Dropped int
	// Corrupted counts those that came out with a bit turned.
	Corrupted int
}

// Direction is one of a port's two.
type Direction string

// The directions, as the switch sees them.
const (
	In  Direction = "in"  // from the host to the switch
	Out Direction = "out" // from the switch to the host
)

func (p *Port) lane(d Direction) *lane {
	if d == In {
		return p.in
	}
	return p.out
}

// Impair sets what happens to frames of one direction from now on. The zero
// Impairment ends all of it.
func (p *Port) Impair(d Direction, i Impairment) { p.lane(d).set(i) }

// Counts returns what became of frames since the port was made.
func (p *Port) Counts(d Direction) Counts { return p.lane(d).counted() }

// newPort adds a port whose frames out of the switch go to send.
func (s *Switch) newPort(name string, send func([]byte)) *Port {
	p := &Port{sw: s, name: name}
	p.in = newLane(name+" in", func(frame []byte) { s.forward(p, frame) })
	p.out = newLane(name+" out", send)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports = append(s.ports, p)
	return p
}

// forward sends a frame where its destination was last seen, or everywhere.
func (s *Switch) forward(from *Port, frame []byte) {
	var to, source hardwareAddress
	copy(to[:], frame)
	copy(source[:], frame[6:])
	s.mu.Lock()
	if !source.group() {
		s.table[source] = from
	}
	targets := s.ports
	if known := s.table[to]; known != nil && !to.group() {
		targets = []*Port{known}
	}
	s.mu.Unlock()
	for _, p := range targets {
		if p != from {
			p.out.push(frame)
		}
	}
}

// Join connects two switches by a link of two ports, named "a-b" at a and
// "b-a" at b.
func Join(a, b *Switch) (atA, atB *Port) {
	atA = a.newPort(a.name+"-"+b.name, func(f []byte) { atB.in.push(f) })
	atB = b.newPort(b.name+"-"+a.name, func(f []byte) { atA.in.push(f) })
	return atA, atB
}

// Attach adds a port with a host at conn, which sends and takes each frame
// after its 4-byte big-endian length. It returns at once. The port works
// until conn is closed; done then tells why.
func (s *Switch) Attach(name string, conn io.ReadWriteCloser) (p *Port,
	done <-chan error) {
	var write sync.Mutex
	p = s.newPort(name, func(frame []byte) {
		b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(frame)),
			uint32(len(frame)))
		write.Lock()
		defer write.Unlock()
		// A host that is gone takes nothing, and its reader says so.
		conn.Write(append(b, frame...))
	})
	ended := make(chan error, 1)
	go func() {
		err := readFrames(conn, p.in.push)
		s.remove(p)
		conn.Close()
		ended <- err
	}()
	return p, ended
}

// remove forgets a port and ends its lanes.
func (s *Switch) remove(p *Port) {
	s.mu.Lock()
	for i, q := range s.ports {
		if q == p {
			// A new list: forward walks the old one without the lock.
			s.ports = append(append([]*Port{}, s.ports[:i]...), s.ports[i+1:]...)
			break
		}
	}
	for a, q := range s.table {
		if q == p {
			delete(s.table, a)
		}
	}
	s.mu.Unlock()
	p.in.close()
	p.out.close()
}

// Close ends all ports of the switch.
func (s *Switch) Close() {
	s.mu.Lock()
	ports := s.ports
	s.mu.Unlock()
	for _, p := range ports {
		s.remove(p)
	}
}

// ErrFrame is returned for a stream that holds no frames. Where the next one
// begins is unknown.
var ErrFrame = errors.New("malformed stream of frames")

// readFrames calls take for each frame until the stream ends. Its end
// between two frames is no error. Frames without a whole Ethernet header are
// left out.
func readFrames(r io.Reader, take func([]byte)) error {
	in := bufio.NewReaderSize(r, MaxFrame)
	for {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
				return nil
			}
			return fmt.Errorf("read frame: %w", err)
		}
		size := binary.BigEndian.Uint32(head[:])
		if size > MaxFrame {
			return fmt.Errorf("read frame: length %d: %w", size, ErrFrame)
		}
		frame := make([]byte, size)
		if _, err := io.ReadFull(in, frame); err != nil {
			return fmt.Errorf("read frame: %w", err)
		}
		if size >= headerSize {
			take(frame)
		}
	}
}
