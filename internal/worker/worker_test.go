package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rdmadoctor/rdmadoctor/internal/facts"
)

// The test binary is its own worker: with this variable set it carries out
// tasks that behave as their names say.
const workerEnv = "RDMADOCTOR_TEST_WORKER"

func TestMain(m *testing.M) {
	switch os.Getenv(workerEnv) {
	case "1":
		workerMain()
	case "parent":
		parentMain()
	}
	os.Exit(m.Run())
}

func workerMain() {
	debug.SetTraceback("crash") // As the program does.
	Confine()
	in, out := Files()
	if err := Serve(context.Background(), in, out, behave); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	os.Exit(0)
}

type noVerbs struct{}

func (noVerbs) Error() string     { return "no verbs here" }
func (noVerbs) Unavailable() bool { return true }

func behave(ctx context.Context, t Task, r *Reporter) error {
	r.Ladder(1, &facts.Ladder{Probe: "self", Local: "rxe0/1"})
	r.Step(1, false, facts.ProbeStep{Name: "open"})
	_, out := Files()
	switch t.Probe {
	case "complete":
		r.Measurement(&facts.Measurement{Probe: "latency"})
		r.Ladder(1, &facts.Ladder{Probe: "self", Local: "rxe0/1", Steps: []facts.ProbeStep{{Name: "open"}, {Name: "rts"}},
			End: facts.ProbeEnd{Outcome: facts.Completed}})
		return nil
	case "unavailable":
		return fmt.Errorf("load: %w", noVerbs{})
	case "fail":
		return errors.New("no such device")
	case "oob":
		for range 3 {
			blob, err := r.Receive(ctx)
			if err != nil {
				return err
			}
			if err := r.Send(append(blob, '!')); err != nil {
				return err
			}
		}
		return nil
	case "affinity":
		var set unix.CPUSet
		_ = unix.SchedGetaffinity(0, &set)
		r.Log("%d cpus", set.Count())
		return nil
	case "confined":
		var core unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
		group, _ := unix.Getpgid(0)
		adj, _ := os.ReadFile("/proc/self/oom_score_adj")
		r.Log("core %d, own group %v, oom %s", core.Max, group == os.Getpid(), strings.TrimSpace(string(adj)))
		return nil
	case "many-long-steps":
		for range 4 {
			r.Begin("sleep", time.Minute)
			r.Log("on it") // It does not shorten the step's own limit.
			time.Sleep(3 * phase / 2)
			r.Step(1, false, facts.ProbeStep{Name: "sleep"})
		}
		return nil
	}
	r.Begin("rtr", 0)
	switch t.Probe {
	case "segv", "abort", "kill", "term":
		fmt.Fprintln(os.Stderr, "provider: something is wrong")
		sig := map[string]syscall.Signal{"segv": syscall.SIGSEGV, "abort": syscall.SIGABRT, "kill": syscall.SIGKILL, "term": syscall.SIGTERM}[t.Probe]
		signal.Reset()
		_ = syscall.Kill(os.Getpid(), sig)
		select {}
	case "nil":
		var p *facts.Ladder
		p.Probe = "x" // The runtime ends it.
	case "exit":
		os.Exit(3)
	case "obey":
		<-ctx.Done()
		r.Step(1, false, facts.ProbeStep{Name: "rtr", Detail: "told to stop"})
		return nil
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "blocked": // As in a C function that never returns.
		signal.Ignore(syscall.SIGTERM)
		for {
			_, _, _ = syscall.RawSyscall(syscall.SYS_PAUSE, 0, 0, 0)
		}
	case "silent-exit":
		r.tell(&Message{Done: &Done{}})
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "closed":
		out.Close()
		select {}
	case "garbage":
		fmt.Fprint(out, "libfoo: warning\n")
		select {}
	case "huge":
		_, _ = out.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
		select {}
	case "hello-again":
		r.tell(&Message{Hello: &Hello{Protocol: protocol}})
		select {}
	case "commands":
		r.tell(&Message{Stop: true})
		select {}
	case "half":
		_, _ = out.Write([]byte{0, 0, 1, 0, '{'})
		os.Exit(0)
	}
	return fmt.Errorf("no such behaviour %q", t.Probe)
}

