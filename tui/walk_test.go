package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/rdmadoctor/rdmadoctor/internal/report"
)

// walk presses keys one by one and asks for a text on the screen, or for its
// absence ("!..."), after each.
func walk(t *testing.T, m *Model, steps ...[2]string) {
	t.Helper()
	for i, s := range steps {
		press(m, s[0])
		frame := text(t, m)
		want, not := strings.CutPrefix(s[1], "!")
		if strings.Contains(frame, want) == not {
			t.Fatalf("after key %d, %s: want %q\n%s", i+1, s[0], s[1], frame)
		}
	}
}

func TestWalkLayers(t *testing.T) {
	m := shown(load(t, "sick"), 80, 24, everything())
	walk(t, m,
		[2]string{"down", "▸ driver"}, [2]string{"j", "▸ pcie"}, [2]string{"k", "▸ driver"},
		[2]string{"up", "▸✗ DEGRADED"}, [2]string{"up", "▸✗ DEGRADED"},
		[2]string{"G", "▸ performance"}, [2]string{"enter", "judged by active probes"},
		[2]string{"esc", "▸ performance"}, [2]string{"g", "▸✗ DEGRADED"},
		[2]string{"pgdown", "▸ performance"}, [2]string{"pgup", "▸✗ DEGRADED"},
		[2]string{"down", "▸ driver"}, [2]string{"l", "── driver"}, [2]string{"down", "every device has its user-space provider"},
		[2]string{"enter", "check 2 of 4"}, [2]string{"n", "check 3 of 4"}, [2]string{"tab", "check 4 of 4"},
		[2]string{"n", "kernel-log-quiet"}, [2]string{"p", "check 4 of 4"}, [2]string{"h", "── driver"},
		[2]string{"left", "▸ driver"}, [2]string{"esc", "▸ driver"})
}

func TestWalkDiagnoses(t *testing.T) {
	m := shown(load(t, "sick"), 80, 24, everything())
	walk(t, m,
		[2]string{"n", "Jobs of slurmd may lock 8 MiB only"}, [2]string{"n", "▸✗ DEGRADED"},
		[2]string{"p", "▸! AT RISK"}, [2]string{"enter", "memlock-service  slurmd.service"},
		[2]string{"tab", "roce-in-priority-zero  mlx5_2/1"}, [2]string{"n", "memlock-service  slurmd.service"},
		[2]string{"p", "diagnosis 1 of 2"}, [2]string{"G", "man 8 dcb-app"}, [2]string{"g", "!man 8 dcb-app"},
		[2]string{"space", "dcb -s app show"}, [2]string{"ctrl+u", "DEGRADED"}, [2]string{"down", "2-20 of"}, [2]string{"k", "1-19 of"},
		[2]string{"esc", "▸! AT RISK"})
}

func TestWalkPorts(t *testing.T) {
	m := shown(load(t, "many"), 80, 24, everything())
	walk(t, m,
		[2]string{"tab", "1-18 of 64"}, [2]string{"G", "47-64 of 64"}, [2]string{"enter", "── mlx5_63/1"},
		[2]string{"n", "── mlx5_0/1"}, [2]string{"n", "── mlx5_1/1"}, [2]string{"n", "── mlx5_2/1"}, [2]string{"end", "man 8 dcb-app"},
		[2]string{"esc", "47-64 of 64"}, [2]string{"/", "keep the filter"}, [2]string{"f", "/f"}, [2]string{"a", "/fa"},
		[2]string{"i", "✗ mlx5_2"}, [2]string{"enter", "filter fai"}, [2]string{"enter", "── mlx5_2/1"},
		[2]string{"esc", "filter fai"}, [2]string{"esc", "!filter fai"}, [2]string{"tab", "▸✗ DEGRADED"})
}

