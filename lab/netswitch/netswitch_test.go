package netswitch

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// host is a host at a port: what it sent last, and what it got.
type host struct {
	conn net.Conn
	got  chan []byte
}

// attach joins a host to a switch by a pipe.
func attach(t *testing.T, s *Switch, name string) (*host, *Port) {
	near, far := net.Pipe()
	h := &host{conn: far, got: make(chan []byte, 10_000)}
	p, done := s.Attach(name, near)
	go readFrames(far, func(f []byte) { h.got <- f })
	t.Cleanup(func() {
		far.Close()
		<-done
	})
	return h, p
}

func (h *host) send(frame []byte) {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(frame)))
	h.conn.Write(append(b, frame...))
}

// frame is a frame with a number in it, 64 bytes long at least.
func frame(to, from byte, n int, size int) []byte {
	f := make([]byte, max(size, 64))
	f[0], f[5], f[6], f[11] = 2, to, 2, from
	if to == 0xff {
		copy(f, bytes.Repeat([]byte{0xff}, 6))
	}
	binary.BigEndian.PutUint32(f[headerSize:], uint32(n))
	return f
}

func number(f []byte) int { return int(binary.BigEndian.Uint32(f[headerSize:])) }

// pending is how many frames have come.
func (h *host) pending() int { return len(h.got) }

func TestForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leaf1, leaf2, spine := New("leaf1"), New("leaf2"), New("spine")
		Join(leaf1, spine)
		Join(leaf2, spine)
		t.Cleanup(func() { leaf1.Close(); leaf2.Close(); spine.Close() })
		a, _ := attach(t, leaf1, "a")
		b, _ := attach(t, leaf1, "b")
		c, _ := attach(t, leaf2, "c")
		steps := []struct {
			name          string
			from          *host
			frame         []byte
			atA, atB, atC int
		}{
			{"broadcast goes to all", a, frame(0xff, 1, 0, 0), 0, 1, 1},
			{"answer goes to one", c, frame(1, 3, 0, 0), 1, 0, 0},
			{"known across the spine", a, frame(3, 1, 0, 0), 0, 0, 1},
			{"unknown goes to all", a, frame(9, 1, 0, 0), 0, 1, 1},
			{"known on the leaf", b, frame(1, 2, 0, 0), 1, 0, 0},
			{"to itself", b, frame(2, 2, 0, 0), 0, 0, 0},
			{"too short for a header", a, make([]byte, 13), 0, 0, 0},
		}
		for _, s := range steps {
			s.from.send(s.frame)
			synctest.Wait()
			if a.pending() != s.atA || b.pending() != s.atB || c.pending() != s.atC {
				t.Errorf("%s: got %d, %d, %d frames at a, b, c, want %d, %d, %d", s.name,
					a.pending(), b.pending(), c.pending(), s.atA, s.atB, s.atC)
			}
			for _, h := range []*host{a, b, c} {
				for h.pending() > 0 {
					if got := <-h.got; !bytes.Equal(got, s.frame) {
						t.Errorf("%s: frame has changed", s.name)
					}
				}
			}
		}
	})
}

