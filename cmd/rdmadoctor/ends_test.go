package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/checks"
	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// asProgram makes the test binary the program: see TestMain.
const asProgram = "RDMADOCTOR_TEST_MAIN"

func command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1")
	return c
}

// A run that is interrupted between its samples leaves a valid report of what
// it did, whichever of the two signals it was.
func TestInterrupted(t *testing.T) {
	s, err := published("message.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			if signal.Ignored(sig) {
				t.Skip("this run ignores the signal, as nohup has it")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := command(ctx, "check", "--format", "jsonl", "--interval", "1h")
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			last := ""
			for lines := bufio.NewReader(out); ; {
				line, err := lines.ReadString('\n')
				if err != nil {
					break
				}
				if err := valid(s, line); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(line, `"step":"wait"`) {
					if err := c.Process.Signal(sig); err != nil {
						t.Fatal(err)
					}
				}
				last = line
			}
			if !strings.HasPrefix(last, `{"summary":`) {
				t.Errorf("the last line is %q, want the summary", last)
			}
			var exit *exec.ExitError
			if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != report.ExitInterrupted {
				t.Errorf("ended with %v, want exit %d", err, report.ExitInterrupted)
			}
			if !strings.Contains(last, `"status":"interrupted"`) {
				t.Errorf("summary %s, want it interrupted", last)
			}
		})
	}
}

// What kills the runtime itself (SIGQUIT stands for it) has no exit code that
// says something of the host.
func TestFatalIsNoVerdict(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := command(ctx, "check", "--format", "jsonl", "--interval", "1h")
	c.Dir = t.TempDir()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), `"step":"wait"`) {
			if err := c.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = c.Wait()
	st, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !st.Signaled() || st.Signal() != syscall.SIGABRT || st.CoreDump() {
		t.Errorf("ended with %v, want SIGABRT and no core", c.ProcessState)
	}
}

// explosive panics when it is read, as a fault of our own would.
type explosive struct{}

func (explosive) Read([]byte) (int, error) { panic("boom") }

func TestPanic(t *testing.T) {
	s, err := published("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"json", "text"} {
		var out, stderr bytes.Buffer
		p := &program{args: []string{"check", "--from", "-", "--format", format}, in: explosive{}, out: &out, err: &stderr}
		if code := p.run(t.Context()); code != report.ExitInternal {
			t.Errorf("%s: exit %d, want %d", format, code, report.ExitInternal)
		}
		if !strings.Contains(stderr.String(), "boom") || !strings.Contains(stderr.String(), "ends_test.go") {
			t.Errorf("%s: stderr %q, want the panic and its stack", format, stderr.String())
		}
		if format == "text" {
			if out.Len() > 0 {
				t.Errorf("text: stdout %q, want nothing", out.String())
			}
			continue
		}
		if err := valid(s, out.String()); err != nil {
			t.Error(err)
		}
		if d := refold(t, out.String()); d.Error == nil || d.Error.Kind != report.InternalError {
			t.Errorf("error %+v, want an internal one", d.Error)
		}
	}
}

// A panic in the middle of a run keeps what was done until then.
func TestPanicInTheMiddle(t *testing.T) {
	for _, format := range []string{"json", "jsonl"} {
		var out bytes.Buffer
		p := &program{args: []string{"check", "--format", format}, out: &out, err: io.Discard}
		p.report = newSink(p, format)
		for _, m := range []report.Message{
			{Run: &report.Run{SchemaVersion: report.SchemaVersion, Host: "gpu-017"}},
			{Result: sampleResult()},
		} {
			if err := m.Send(p.report); err != nil {
				t.Fatal(err)
			}
		}
		if code := p.panicked("boom", nil); code != report.ExitInternal {
			t.Errorf("%s: exit %d, want %d", format, code, report.ExitInternal)
		}
		d := refold(t, out.String())
		if d.Host != "gpu-017" || len(d.Checks) != 1 || d.Summary.Fail != 1 || d.Summary.ExitCode != report.ExitInternal {
			t.Errorf("%s: host %q, %d checks, summary %+v", format, d.Host, len(d.Checks), d.Summary)
		}
	}
}

func sampleResult() *checks.Result {
	return &checks.Result{ID: "pfc", Layer: checks.Lossless, Status: checks.Failed, Findings: []checks.Finding{
		{Code: "pfc-off", Severity: checks.Fail, Subject: "mlx5_0/1", Message: "PFC is off, wanted on."}}}
}

func refold(t *testing.T, text string) *report.Document {
	t.Helper()
	var f report.Fold
	if err := report.Replay(strings.NewReader(text), &f); err != nil {
		t.Fatal(err)
	}
	return f.Document()
}
