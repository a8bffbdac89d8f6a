package peer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/peer/peerpb"
)

// ErrGone is the error of a far end that has ended or fallen silent.
var ErrGone = errors.New("the far end is gone")

// VersionError is a far end that speaks another protocol.
type VersionError struct {
	Here, There               uint32
	HereVersion, ThereVersion string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the far end is rdmadoctor %s of protocol %d, and this is %s of protocol %d", e.ThereVersion, e.There, e.HereVersion, e.Here)
}

// Hello is what the far end says of itself.
type Hello struct {
	Version  string
	Hostname string
	Machine  string
	UID      int
	Notes    []string
}

// Peer is a far end to which there is a connection. It may be used by one
// goroutine at a time.
type Peer struct {
	Hello Hello
	conn  *watched
	grpc  *grpc.ClientConn
	rpc   peerpb.FarEndClient
}

// Connect greets the far end on conn, which is the peer's from then on.
func Connect(ctx context.Context, conn net.Conn, version string) (*Peer, error) {
	hush()
	w := watch(conn)
	c, err := grpc.NewClient("passthrough:///far", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(newSingle(w).dial), grpc.WithDisableServiceConfig(), grpc.WithNoProxy(),
		grpc.WithMaxHeaderListSize(8<<10), grpc.WithIdleTimeout(0),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveTime, Timeout: keepaliveTimeout, PermitWithoutStream: true}))
	if err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	p := &Peer{conn: w, grpc: c, rpc: peerpb.NewFarEndClient(c)}
	if err := p.greet(ctx, version); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func (p *Peer) greet(ctx context.Context, version string) error {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	r, err := p.rpc.Hello(ctx, &peerpb.HelloRequest{Protocol: Protocol, Version: version})
	if err != nil {
		return p.failed(ctx, "greet the far end", err)
	}
	p.Hello = Hello{Version: clip(r.GetVersion(), maxWords), Hostname: clip(r.GetHostname(), maxHostname),
		Machine: clip(r.GetMachine(), maxWords), UID: int(r.GetUid())}
	for _, n := range r.GetNotes()[:min(len(r.GetNotes()), maxNotes)] {
		p.Hello.Notes = append(p.Hello.Notes, clip(n, maxNote))
	}
	if r.GetProtocol() != Protocol {
		return &VersionError{Here: Protocol, There: r.GetProtocol(), HereVersion: version, ThereVersion: p.Hello.Version}
	}
	return nil
}

func clip(s string, n int) string { return s[:min(len(s), n)] }

// Close ends the connection, and with that the far end.
func (p *Peer) Close() error {
	return errors.Join(p.grpc.Close(), p.conn.Close())
}

// Gone is closed when the connection has ended.
func (p *Peer) Gone() <-chan struct{} { return p.conn.gone }

// failed says why a request came to nothing.
func (p *Peer) failed(ctx context.Context, what string, err error) error {
	s := status.Convert(err)
	switch {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled):
		return fmt.Errorf("%s: %w", what, context.Canceled)
	case s.Code() == codes.DeadlineExceeded || ctx.Err() != nil:
		return fmt.Errorf("%s: %w: no answer in time", what, ErrGone)
	case s.Code() == codes.Unavailable || s.Code() == codes.Canceled:
		return fmt.Errorf("%s: %w: %s", what, ErrGone, clip(s.Message(), maxNote))
	case s.Code() == codes.ResourceExhausted && s.Message() != "one thing at a time":
		return fmt.Errorf("%s: %w: %s", what, ErrTooMuch, clip(s.Message(), maxNote))
	}
	return fmt.Errorf("%s: %s", what, clip(s.Message(), maxNote))
}

// Snapshot reads the far host: the sources named, or all.
func (p *Peer) Snapshot(ctx context.Context, sources []facts.Source, interval time.Duration) (*facts.Snapshot, error) {
	const what = "read the far host"
	ctx, cancel := context.WithTimeout(ctx, maxSnapshotTime+interval)
	defer cancel()
	r := &peerpb.SnapshotRequest{IntervalNanos: int64(interval)}
	for _, s := range sources {
		r.Sources = append(r.Sources, string(s))
	}
	stream, err := p.rpc.Snapshot(ctx, r)
	if err != nil {
		return nil, p.failed(ctx, what, err)
	}
	whole := joiner{limit: maxFacts}
	for {
		piece, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, p.failed(ctx, what, err)
		}
		if err := whole.add(piece.GetData()); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	s := &facts.Snapshot{}
	if err := unpack(whole.take(), s); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if s.Schema != facts.SchemaVersion {
		return nil, fmt.Errorf("%s: facts of schema %q, want %q", what, clip(s.Schema, maxWords), facts.SchemaVersion)
	}
	// What probes find is told by their workers, never by a snapshot.
	s.Measured, s.Ladders, s.Peer, s.Origin = nil, nil, nil, facts.Live
	return s, nil
}

// parseResult reads a result that came from another host.
func parseResult(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("result not in form: %w", err)
	}
	return nil
}