func TestWalkFilter(t *testing.T) {
	m := shown(load(t, "sick"), 80, 24, everything())
	walk(t, m,
		[2]string{"/", "── all checks"}, [2]string{"q", "/q"}, [2]string{"z", "nothing matches qz"}, [2]string{"backspace", "!nothing matches"}, [2]string{"backspace", "path MTU 4096"},
		[2]string{"m", "/m"}, [2]string{"l", "/ml"}, [2]string{"x", "PFC protects"},
		[2]string{"esc", "── all checks"}, [2]string{"/", "/"}, [2]string{"p", "/p"}, [2]string{"c", "/pc"}, [2]string{"i", "!roce"},
		[2]string{"space", "/pci"}, [2]string{"w", "have the width"}, [2]string{"i", "!have the speed"},
		[2]string{"enter", "filter pci wi"}, [2]string{"enter", "── pcie-width"}, [2]string{"esc", "filter pci wi"},
		[2]string{"h", "!filter pci"}, [2]string{"h", "▸✗ DEGRADED"})
}

func TestWalkGapsAndHelp(t *testing.T) {
	m := shown(load(t, "sick"), 80, 24, everything())
	walk(t, m,
		[2]string{"u", "── not looked at  1 unknown check · 1 gap"}, [2]string{"enter", "── kernel-log-quiet"},
		[2]string{"esc", "── not looked at"}, [2]string{"down", "/dev/kmsg"}, [2]string{"enter", "── kernel-log"}, [2]string{"n", "EPERM"}, [2]string{"esc", "── not looked"},
		[2]string{"?", "── help"}, [2]string{"u", "▸✗ DEGRADED"}, [2]string{"u", "── not looked"}, [2]string{"?", "── help"}, [2]string{"G", "link-local only"}, [2]string{"q", "── not looked at"},
		[2]string{"u", "▸✗ DEGRADED"}, [2]string{"?", "On this screen"}, [2]string{"?", "▸✗ DEGRADED"})
}

func TestCopy(t *testing.T) {
	var copied []string
	opts := everything()
	opts.Copy = func(s string) tea.Cmd { copied = append(copied, s); return nil }
	m := shown(load(t, "sick"), 80, 24, opts)
	walk(t, m, [2]string{"y", "to the clipboard: dcb app add"}, [2]string{"down", "!to the clipboard"},
		[2]string{"3", "this step is no command"}, [2]string{"4", "there is no step 4"},
		[2]string{"2", "This step disrupts the port."},
		[2]string{"y", "This step disrupts the port."}) // Within the grace period.
	if len(copied) != 1 {
		t.Fatalf("copied %q before the dialog was answered, want one command", copied)
	}
	m.Update(armed{&dialog{}}) // Of a dialog that is gone.
	walk(t, m, [2]string{"y", "This step disrupts the port."}, [2]string{"n", "nothing was copied"})
	press(m, "2")
	m.Update(armed{m.dialog})
	walk(t, m, [2]string{"x", "This step disrupts"}, [2]string{"y", "to the clipboard: ip link set"})
	press(m, "2")
	m.Update(armed{m.dialog})
	if cmd := press(m, "ctrl+c"); cmd == nil || cmd() != tea.Quit() {
		t.Error("ctrl+c in a dialog does not quit")
	}
	walk(t, m, [2]string{"esc", "nothing was copied"}, [2]string{"g", "▸✗ DEGRADED"}, [2]string{"enter", "── roce-in"}, [2]string{"y", "to the clipboard: dcb app add"},
		[2]string{"esc", "DEGRADED"}, [2]string{"/", "all checks"}, [2]string{"enter", "all checks"}, [2]string{"y", "to the clipboard: dcb app"})
	want := []string{"dcb app add dev ens3f0np0 dscp-prio 26:3", "ip link set ens3f0np0 down && ip link set ens3f0np0 up"}
	if fmt.Sprint(copied) != fmt.Sprint([]string{want[0], want[1], want[0], want[0]}) {
		t.Errorf("copied %q", copied)
	}
}

func TestCopyRefusesControlCharacters(t *testing.T) {
	opts := everything()
	opts.Copy = func(s string) tea.Cmd { t.Errorf("copied %q", s); return nil }
	m := shown(load(t, "hostile"), 80, 24, opts)
	walk(t, m, [2]string{"y", "not copied: the command holds control characters"})
}

