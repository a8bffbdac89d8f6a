package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/vt"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// terminal is a screen emulator that a program writes to and reads keys from.
type terminal struct {
	t    *testing.T
	mu   sync.Mutex
	emu  *vt.Emulator
	raw  bytes.Buffer
	keys *io.PipeWriter
	in   *io.PipeReader
}

func newTerminal(t *testing.T, w, h int) *terminal {
	tm := &terminal{t: t, emu: vt.NewEmulator(w, h)}
	tm.in, tm.keys = io.Pipe()
	go io.Copy(io.Discard, tm.emu) // What it answers to queries, else it blocks.
	t.Cleanup(func() { tm.keys.Close() })
	return tm
}

func (tm *terminal) Write(p []byte) (int, error) {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	tm.raw.Write(p)
	// A pipe for input makes the program leave ONLCR to the line discipline.
	if _, err := tm.emu.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (tm *terminal) screen() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.emu.String()
}

func (tm *terminal) written() string {
	tm.mu.Lock()
	defer tm.mu.Unlock()
	return tm.raw.String()
}

// shows waits until the screen holds text.
func (tm *terminal) shows(text string) {
	tm.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(tm.screen(), text) {
			return
		}
	}
	tm.t.Fatalf("the screen never shows %q:\n%s", text, tm.screen())
}

func (tm *terminal) types(keys string) {
	if _, err := tm.keys.Write([]byte(keys)); err != nil {
		tm.t.Error(err)
	}
}

// start runs the real program on the terminal.
func (tm *terminal) start(ctx context.Context, opts Options, f *Feed) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, opts, f, tea.WithInput(tm.in), tea.WithOutput(tm), tea.WithWindowSize(80, 24),
			tea.WithColorProfile(colorprofile.ANSI), tea.WithEnvironment([]string{"TERM=xterm-256color"}), tea.WithoutSignalHandler())
	}()
	return done
}

func (tm *terminal) ends(done <-chan error) error {
	tm.t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(20 * time.Second):
		tm.t.Fatal("the program does not end")
		return nil
	}
}

// send is a run: it gives the messages to the feed.
func send(f report.Handler, ms []report.Message) error {
	for _, m := range ms {
		if err := m.Send(f); err != nil {
			return err
		}
	}
	return nil
}

func TestProgram(t *testing.T) {
	tm := newTerminal(t, 80, 24)
	f := NewFeed(t.Context())
	opts := everything()
	opts.Copy = nil
	opts.Again = func(context.Context) error { return send(f, load(t, "healthy")) }
	done := tm.start(t.Context(), opts, f)
	tm.shows("Waiting for the first message")
	ms := load(t, "sick")
	if err := send(f, ms[:10]); err != nil {
		t.Fatal(err)
	}
	tm.shows("So far: 4 checks")
	if err := send(f, ms[10:]); err != nil {
		t.Fatal(err)
	}
	f.End(nil)
	tm.shows("fix 1 dcb app add dev ens3f0np0 dscp-prio 26:3")
	tm.types("y")
	tm.shows("to the clipboard: dcb app add")
	if want := "\x1b]52;c;ZGNiIGFwcCBhZGQgZGV2IGVuczNmMG5wMCBkc2NwLXByaW8gMjY6Mw=="; !strings.Contains(tm.written(), want) {
		t.Error("the command was not given to the terminal's clipboard")
	}
	tm.types("\r")
	tm.shows("diagnosis 1 of 2")
	tm.types("h")
	tm.shows("next ! Jobs of slurmd")
	tm.types("2")
	tm.shows("This step disrupts the port.")
	tm.types("n")
	tm.shows("nothing was copied")
	tm.types("r")
	tm.shows("NO FAULT FOUND")
	tm.types("\t")
	tm.shows("── ports  8 ports")
	tm.types("w")
	tm.shows("the report is in gpu-017.json")
	tm.types("q")
	if err := tm.ends(done); err != nil {
		t.Errorf("after q: %v", err)
	}
	if err := f.Progress(&report.Progress{}); !errors.Is(err, ErrClosed) {
		t.Errorf("a run that goes on gets %v, want %v", err, ErrClosed)
	}
	restored(t, tm)
}

// restored asks that the terminal was left as it was found: out of the
// alternate screen, with a cursor.
func restored(t *testing.T, tm *terminal) {
	t.Helper()
	raw := tm.written()
	for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l"} {
		if strings.LastIndex(raw, on) > strings.LastIndex(raw, off) {
			t.Errorf("%q was sent and not %q after it", on, off)
		}
	}
}

func TestProgramEndsWithItsContext(t *testing.T) {
	tm := newTerminal(t, 80, 24)
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("told to")
	done := tm.start(ctx, Options{}, NewFeed(ctx))
	tm.shows("Waiting for the first message")
	cancel(why)
	if err := tm.ends(done); !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
	restored(t, tm)
}

func TestProgramIsInterrupted(t *testing.T) {
	tm := newTerminal(t, 80, 24)
	done := tm.start(t.Context(), Options{}, NewFeed(t.Context()))
	tm.shows("Waiting for the first message")
	tm.types("\x03")
	if err := tm.ends(done); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	restored(t, tm)
}

// TestProgramPanics asks that a fault of the screen itself leaves the terminal
// usable and comes back as an error.
func TestProgramPanics(t *testing.T) {
	tm := newTerminal(t, 80, 24)
	f := NewFeed(t.Context())
	opts := Options{Copy: func(string) tea.Cmd { panic("constructed") }}
	done := tm.start(t.Context(), opts, f)
	if err := send(f, load(t, "sick")); err != nil {
		t.Fatal(err)
	}
	tm.shows("fix 1")
	tm.types("y")
	if err := tm.ends(done); !errors.Is(err, tea.ErrProgramPanic) {
		t.Errorf("%v, want %v", err, tea.ErrProgramPanic)
	}
	restored(t, tm)
}
