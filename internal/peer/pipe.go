package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pipeConn is a connection of a reader and a writer, such as a program's
// standard input and output. It has no deadlines: whoever waits closes it.
type pipeConn struct {
	io.Reader
	io.Writer
	once   sync.Once
	closes func() error
	err    error
}

// Pipe makes a connection of a reader and a writer. Close calls closes once,
// which must end a read that waits.
func Pipe(r io.Reader, w io.Writer, closes func() error) net.Conn {
	return &pipeConn{Reader: r, Writer: w, closes: closes}
}

func (c *pipeConn) Close() error {
	c.once.Do(func() { c.err = c.closes() })
	return c.err
}

func (*pipeConn) LocalAddr() net.Addr              { return pipeAddr{} }
func (*pipeConn) RemoteAddr() net.Addr             { return pipeAddr{} }
func (*pipeConn) SetDeadline(time.Time) error      { return nil }
func (*pipeConn) SetReadDeadline(time.Time) error  { return nil }
func (*pipeConn) SetWriteDeadline(time.Time) error { return nil }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// watched tells when a connection was closed, by whichever end.
type watched struct {
	net.Conn
	once  sync.Once
	gone  chan struct{}
	heard atomic.Bool
}

func watch(c net.Conn) *watched { return &watched{Conn: c, gone: make(chan struct{})} }

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if n > 0 {
		w.heard.Store(true)
	}
	if err != nil {
		w.over()
	}
	return n, err
}

func (w *watched) Close() error {
	w.over()
	return w.Conn.Close()
}

func (w *watched) over() { w.once.Do(func() { close(w.gone) }) }

// errUsed is the error of a second connection: there is only the one.
var errUsed = errors.New("the connection to the far end is used up")

// single is a listener, and a dialer, with the one connection that is there
// already. gRPC takes a connection from nowhere else.
type single struct {
	conn chan net.Conn
	done chan struct{}
	once sync.Once
}

func newSingle(c net.Conn) *single {
	s := &single{conn: make(chan net.Conn, 1), done: make(chan struct{})}
	s.conn <- c
	return s
}

func (s *single) Accept() (net.Conn, error) {
	select {
	case c := <-s.conn:
		return c, nil
	case <-s.done:
		return nil, net.ErrClosed
	}
}

func (s *single) dial(context.Context, string) (net.Conn, error) {
	select {
	case c := <-s.conn:
		return c, nil
	default:
		return nil, errUsed
	}
}

func (s *single) Close() error   { s.once.Do(func() { close(s.done) }); return nil }
func (s *single) Addr() net.Addr { return pipeAddr{} }