func TestCopyByTheTerminal(t *testing.T) {
	opts := everything()
	opts.Copy = nil
	cmd := press(shown(load(t, "sick"), 80, 24, opts), "y")
	if cmd == nil {
		t.Fatal("no command for the terminal")
	}
	if s := fmt.Sprint(cmd()); s != "dcb app add dev ens3f0np0 dscp-prio 26:3" {
		t.Errorf("the terminal is given %q", s)
	}
}

func TestWrite(t *testing.T) {
	ms := load(t, "sick")
	opts := everything()
	var got int
	opts.Write = func(_ context.Context, stream []report.Message) (string, error) {
		got = len(stream)
		return "/tmp/r\x1b.json", nil
	}
	m := shown(ms, 80, 24, opts)
	cmd := press(m, "w")
	m.Update(cmd())
	if got != len(ms) {
		t.Errorf("wrote %d messages, want %d", got, len(ms))
	}
	if f := text(t, m); !strings.Contains(f, `the report is in /tmp/r\x1b.json`) {
		t.Errorf("the path is not shown:\n%s", f)
	}
	m.opts.Write = func(context.Context, []report.Message) (string, error) { return "", errors.New("disk full") }
	m.Update(press(m, "w")())
	if f := text(t, m); !strings.Contains(f, "not written: disk full") {
		t.Errorf("the error is not shown:\n%s", f)
	}
	m = shown(load(t, "running"), 80, 24, opts)
	walk(t, m, [2]string{"w", "when the run is over"})
}

func TestAgain(t *testing.T) {
	f := NewFeed(t.Context())
	opts := everything()
	opts.Again = func(context.Context) error { f.Run(&report.Run{Host: "gpu-018"}); return errors.New("no netlink") }
	m := shown(load(t, "running"), 80, 24, opts)
	m.feed = f
	walk(t, m, [2]string{"r", "a run is under way"})
	feed(m, load(t, "sick")) // The run that was under way is over now.
	m.Update(batch{items: []item{{end: true}}})
	press(m, "enter")
	cmd := press(m, "r")
	if got := text(t, m); !strings.Contains(got, "has not come to this diagnosis") || !strings.Contains(got, "starting") {
		t.Errorf("the old diagnosis stays:\n%s", got)
	}
	walk(t, m, [2]string{"r", "a run is under way"})
	for _, c := range cmd().(tea.BatchMsg)[1:] {
		c()
	}
	m.Update(f.take(never))
	if got := text(t, m); !strings.Contains(got, "gpu-018") || !strings.Contains(got, "This run has no such diagnosis") {
		t.Errorf("after the second run:\n%s", got)
	}
	walk(t, m, [2]string{"esc", "no netlink"})
}

// TestEveryKeyDoesSomething presses each key that the footer or the help offers.
func TestEveryKeyDoesSomething(t *testing.T) {
	ms := load(t, "sick")
	pressed := 0
	for route, keys := range routes {
		at := func() *Model {
			m := shown(ms, 80, 24, everything())
			m.Update(batch{items: []item{{end: true}}})
			press(m, keys...)
			return m
		}
		for _, b := range append(at().top().keys(), at().common()...) {
			if !b.Enabled() || at().dialog != nil {
				continue // A dialog is not armed yet.
			}
			for _, k := range b.Keys() {
				m := at()
				if l := m.top().list(); l != nil && l.typing && k != "enter" && k != "esc" {
					continue // Typed, not pressed.
				}
				before := text(t, m)
				if cmd := press(m, k); cmd == nil && text(t, m) == before {
					t.Errorf("%s: %s (%s) does nothing", route, k, b.Help().Desc)
				}
				pressed++
			}
		}
	}
	if pressed < 200 {
		t.Errorf("pressed %d keys only", pressed)
	}
}

func TestKeysThatAreNotThere(t *testing.T) {
	m := shown(load(t, "sick"), 80, 24, Options{From: "report.json"})
	walk(t, m, [2]string{"r", "from report.json 2026-11-29"}, [2]string{"w", "DEGRADED"}, [2]string{"?", "!run of this"})
}
