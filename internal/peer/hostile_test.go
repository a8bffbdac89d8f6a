package peer

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/peer/peerpb"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// liar is a far end that says what a test wants.
type liar struct {
	peerpb.UnimplementedFarEndServer
	hello    *peerpb.HelloReply
	snapshot func(grpc.ServerStreamingServer[peerpb.Piece]) error
	probe    func(grpc.BidiStreamingServer[peerpb.ProbeInput, peerpb.ProbeOutput]) error
}

func (l *liar) Hello(ctx context.Context, _ *peerpb.HelloRequest) (*peerpb.HelloReply, error) {
	if l.hello == nil {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l.hello, nil
}

func (l *liar) Snapshot(_ *peerpb.SnapshotRequest, out grpc.ServerStreamingServer[peerpb.Piece]) error {
	return l.snapshot(out)
}

func (l *liar) Probe(s grpc.BidiStreamingServer[peerpb.ProbeInput, peerpb.ProbeOutput]) error {
	return l.probe(s)
}

// lies gives the near end's side of a connection to l.
func lies(t *testing.T, l *liar) net.Conn {
	t.Helper()
	here, there := net.Pipe()
	s := grpc.NewServer(grpc.MaxSendMsgSize(1 << 30))
	peerpb.RegisterFarEndServer(s, l)
	go func() { _ = s.Serve(newSingle(there)) }()
	t.Cleanup(s.Stop)
	return here
}

func TestConnectHostile(t *testing.T) {
	long := strings.Repeat("n", 40<<10)
	tests := map[string]struct {
		conn func(*testing.T) net.Conn
		want error
	}{
		"silence": {func(*testing.T) net.Conn { c, _ := net.Pipe(); return c }, ErrGone},
		"it hangs up": {func(*testing.T) net.Conn {
			a, b := net.Pipe()
			_ = b.Close()
			return a
		}, ErrGone},
		"garbage": {func(*testing.T) net.Conn {
			a, b := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, b) }()
			go func() { _, _ = io.Copy(b, io.LimitReader(rand.Reader, 1<<20)) }()
			return a
		}, ErrGone},
		"a shell": {func(*testing.T) net.Conn {
			a, b := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, b) }()
			go func() { _, _ = io.WriteString(b, strings.Repeat("bash: PRI: command not found\n", 1000)) }()
			return a
		}, ErrGone},
		"no answer": {func(t *testing.T) net.Conn { return lies(t, &liar{}) }, ErrGone},
		"wrong version": {func(t *testing.T) net.Conn {
			return lies(t, &liar{hello: &peerpb.HelloReply{Protocol: 99, Version: "9"}})
		}, nil},
		"a name without end": {func(t *testing.T) net.Conn {
			return lies(t, &liar{hello: &peerpb.HelloReply{Protocol: Protocol, Notes: []string{strings.Repeat(long, 40)}}})
		}, ErrTooMuch},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			p, err := Connect(ctx, test.conn(t), "1")
			if err == nil {
				_ = p.Close()
				t.Fatal("it is a far end")
			}
			var version *VersionError
			if test.want == nil && !errors.As(err, &version) || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("the error is %v", err)
			}
			if version != nil && (version.There != 99 || version.Here != Protocol || version.ThereVersion != "9") {
				t.Errorf("the versions are %+v", version)
			}
		})
	}
}

func TestLongWordsAreCut(t *testing.T) {
	notes := make([]string, 100)
	for i := range notes {
		notes[i] = strings.Repeat("x", 600)
	}
	c := lies(t, &liar{hello: &peerpb.HelloReply{Protocol: Protocol, Hostname: strings.Repeat("h", 2000), Version: strings.Repeat("v", 900), Notes: notes}})
	p, err := Connect(within(t, 10*time.Second), c, "1")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if h := p.Hello; len(h.Hostname) != maxHostname || len(h.Version) != maxWords || len(h.Notes) != maxNotes || len(h.Notes[0]) != maxNote {
		t.Errorf("names of %d and %d bytes, %d notes of %d", len(h.Hostname), len(h.Version), len(h.Notes), len(h.Notes[0]))
	}
}