// phase is short where a step hangs for certain. Nothing asserts how long
// anything took.
const phase = 300 * time.Millisecond

func testOptions(probe string) Options {
	return Options{Task: Task{Probe: probe, Limit: time.Minute}, Phase: 20 * time.Second, Grace: 20 * time.Second,
		Starter: Exec{Argv: []string{os.Args[0]}, Env: append(os.Environ(), workerEnv+"=1")}}
}

func hanging(probe string) Options {
	o := testOptions(probe)
	o.Phase, o.Grace = phase, phase
	return o
}

func TestOutcomes(t *testing.T) {
	for _, tc := range []struct {
		opt    Options
		want   facts.ProbeEnd
		detail string
	}{
		{testOptions("complete"), facts.ProbeEnd{Outcome: facts.Completed}, ""},
		{testOptions("unavailable"), facts.ProbeEnd{Outcome: facts.Unavailable}, "no verbs here"},
		{testOptions("fail"), facts.ProbeEnd{Outcome: facts.Completed}, "no such device"},
		{testOptions("segv"), facts.ProbeEnd{Outcome: facts.Crashed, Step: "rtr", Signal: "SIGSEGV"}, "its last words: provider: something is wrong"},
		{testOptions("abort"), facts.ProbeEnd{Outcome: facts.Crashed, Step: "rtr", Signal: "SIGABRT"}, "its last words: provider: something is wrong"},
		{testOptions("nil"), facts.ProbeEnd{Outcome: facts.Crashed, Step: "rtr", Signal: "SIGSEGV"}, "nil pointer"},
		{testOptions("exit"), facts.ProbeEnd{Outcome: facts.Crashed, Step: "rtr"}, "exit code 3"},
		{testOptions("kill"), facts.ProbeEnd{Outcome: facts.Crashed, Step: "rtr", Signal: "SIGKILL"}, "somebody killed it"},
		{testOptions("term"), facts.ProbeEnd{Outcome: facts.Crashed, Step: "rtr", Signal: "SIGTERM"}, "somebody sent"},
		{hanging("obey"), facts.ProbeEnd{Outcome: facts.Hung, Step: "rtr"}, "no answer in time"},
		{hanging("deaf"), facts.ProbeEnd{Outcome: facts.Hung, Step: "rtr"}, "no answer in time"},
		{hanging("blocked"), facts.ProbeEnd{Outcome: facts.Hung, Step: "rtr"}, "no answer in time"},
		{hanging("silent-exit"), facts.ProbeEnd{Outcome: facts.Hung, Step: "exit"}, "did not end"},
		{hanging("closed"), facts.ProbeEnd{Outcome: facts.Hung, Step: "rtr"}, "closed its pipe"},
		{testOptions("garbage"), facts.ProbeEnd{Outcome: facts.Garbled, Step: "rtr"}, "not in form"},
		{testOptions("huge"), facts.ProbeEnd{Outcome: facts.Garbled, Step: "rtr"}, "not in form"},
		{testOptions("hello-again"), facts.ProbeEnd{Outcome: facts.Garbled, Step: "rtr"}, "greeting"},
		{testOptions("commands"), facts.ProbeEnd{Outcome: facts.Garbled, Step: "rtr"}, "only a parent"},
		{testOptions("half"), facts.ProbeEnd{Outcome: facts.Garbled, Step: "rtr"}, "1 of 256"},
		{hanging("many-long-steps"), facts.ProbeEnd{Outcome: facts.Completed}, ""},
	} {
		t.Run(tc.opt.Task.Probe, func(t *testing.T) {
			got := Run(t.Context(), tc.opt)
			detail := got.End.Detail
			got.End.Detail = ""
			if got.End != tc.want || !strings.Contains(detail, tc.detail) {
				t.Errorf("end %+v %q, want %+v with %q", got.End, detail, tc.want, tc.detail)
			}
			if len(got.Ladders) != 1 || got.Ladders[0].Local != "rxe0/1" || got.Ladders[0].Steps[0].Name != "open" {
				t.Fatalf("the ladder is lost: %+v", got.Ladders)
			}
			if l := got.Ladders[0]; l.End.Outcome != tc.want.Outcome {
				t.Errorf("ladder's end %+v, want %v", l.End, tc.want.Outcome)
			}
			if err := syscall.Kill(got.PID, 0); err != syscall.ESRCH {
				t.Errorf("process %d is still there: %v", got.PID, err)
			}
		})
	}
}

