package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestListenRefuses(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "[::ffff:0.0.0.0]:0", "224.0.0.1:0", "[ff02::1]:0"} {
		if w, err := Listen(context.Background(), netip.MustParseAddrPort(addr)); err == nil {
			_ = w.Close()
			t.Errorf("it listens at %s", addr)
		}
	}
	if _, err := Listen(context.Background(), netip.AddrPort{}); err == nil {
		t.Error("it listens at no address")
	}
}

func listening(t *testing.T) *Waiting {
	t.Helper()
	w, err := Listen(context.Background(), netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func TestJoin(t *testing.T) {
	w := listening(t)
	line := w.Ticket.String()
	ticket, err := ParseTicket(line + "\n")
	if err != nil {
		t.Fatal(err)
	}
	if *ticket != w.Ticket {
		t.Errorf("the ticket is %+v, want %+v", ticket, w.Ticket)
	}
	ctx := within(t, 20*time.Second)
	go func() {
		conn, err := w.Accept(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		Serve(ctx, conn, testFar("far"))
	}()
	conn, err := ticket.Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if v := conn.(*tls.Conn).ConnectionState().Version; v != tls.VersionTLS13 {
		t.Errorf("TLS version %x", v)
	}
	p, err := Connect(ctx, conn, "test")
	if err != nil {
		t.Fatal(err)
	}
	if p.Hello.Hostname != "far" {
		t.Errorf("it says %+v", p.Hello)
	}
	var failed *StartError
	if _, err := ticket.Join(ctx); !errors.As(err, &failed) || failed.Hint == "" {
		t.Errorf("the ticket was good for a second time: %v", err)
	}
	_ = p.Close()
}

// The peer comes in although others knock: without a key, with another key,
// in silence, with plain words.
func TestOthersAreTurnedAway(t *testing.T) {
	w := listening(t)
	ctx := within(t, 20*time.Second)
	came := make(chan net.Conn, 1)
	go func() {
		c, err := w.Accept(ctx)
		if err != nil {
			t.Error(err)
		}
		came <- c
	}()
	addr := w.Ticket.Addr.String()
	var open []net.Conn
	for range maxAtOnce - 1 {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	plain, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = plain.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
	wrong := w.Ticket
	wrong.token[0]++
	for _, c := range []*tls.Config{{InsecureSkipVerify: true}, {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}} {
		d := tls.Dialer{Config: c}
		if conn, err := d.DialContext(ctx, "tcp", addr); err == nil {
			open = append(open, conn)
		}
	}
	if c, err := wrong.Join(ctx); err == nil { // In TLS 1.3 the refusal comes after it.
		if _, err := Connect(ctx, c, "test"); err == nil {
			t.Error("another key came in")
		}
	}
	other := w.Ticket
	other.pin[0]++
	if _, err := other.Join(ctx); err == nil || !strings.Contains(err.Error(), "another one answers") {
		t.Errorf("with another pin: %v", err)
	}
	c, err := w.Ticket.Join(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if got := <-came; got == nil || got.RemoteAddr().String() != c.LocalAddr().String() {
		t.Errorf("somebody else came in")
	}
	for _, c := range append(open, plain, c) {
		_ = c.Close()
	}
}

func TestAcceptEnds(t *testing.T) {
	w := listening(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.Accept(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the end of its time is %v", err)
	}
	if _, err := net.Dial("tcp", w.Ticket.Addr.String()); err == nil {
		t.Error("it still listens")
	}
}

func TestParseTicketRefuses(t *testing.T) {
	w := listening(t)
	good := w.Ticket.String()
	f := strings.Fields(good)
	for _, line := range []string{"", "  ", "rdmadoctor-join-1", strings.Replace(good, "join-1", "join-2", 1), good + " more",
		strings.Join(f[:3], " "), strings.Replace(good, f[1], "0.0.0.0:1", 1), strings.Replace(good, f[1], "host:1", 1),
		good[:len(good)-1], good + strings.Repeat(" ", maxJoin)} {
		ticket, err := ParseTicket(line)
		if err == nil {
			t.Errorf("%q is the ticket %+v", line, ticket)
		} else if strings.Contains(err.Error(), f[3]) {
			t.Errorf("the error repeats the token: %v", err)
		}
	}
}

func FuzzTicket(f *testing.F) {
	f.Add("rdmadoctor-join-1 127.0.0.1:1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Add("rdmadoctor-join-1 [fe80::1%eth0]:1 A A")
	f.Fuzz(func(t *testing.T, line string) {
		ticket, err := ParseTicket(line)
		if err != nil {
			return
		}
		again, err := ParseTicket(ticket.String())
		if err != nil || *again != *ticket {
			t.Errorf("%q: %+v, again %+v, %v", line, ticket, again, err)
		}
	})
}