func bomb(t *testing.T) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write([]byte(`{"schema":"`))
	for range maxFacts >> 16 {
		_, _ = z.Write(bytes.Repeat([]byte{'x'}, 1<<16))
	}
	_, _ = z.Write([]byte(`"}`))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestSnapshotHostile(t *testing.T) {
	packed := func(v any) []byte {
		b, err := pack(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, test := range map[string]struct {
		send []byte
		want error
	}{
		"nothing":             {nil, nil},
		"no gzip":             {[]byte("a snapshot"), nil},
		"cut off":             {packed(&facts.Snapshot{Schema: facts.SchemaVersion})[:20], nil},
		"no snapshot":         {packed([]int{1}), nil},
		"another schema":      {packed(&facts.Snapshot{Schema: "7.0"}), nil},
		"unfolds without end": {bomb(t), ErrTooMuch},
	} {
		t.Run(name, func(t *testing.T) {
			l := &liar{hello: &peerpb.HelloReply{Protocol: Protocol}, snapshot: func(out grpc.ServerStreamingServer[peerpb.Piece]) error {
				return cut(test.send, func(part []byte, _ bool) error { return out.Send(&peerpb.Piece{Data: part}) })
			}}
			p, err := Connect(within(t, 20*time.Second), lies(t, l), "1")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if s, err := p.Snapshot(within(t, 20*time.Second), nil, 0); err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}

func told(text string) *peerpb.ProbeOutput {
	return &peerpb.ProbeOutput{Kind: &peerpb.ProbeOutput_Told{Told: &peerpb.Part{Data: []byte(text)}}}
}

func result(text string) *peerpb.ProbeOutput {
	return &peerpb.ProbeOutput{Kind: &peerpb.ProbeOutput_Result{Result: &peerpb.Part{Data: []byte(text)}}}
}

// What a far worker may not say ends the pair as garbled, or as gone.
func TestProbeHostile(t *testing.T) {
	for name, test := range map[string]struct {
		say  []*peerpb.ProbeOutput
		want facts.Outcome
	}{
		"no message":         {[]*peerpb.ProbeOutput{told("garbage")}, facts.Garbled},
		"a task for us":      {[]*peerpb.ProbeOutput{told(`{"task":{"probe":"x"},"stop":true}`)}, facts.Garbled},
		"no result":          {[]*peerpb.ProbeOutput{result("[]")}, facts.Garbled},
		"an unknown outcome": {[]*peerpb.ProbeOutput{result(`{"End":{"outcome":"splendid"}}`)}, facts.Garbled},
		"no outcome":         {[]*peerpb.ProbeOutput{result(`{}`)}, facts.Garbled},
		"it says it is gone": {[]*peerpb.ProbeOutput{result(`{"End":{"outcome":"peer-gone"}}`)}, facts.Garbled},
		"it ends at once":    {nil, facts.PeerGone},
		"more than 64 KiB":   {[]*peerpb.ProbeOutput{result(strings.Repeat(" ", 1<<20))}, facts.PeerGone},
		"without end": {func() (all []*peerpb.ProbeOutput) {
			part := &peerpb.Part{Data: make([]byte, pieceBytes), More: true}
			for range maxTold/pieceBytes + 1 {
				all = append(all, &peerpb.ProbeOutput{Kind: &peerpb.ProbeOutput_Told{Told: part}})
			}
			return all
		}(), facts.Garbled},
	} {
		t.Run(name, func(t *testing.T) {
			l := &liar{hello: &peerpb.HelloReply{Protocol: Protocol},
				probe: func(s grpc.BidiStreamingServer[peerpb.ProbeInput, peerpb.ProbeOutput]) error {
					for _, m := range test.say {
						if err := s.Send(m); err != nil {
							return err
						}
					}
					return nil
				}}
			p, err := Connect(within(t, 20*time.Second), lies(t, l), "1")
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			r := p.Run(within(t, 20*time.Second), pairOf("far", waits))
			if r.Far.End.Outcome != test.want {
				t.Errorf("the far worker ended %+v, want %s", r.Far.End, test.want)
			}
			if r.Near.End.Outcome != facts.PeerGone {
				t.Errorf("the near worker ended %+v", r.Near.End)
			}
		})
	}
}

// What a near end may not ask is refused, and what it asked before goes on.
func TestNearHostile(t *testing.T) {
	ran := make(chan string, 10)
	far := testFar("far")
	far.Start = func(ctx context.Context, opt worker.Options) (*worker.Worker, error) {
		ran <- opt.Task.Probe
		return start(waits)(ctx, opt)
	}
	p, _ := connected(t, far)
	task := func(text string) codes.Code {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s, err := p.rpc.Probe(ctx)
		if err == nil {
			err = s.Send(&peerpb.ProbeInput{Kind: &peerpb.ProbeInput_Task{Task: []byte(text)}})
		}
		if err == nil {
			_, err = s.Recv()
		}
		return status.Code(err)
	}
	for _, text := range []string{"", "{", `{"probe":"x"}`, `{"probe":"x","limit_nanos":-1}`, `{"probe":"x","limit_nanos":9000000000000000000}`,
		`{"probe":"","limit_nanos":1000}`, `{"probe":"x","limit_nanos":1000,"params":"` + strings.Repeat("x", maxTask) + `"}`} {
		if code := task(text); code != codes.InvalidArgument {
			t.Errorf("task %.60q: %v", text, code)
		}
	}
	if len(ran) != 0 {
		t.Fatalf("it ran %q", <-ran)
	}
	for _, r := range []*peerpb.SnapshotRequest{{IntervalNanos: -1}, {IntervalNanos: int64(time.Hour)}, {Sources: make([]string, maxSources+1)}} {
		s, err := p.rpc.Snapshot(within(t, 10*time.Second), r)
		if err == nil {
			_, err = s.Recv()
		}
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("snapshot %.60v: %v", r, err)
		}
	}
	pair := pairOf("far", waits)
	pair.FarStep = func(string) {
		if code := task(`{"probe":"second","limit_nanos":1000000000}`); code != codes.ResourceExhausted {
			t.Errorf("a second task beside the first: %v", code)
		}
		_ = p.Close()
	}
	p.Run(within(t, 20*time.Second), pair)
	if len(ran) != 1 || <-ran != "far" {
		t.Errorf("not one task ran")
	}
}

func TestHelloComesFirst(t *testing.T) {
	f := &farEnd{far: testFar("far")}
	if _, err := f.Hello(context.Background(), &peerpb.HelloRequest{Protocol: 99}); err != nil {
		t.Fatal(err)
	}
	if err := f.begin(); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("after a greeting in another protocol: %v", err)
	}
}

func TestNearBlobTooLarge(t *testing.T) {
	far := testFar("far")
	far.Start = start(waits)
	p, _ := connected(t, far)
	pair := pairOf("far", func(ctx context.Context, task worker.Task, r *worker.Reporter) error {
		_ = r.Send(make([]byte, MaxOOB+1))
		return waits(ctx, task, r)
	})
	r := p.Run(within(t, 20*time.Second), pair)
	if r.Far.End.Outcome != facts.Stopped {
		t.Errorf("the far worker ended %+v", r.Far.End)
	}
}
