package hostio

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is its own reading child: with this variable set it serves a
// fake host whose ops behave as their names say, and appends the names of the
// ops it was asked to the file that the variable names.
const childEnv = "RDMADOCTOR_TEST_CHILD_LOG"

func TestMain(m *testing.M) {
	if log := os.Getenv(childEnv); log != "" {
		childMain(log)
	}
	os.Exit(m.Run())
}

func childMain(log string) {
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		os.Exit(9)
	}
	fmt.Fprintln(f, "start")
	if len(os.Args) > 1 && os.Args[1] == "mute" {
		select {}
	}
	if len(os.Args) > 1 && os.Args[1] == "rude" {
		os.Stdout.Write(appendFrame(nil, []byte("who are you")))
		select {}
	}
	h := fakeHost(func(op Op) Result {
		fmt.Fprintln(f, op.Name)
		switch name := op.Name; {
		case strings.HasSuffix(name, "hang"):
			for {
				time.Sleep(time.Hour)
			}
		case strings.HasSuffix(name, "busy"):
			for begun := time.Now(); time.Since(begun) < 3*hangDeadline; {
			}
		case strings.HasSuffix(name, "spin"):
			for begun := time.Now(); time.Since(begun) < time.Hour; {
			}
		case strings.HasSuffix(name, "crash"):
			os.Exit(3)
		case strings.HasSuffix(name, "panic"):
			panic("on purpose")
		case strings.HasSuffix(name, "lie-id"):
			os.Stdout.Write(appendFrame(nil, appendResult(nil, 1<<31, Result{})))
		case strings.HasSuffix(name, "lie-size"):
			os.Stdout.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
		case strings.HasSuffix(name, "garbage"):
			os.Stdout.Write(appendFrame(nil, bytes.Repeat([]byte{0xa5}, 64)))
		case strings.HasSuffix(name, "self-timeout"):
			return Result{TimedOut: true}
		case strings.HasSuffix(name, "big"):
			return Result{Data: bytes.Repeat([]byte{'x'}, 1<<20)}
		case strings.HasSuffix(name, "denied"):
			return Result{Errno: syscall.EACCES}
		case strings.HasSuffix(name, "odd"):
			return Result{Data: []byte("part"), Truncated: true, NotInForm: true}
		}
		return Result{Data: []byte(fmt.Sprintf("%s %d %x", op.Name, op.Limit, op.Request))}
	})
	if err := Serve(context.Background(), os.Stdin, os.Stdout, h); err != nil {
		os.Exit(4)
	}
	fmt.Fprintln(f, "end")
	os.Exit(0)
}

type fakeHost func(Op) Result

func (f fakeHost) Do(_ context.Context, ops []Op) []Result {
	rs := make([]Result, len(ops))
	for i, op := range ops {
		rs[i] = f(op)
	}
	return rs
}

// testChild returns a Child of fakes and a func that lists what they were
// asked.
func testChild(t *testing.T, args ...string) (*Child, func() []string) {
	t.Helper()
	log := t.TempDir() + "/log"
	c := NewChild(append([]string{os.Args[0]}, args...)...)
	c.Env = append(os.Environ(), childEnv+"="+log)
	c.Start = time.Minute
	t.Cleanup(func() { c.Close() })
	return c, func() []string {
		b, err := os.ReadFile(log)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Fields(string(b))
	}
}

func files(names ...string) []Op {
	var ops []Op
	for _, n := range names {
		ops = append(ops, Op{Kind: ReadFile, Name: n})
	}
	return ops
}

func TestChildAnswersInOrder(t *testing.T) {
	c, asked := testChild(t)
	ops := []Op{
		{Kind: ReadFile, Name: "/a/one", Limit: 7},
		{Kind: System, Name: "monotonic"},
		{Kind: Netlink, Name: "route/two", Request: []byte{1, 2, 3}},
		{Kind: ReadFile, Name: "/a/denied"},
		{Kind: ReadFile, Name: "/a/odd"},
		{Kind: ReadFile, Name: "/a/big"},
	}
	rs := c.Do(t.Context(), ops)
	if got, want := string(rs[0].Data), "/a/one 7 "; got != want {
		t.Errorf("first result %q, want %q", got, want)
	}
	if rs[1].Err() != nil || len(rs[1].Data) == 0 {
		t.Errorf("a system op was not answered: %+v", rs[1])
	}
	if got, want := string(rs[2].Data), "route/two 0 010203"; got != want {
		t.Errorf("netlink result %q, want %q", got, want)
	}
	if rs[3].Errno != syscall.EACCES {
		t.Errorf("errno %v, want EACCES", rs[3].Errno)
	}
	if !rs[4].Truncated || !rs[4].NotInForm || string(rs[4].Data) != "part" {
		t.Errorf("flags lost: %+v", rs[4])
	}
	if len(rs[5].Data) != 1<<20 {
		t.Errorf("%d bytes of a large file, want %d", len(rs[5].Data), 1<<20)
	}
	c.Do(t.Context(), files("/a/three"))
	if got := c.Started(); got != 1 {
		t.Errorf("%d children for a run without trouble, want 1", got)
	}
	// The system op stays in the parent: the facts are about this process.
	if got, want := asked(), []string{"start", "/a/one", "route/two", "/a/denied", "/a/odd", "/a/big", "/a/three"}; !slices.Equal(got, want) {
		t.Errorf("child was asked %v, want %v", got, want)
	}
}

func TestChildManyOpsDoNotDeadlock(t *testing.T) {
	c, _ := testChild(t)
	var ops []Op
	for i := range 6000 { // More than a pipe holds, both ways.
		ops = append(ops, Op{Kind: Netlink, Name: fmt.Sprintf("route/%d", i), Request: make([]byte, 60)})
	}
	for i, r := range c.Do(t.Context(), ops) {
		if !strings.HasPrefix(string(r.Data), ops[i].Name+" ") {
			t.Fatalf("result %d is %q", i, r.Data)
		}
	}
}

func TestChildIsStartedByTheFirstOp(t *testing.T) {
	c, asked := testChild(t)
	c.Do(t.Context(), []Op{{Kind: System, Name: "uname"}})
	if c.Started() != 0 || len(asked()) != 0 {
		t.Errorf("a child was started before it was needed")
	}
}

func TestChildTooLargeOpIsRefused(t *testing.T) {
	c, _ := testChild(t)
	rs := c.Do(t.Context(), files("/"+strings.Repeat("x", maxName), "/a/ok"))
	if string(rs[1].Data) != "/a/ok 0 " {
		t.Errorf("the op after one that cannot be sent: %+v", rs[1])
	}
}

func TestServeEndsWithItsInput(t *testing.T) {
	c, asked := testChild(t)
	c.Do(t.Context(), files("/a/x"))
	syscall.Close(c.current.in)
	<-c.current.gone
	if got := asked(); got[len(got)-1] != "end" {
		t.Errorf("the child did not end by itself: %v", got)
	}
}

func TestServeRefusesBrokenInput(t *testing.T) {
	for name, in := range map[string][]byte{
		"half a length": {0, 0},
		"cut frame":     {0, 0, 0, 9, 1},
		"huge frame":    {0xff, 0xff, 0xff, 0xff},
		"empty payload": {0, 0, 0, 0},
	} {
		if err := Serve(t.Context(), bytes.NewReader(in), io.Discard, fakeHost(nil)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
