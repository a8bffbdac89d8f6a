package peer

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Waiting is a far end that waits for its one peer.
type Waiting struct {
	Ticket Ticket
	tcp    net.Listener
	tls    *tls.Config
}

// Bounds of those who knock and are not the peer.
const (
	maxKnocks    = 1000 // in all
	maxAtOnce    = 8
	handshakeFor = 5 * time.Second
)

// ErrKnocks is the error of a far end to which too many others came.
var ErrKnocks = errors.New("too many tried to come in without the join line")

// Listen waits at addr, one address of this host and a port, 0 for any.
func Listen(ctx context.Context, addr netip.AddrPort) (*Waiting, error) {
	if err := checkAddr(addr); err != nil {
		return nil, err
	}
	w := &Waiting{}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	_, _ = rand.Read(w.Ticket.token[:]) // It never fails.
	near, err := pinOf(nearKey(w.Ticket.token).Public())
	if err != nil {
		return nil, fmt.Errorf("make a token: %w", err)
	}
	if w.Ticket.pin, err = pinOf(key.Public()); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	cert, err := certificate(key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	w.tls = config(cert, func(pin [32]byte) bool { return same(pin, near) })
	if w.tcp, err = (&net.ListenConfig{}).Listen(ctx, "tcp", addr.String()); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	w.Ticket.Addr = netip.MustParseAddrPort(w.tcp.Addr().String())
	return w, nil
}

// Close stops waiting.
func (w *Waiting) Close() error { return w.tcp.Close() }

// Accept waits for the peer and stops listening when it has come. Others are
// turned away.
func (w *Waiting) Accept(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer w.tcp.Close()
	stop := context.AfterFunc(ctx, func() { _ = w.tcp.Close() })
	defer stop()
	came := make(chan net.Conn)
	failed := make(chan error, 1)
	go func() { failed <- w.knocks(ctx, came) }()
	select {
	case c := <-came:
		return c, nil
	case err := <-failed:
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
}

// knocks shakes hands with all who come, some at once, since the peer must not
// have to wait for those who say nothing.
func (w *Waiting) knocks(ctx context.Context, came chan<- net.Conn) error {
	places := make(chan struct{}, maxAtOnce)
	for range maxKnocks {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		raw, err := w.tcp.Accept()
		if err != nil {
			return fmt.Errorf("accept: %w", err)
		}
		go func() {
			defer func() { <-places }()
			hctx, cancel := context.WithTimeout(ctx, handshakeFor)
			defer cancel()
			c := tls.Server(raw, w.tls)
			if c.HandshakeContext(hctx) != nil {
				_ = raw.Close()
				return
			}
			select {
			case came <- c:
			case <-ctx.Done():
				_ = raw.Close()
			}
		}()
	}
	return ErrKnocks
}