// What is told after the deadline, while the process is asked to stop, is kept.
func TestLastWordsAreKept(t *testing.T) {
	o := testOptions("obey")
	o.Phase = phase
	r := Run(t.Context(), o)
	if steps := r.Ladders[0].Steps; len(steps) != 2 || steps[1].Detail != "told to stop" {
		t.Errorf("steps %+v", steps)
	}
}

func TestOOMKill(t *testing.T) {
	o := testOptions("kill")
	o.Host = &fakeHost{oom: []oomCount{{host: 4, group: -1}, {host: 5, group: -1}}}
	if r := Run(t.Context(), o); r.End.Outcome != facts.OOMKilled || r.End.Signal != "SIGKILL" {
		t.Errorf("end %+v", r.End)
	}
	o.Host = &fakeHost{oom: []oomCount{{host: -1, group: -1}, {host: 5, group: 9}}}
	if r := Run(t.Context(), o); r.End.Outcome != facts.Crashed {
		t.Errorf("no count before, and %+v", r.End)
	}
}

type fakeHost struct {
	oom    []oomCount
	asleep string
}

func (f *fakeHost) Asleep(int) string { return f.asleep }
func (f *fakeHost) OOMKills() oomCount {
	c := f.oom[0]
	f.oom = f.oom[min(1, len(f.oom)-1):]
	return c
}

// immortal is a process that the kernel holds: it gets its signals and does not
// end.
type immortal struct {
	launch  Launch
	signals []syscall.Signal
}

func (p *immortal) Start(_ context.Context, l Launch) (Process, error) {
	out, err := unix.Dup(int(l.Out.Fd()))
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(out), "report") // Held open, as by a process.
	for _, m := range []*Message{{Hello: &Hello{Protocol: protocol}}, {Ended: &Ended{Ladder: 1, Step: facts.ProbeStep{Name: "open"}}},
		{Begun: &Begun{Step: "reg-mr", Limit: time.Millisecond}}} {
		if err := Write(f, m); err != nil {
			return nil, err
		}
	}
	p.launch.Out = f
	return p, nil
}
func (p *immortal) PID() int { return 4711 }
func (p *immortal) Signal(s syscall.Signal) error {
	p.signals = append(p.signals, s)
	return nil
}
func (p *immortal) Wait() (Exit, error) { select {} }

func TestStuckIsLeftBehind(t *testing.T) {
	p := &immortal{}
	o := hanging("any")
	o.Reap = phase
	o.Starter, o.Host = p, &fakeHost{oom: []oomCount{{}}, asleep: "thread 4711 sleeps uninterruptibly in the kernel, in ib_uverbs_reg_mr"}
	r := Run(t.Context(), o)
	want := facts.ProbeEnd{Outcome: facts.Stuck, Step: "reg-mr",
		Detail: "process 4711 was killed and does not end: thread 4711 sleeps uninterruptibly in the kernel, in ib_uverbs_reg_mr"}
	if r.End != want {
		t.Errorf("end %+v, want %+v", r.End, want)
	}
	if !slices.Equal(p.signals, []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}) {
		t.Errorf("signals %v", p.signals)
	}
	if len(r.Ladders) != 1 || r.Ladders[0].Steps[0].Name != "open" || r.Ladders[0].End != want {
		t.Errorf("ladders %+v", r.Ladders)
	}
	p.launch.Out.Close()
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := testOptions("obey")
	o.Tell = func(m *Message) {
		if m.Begun != nil {
			cancel()
		}
	}
	if r := Run(ctx, o); r.End.Outcome != facts.Stopped || r.End.Detail != "interrupted" || len(r.Ladders[0].Steps) != 2 {
		t.Errorf("result %+v", r)
	}
}

