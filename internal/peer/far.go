package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/grpclog"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
	"github.com/rdmadoctor/rdmadoctor/internal/peer/peerpb"
	"github.com/rdmadoctor/rdmadoctor/internal/worker"
)

// Far is what a far end has to offer.
type Far struct {
	Version  string
	Hostname string
	UID      int
	Notes    []string // what this end could not do
	// Read reads this host: the sources named, or all.
	Read func(ctx context.Context, sources []facts.Source, interval time.Duration) *facts.Snapshot
	// Start starts a worker. Of the options only Task and Tell are set.
	Start func(context.Context, worker.Options) (*worker.Worker, error)
}

var quiet sync.Once

// hush keeps gRPC from writing to standard error, which belongs to the user.
func hush() {
	quiet.Do(func() { grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) })
}

// lastWait is how long the far end's workers have to end when the connection
// is gone. A worker that is stuck in the kernel is left behind.
const lastWait = 20 * time.Second

// Serve answers the near end on conn until that is gone or ctx ends, and stops
// what it has started.
func Serve(ctx context.Context, conn net.Conn, far Far) {
	hush()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := watch(conn)
	s := grpc.NewServer(
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage), grpc.MaxConcurrentStreams(4),
		grpc.MaxHeaderListSize(8<<10), grpc.ConnectionTimeout(helloTime), grpc.WaitForHandlers(true),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: keepaliveTime / 2, PermitWithoutStream: true}))
	peerpb.RegisterFarEndServer(s, &farEnd{far: far})
	l := newSingle(w)
	go func() { _ = s.Serve(l) }()
	greet := time.AfterFunc(helloTime, func() {
		if !w.heard.Load() {
			w.over()
		}
	})
	defer greet.Stop()
	select {
	case <-w.gone:
	case <-ctx.Done():
	}
	stopped := make(chan struct{})
	go func() {
		s.Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(lastWait):
	}
	_ = w.Close()
}

// farEnd is the service.
type farEnd struct {
	peerpb.UnimplementedFarEndServer
	far     Far
	greeted atomic.Bool
	busy    sync.Mutex // one thing at a time
}

func (f *farEnd) Hello(_ context.Context, r *peerpb.HelloRequest) (*peerpb.HelloReply, error) {
	if r.GetProtocol() == Protocol {
		f.greeted.Store(true)
	}
	return &peerpb.HelloReply{Protocol: Protocol, Version: f.far.Version, Hostname: f.far.Hostname, Machine: runtime.GOARCH,
		Uid: uint32(f.far.UID), Notes: f.far.Notes}, nil
}

// begin lets one request at a time through, after a greeting.
func (f *farEnd) begin() error {
	switch {
	case !f.greeted.Load():
		return status.Error(codes.FailedPrecondition, "hello comes first")
	case !f.busy.TryLock():
		return status.Error(codes.ResourceExhausted, "one thing at a time")
	}
	return nil
}

func (f *farEnd) Snapshot(r *peerpb.SnapshotRequest, out grpc.ServerStreamingServer[peerpb.Piece]) error {
	if err := f.begin(); err != nil {
		return err
	}
	defer f.busy.Unlock()
	interval := time.Duration(r.GetIntervalNanos())
	if interval < 0 || interval > maxInterval || len(r.GetSources()) > maxSources {
		return status.Error(codes.InvalidArgument, "a snapshot of these sources or with this interval is none")
	}
	var sources []facts.Source
	for _, s := range r.GetSources() {
		sources = append(sources, facts.Source(s))
	}
	ctx, cancel := context.WithTimeout(out.Context(), maxSnapshotTime)
	defer cancel()
	text, err := pack(f.far.Read(ctx, sources, interval))
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	return cut(text, func(part []byte, _ bool) error { return out.Send(&peerpb.Piece{Data: part}) })
}

func (f *farEnd) Probe(stream grpc.BidiStreamingServer[peerpb.ProbeInput, peerpb.ProbeOutput]) error {
	if err := f.begin(); err != nil {
		return err
	}
	defer f.busy.Unlock()
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	task, err := parseTask(first.GetTask())
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	out := &outgoing{queue: make(chan *peerpb.ProbeOutput, maxQueue), full: cancel}
	sent := make(chan error, 1)
	go func() { sent <- out.send(stream) }()
	var result worker.Result
	w, err := f.far.Start(ctx, worker.Options{Task: task, Tell: out.tell})
	if err != nil {
		result.End = facts.ProbeEnd{Outcome: facts.Unavailable, Step: "start", Detail: err.Error()}
	} else {
		go listen(stream, w)
		result = w.Wait()
	}
	if text, err := json.Marshal(&result); err == nil {
		_ = cut(text, func(part []byte, more bool) error {
			out.put(&peerpb.ProbeOutput{Kind: &peerpb.ProbeOutput_Result{Result: &peerpb.Part{Data: part, More: more}}})
			return nil
		})
	}
	close(out.queue)
	return <-sent
}

// listen takes what the near end says until it says no more. Its own end is
// the end of the stream, and with that of the worker.
func listen(stream grpc.BidiStreamingServer[peerpb.ProbeInput, peerpb.ProbeOutput], w *worker.Worker) {
	for {
		in, err := stream.Recv()
		switch {
		case err != nil && stream.Context().Err() == nil && err == io.EOF:
			return // It only listens from now on.
		case err != nil:
			w.Stop()
			return
		}
		switch k := in.GetKind().(type) {
		case *peerpb.ProbeInput_Oob:
			if len(k.Oob) > MaxOOB || w.OOB(k.Oob) != nil {
				w.Stop()
				return
			}
		default: // Stop, or what has no place here.
			w.Stop()
		}
	}
}

// parseTask reads a task that came from another host.
func parseTask(text []byte) (worker.Task, error) {
	var t worker.Task
	if len(text) > maxTask {
		return t, fmt.Errorf("a task of %d bytes", len(text))
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, fmt.Errorf("task not in form: %w", err)
	}
	if t.Probe == "" || t.Limit <= 0 || t.Limit > MaxTask {
		return t, fmt.Errorf("a task %q of at most %v is none", t.Probe, t.Limit)
	}
	return t, nil
}

const maxQueue = 4096

// outgoing is what waits to be sent to the near end. A worker must not wait
// for a near end that does not read: where the queue is full, it is stopped.
type outgoing struct {
	queue chan *peerpb.ProbeOutput
	full  func()
}

// put is called by one goroutine.
func (o *outgoing) put(m *peerpb.ProbeOutput) {
	select {
	case o.queue <- m:
	default:
		o.full()
	}
}

// tell passes on what a worker says. What it measured comes with its result.
func (o *outgoing) tell(m *worker.Message) {
	switch {
	case m.OOB != nil && len(m.OOB) <= MaxOOB:
		o.put(&peerpb.ProbeOutput{Kind: &peerpb.ProbeOutput_Oob{Oob: m.OOB}})
	case m.OOB != nil:
		o.full()
	case m.Begun != nil:
		if text, err := json.Marshal(m); err == nil {
			o.put(&peerpb.ProbeOutput{Kind: &peerpb.ProbeOutput_Told{Told: &peerpb.Part{Data: text}}})
		}
	}
}

func (o *outgoing) send(stream grpc.BidiStreamingServer[peerpb.ProbeInput, peerpb.ProbeOutput]) error {
	var failed error
	for m := range o.queue { // To its end, so that nobody waits for a place in it.
		if failed == nil {
			failed = stream.Send(m)
		}
	}
	return failed
}
