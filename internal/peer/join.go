package peer

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Ticket is what a join line holds: where a far end waits, what it is known
// by, and the secret that its peer is known by.
type Ticket struct {
	Addr  netip.AddrPort
	pin   [32]byte // SHA-256 of the far end's public key
	token [32]byte // the seed of the near end's key
}

const (
	joinWord = "rdmadoctor-join-1"
	maxJoin  = 512 // bytes of a line
)

// String is the join line.
func (t *Ticket) String() string {
	e := base64.RawURLEncoding
	return strings.Join([]string{joinWord, t.Addr.String(), e.EncodeToString(t.pin[:]), e.EncodeToString(t.token[:])}, " ")
}

// ParseTicket reads a join line. Errors do not repeat it: it holds a secret.
func ParseTicket(line string) (*Ticket, error) {
	if len(line) > maxJoin {
		return nil, errors.New("join line not in form: it is too long")
	}
	f := strings.Fields(line)
	switch {
	case len(f) == 0:
		return nil, errors.New("join line not in form: it is empty")
	case f[0] != joinWord && strings.HasPrefix(f[0], "rdmadoctor-join-"):
		return nil, errors.New("join line of another version of rdmadoctor")
	case f[0] != joinWord || len(f) != 4:
		return nil, errors.New("join line not in form: it is one line of four words, the first " + joinWord)
	}
	var t Ticket
	addr, err := netip.ParseAddrPort(f[1])
	if err != nil || checkAddr(addr) != nil {
		return nil, errors.New("join line not in form: its second word is no address and port")
	}
	t.Addr = addr
	for i, to := range [][]byte{t.pin[:], t.token[:]} {
		b, err := base64.RawURLEncoding.Strict().DecodeString(f[2+i])
		if err != nil || len(b) != len(to) {
			return nil, errors.New("join line not in form: a key is cut off or changed")
		}
		copy(to, b)
	}
	return &t, nil
}

// checkAddr refuses what no single peer can be told.
func checkAddr(a netip.AddrPort) error {
	switch {
	case !a.IsValid():
		return errors.New("no address and port")
	case a.Addr().Unmap().IsUnspecified():
		return fmt.Errorf("%v is every address of this host: name the one at which the peer is to come in", a.Addr())
	case a.Addr().IsMulticast():
		return fmt.Errorf("%v is a multicast address", a.Addr())
	}
	return nil
}

const dialTime = 10 * time.Second

// Join connects to the far end that waits.
func (t *Ticket) Join(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	fail := func(what, hint string) (net.Conn, error) {
		return nil, &StartError{Host: t.Addr.String(), What: what, Hint: hint}
	}
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.Addr.String())
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fail("nothing listens there", "an agent serves one peer, once, until its time is over: start it again")
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, syscall.ETIMEDOUT):
		return fail("no answer", "a firewall may drop the TCP port of the agent")
	case err != nil:
		return fail(err.Error(), "")
	}
	cert, err := certificate(nearKey(t.token))
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	c := tls.Client(raw, config(cert, func(pin [32]byte) bool { return pin == t.pin }))
	if err := c.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		if errors.Is(err, errPin) {
			return fail("another one answers than the join line is of", "start the agent again and use its new line")
		}
		return fail("it does not speak TLS 1.3 as an agent does: "+err.Error(), "")
	}
	return c, nil
}
