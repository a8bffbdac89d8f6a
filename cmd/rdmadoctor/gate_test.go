package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Whatever ends the examination, or the gate itself, is no reason to drain a
// node.
func TestGateSurvives(t *testing.T) {
	for name, end := range map[string]func(gate int) error{
		"the examination is killed":  func(gate int) error { return signalChild(gate, syscall.SIGKILL) },
		"the runtime crashes":        func(gate int) error { return signalChild(gate, syscall.SIGQUIT) },
		"the gate is told to end":    func(gate int) error { return syscall.Kill(gate, syscall.SIGTERM) },
		"the examination is stopped": func(gate int) error { return signalChild(gate, syscall.SIGINT) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			c := command(ctx, "check", "--gate", "--format", "jsonl", "--interval", "1h")
			c.Dir = t.TempDir()
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			waited := false
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if strings.Contains(lines.Text(), `"step":"wait"`) {
					waited = true
					if err := end(c.Process.Pid); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := c.Wait(); err != nil || !waited {
				t.Errorf("ended with %v (examined: %v), want exit 0", err, waited)
			}
		})
	}
}

// signalChild signals the one child of a process.
func signalChild(pid int, sig syscall.Signal) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return err
	}
	for _, task := range tasks(pid) { // The thread that forked has it.
		if more, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task)); err == nil {
			text = append(text, more...)
		}
	}
	children := strings.Fields(string(text))
	if len(children) == 0 {
		return fmt.Errorf("process %d has no child", pid)
	}
	child, err := strconv.Atoi(children[0])
	if err != nil {
		return err
	}
	return syscall.Kill(child, sig)
}

func tasks(pid int) (names []string) {
	dir, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	for _, d := range dir {
		names = append(names, d.Name())
	}
	return names
}

func TestGateAsked(t *testing.T) {
	for _, tc := range []struct {
		words string
		want  bool
	}{
		{"check --gate", true}, {"check --gate=true", true}, {"check --gate=maybe", true}, {"check --gate=0", false},
		{"check", false}, {"check -- --gate", false}, {"check --gated", false}, {"--nope --gate", true},
	} {
		if got := gateAsked(strings.Fields(tc.words)); got != tc.want {
			t.Errorf("gateAsked(%q) = %v, want %v", tc.words, got, tc.want)
		}
	}
}