func TestWholeTaskHasALimit(t *testing.T) {
	o := testOptions("obey")
	o.Task.Limit = phase // The process ends itself.
	if r := Run(t.Context(), o); r.End.Outcome != facts.Completed || len(r.Ladders[0].Steps) != 2 {
		t.Errorf("result %+v", r)
	}
}

func TestOOB(t *testing.T) {
	got := make(chan string, 8)
	o := testOptions("oob")
	o.Tell = func(m *Message) {
		if m.OOB != nil {
			got <- string(m.OOB)
		}
	}
	w, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, blob := range []string{"a", "", "\x00\xff"} {
		if err := w.OOB([]byte(blob)); err != nil {
			t.Fatal(err)
		}
		select {
		case back := <-got:
			if back != blob+"!" {
				t.Errorf("%q came back as %q", blob, back)
			}
		case <-w.Done():
			t.Fatalf("%q did not come back: %+v", blob, w.Wait().End)
		}
	}
	if r := w.Wait(); r.End.Outcome != facts.Completed {
		t.Errorf("end %+v", r.End)
	}
	if err := w.OOB(make([]byte, MaxOOB+1)); !errors.Is(err, ErrFrame) {
		t.Errorf("a blob too long: %v", err)
	}
	for range 64 { // Sooner or later the queue is full, and it does not block.
		if err := w.OOB([]byte("x")); err != nil && !errors.Is(err, ErrEnded) {
			t.Errorf("after the end: %v", err)
		}
	}
}

func logged(t *testing.T, o Options) []string {
	t.Helper()
	var said []string
	o.Tell = func(m *Message) {
		if m.Log != "" {
			said = append(said, m.Log)
		}
	}
	if r := Run(t.Context(), o); r.End.Outcome != facts.Completed {
		t.Fatalf("end %+v", r.End)
	}
	return said
}

func TestConfined(t *testing.T) {
	if got := logged(t, testOptions("confined")); !slices.Equal(got, []string{"core 0, own group true, oom 1000"}) {
		t.Errorf("said %q", got)
	}
}

func TestBoundToCPUs(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil || !all.IsSet(0) {
		t.Skipf("CPU 0 is not ours: %v", err)
	}
	o := testOptions("affinity")
	o.CPUs = []int{0}
	if got := logged(t, o); !slices.Equal(got, []string{"1 cpus"}) {
		t.Errorf("bound to CPU 0: %q", got)
	}
	o.CPUs = []int{1 << 20, -1}
	if got := logged(t, o); !slices.Equal(got, []string{fmt.Sprintf("%d cpus", all.Count())}) {
		t.Errorf("bound to no CPU that is here: %q", got)
	}
}

func TestCannotStart(t *testing.T) {
	o := testOptions("complete")
	o.Starter = Exec{Argv: []string{t.TempDir() + "/absent"}}
	if r := Run(t.Context(), o); r.End.Outcome != facts.Unavailable || r.End.Step != "start" {
		t.Errorf("end %+v", r.End)
	}
	o.Task.Probe = ""
	if _, err := Start(t.Context(), o); !errors.Is(err, ErrFrame) {
		t.Errorf("a task without a name: %v", err)
	}
}

func TestLeavesNothingOpen(t *testing.T) {
	Run(t.Context(), testOptions("complete"))
	before := openFiles(t)
	for range 8 {
		Run(t.Context(), testOptions("complete"))
		Run(t.Context(), testOptions("segv"))
		Run(t.Context(), hanging("deaf"))
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d open files, %d before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(fds)
}