func TestImpairments(t *testing.T) {
	const n = 2000
	tests := []struct {
		name     string
		i        Impairment
		size     int
		min, max int // frames that arrive
		check    func(t *testing.T, got [][]byte, took time.Duration, c Counts)
	}{
		{"none", Impairment{}, 0, n, n, inOrder},
		{"loss", Impairment{Loss: 0.1}, 0, n * 85 / 100, n * 95 / 100, inOrder},
		{"all lost", Impairment{Loss: 1}, 0, 0, 0, nil},
		{"silent", Impairment{Silent: true}, 0, 0, 0, nil},
		{"frame too large", Impairment{MaxFrame: 1514}, 1515, 0, 0, nil},
		{"frame just fits", Impairment{MaxFrame: 1514}, 1514, n, n, inOrder},
		{"delay", Impairment{Delay: 3 * time.Millisecond}, 0, n, n,
			took(3 * time.Millisecond)},
		{"rate", Impairment{Rate: 8e6}, 1000, n, n, took(n * time.Millisecond)},
		{"reorder", Impairment{Reorder: 0.1, Delay: time.Millisecond}, 0, n, n, outOfOrder},
		{"corrupt", Impairment{Corrupt: 0.1}, 0, n, n, corrupted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New("s")
				a, port := attach(t, s, "a")
				b, _ := attach(t, s, "b")
				port.Impair(In, tt.i)
				b.send(frame(0xff, 2, 0, 0))
				start := time.Now()
				for i := range n {
					a.send(frame(2, 1, i, tt.size))
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				var got [][]byte
				for b.pending() > 0 {
					got = append(got, <-b.got)
				}
				c := port.Counts(In)
				if len(got) < tt.min || len(got) > tt.max {
					t.Errorf("got %d of %d frames, want %d to %d", len(got), n, tt.min, tt.max)
				}
				if c.Passed != len(got) || c.Passed+c.Dropped != n {
					t.Errorf("got %+v, and %d of %d frames came out", c, len(got), n)
				}
				if tt.check != nil {
					tt.check(t, got, port.in.busyFor(start), c)
				}
			})
		})
	}
}

// busyFor is how long after start the lane's rate let the last frame out.
func (l *lane) busyFor(start time.Time) time.Duration { return l.busy.Sub(start) }

func inOrder(t *testing.T, got [][]byte, _ time.Duration, _ Counts) {
	for i := 1; i < len(got); i++ {
		if number(got[i]) <= number(got[i-1]) {
			t.Fatalf("frame %d after %d", number(got[i]), number(got[i-1]))
		}
	}
}

func outOfOrder(t *testing.T, got [][]byte, _ time.Duration, _ Counts) {
	n := 0
	for i := 1; i < len(got); i++ {
		if number(got[i]) < number(got[i-1]) {
			n++
		}
	}
	if n == 0 {
		t.Error("all frames in order")
	}
}

func corrupted(t *testing.T, got [][]byte, _ time.Duration, c Counts) {
	n := 0
	for _, f := range got {
		if !bytes.Equal(f[:headerSize], frame(2, 1, 0, 0)[:headerSize]) {
			t.Error("header has changed")
		}
		if bits(f[headerSize+4:]) > 0 || number(f) >= 2000 {
			n++
		}
	}
	// A turned bit of the number itself may make it another valid one.
	if c.Corrupted < 100 || c.Corrupted > 300 || n < c.Corrupted*8/10 {
		t.Errorf("got %d corrupted frames, %d seen", c.Corrupted, n)
	}
}

func bits(b []byte) (n int) {
	for _, v := range b {
		if v != 0 {
			n++
		}
	}
	return n
}

// took checks the time of the fake clock until the last frame was out.
func took(want time.Duration) func(*testing.T, [][]byte, time.Duration, Counts) {
	return func(t *testing.T, got [][]byte, rate time.Duration, c Counts) {
		inOrder(t, got, 0, c)
		if rate > 0 && rate != want {
			t.Errorf("last frame out after %v, want %v", rate, want)
		}
	}
}

func TestReadFrames(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"length cut", "\x00\x00", "unexpected EOF"},
		{"frame cut", "\x00\x00\x00\x0fabc", "unexpected EOF"},
		{"length huge", "\xff\xff\xff\xff", "malformed"},
		{"empty frame", "\x00\x00\x00\x00", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := readFrames(strings.NewReader(tt.in), func([]byte) {
				t.Error("got a frame")
			})
			if got := fmt.Sprint(err); (err == nil) != (tt.want == "") ||
				!strings.Contains(got, tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzReadFrames(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x0e0123456789abcd"))
	f.Add([]byte("\x00\x00\x00\x02ab\x00\x00"))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		readFrames(bytes.NewReader(b), func(frame []byte) {
			if len(frame) < headerSize || len(frame) > MaxFrame {
				t.Errorf("got a frame of %d bytes", len(frame))
			}
		})
	})
}
