package worker

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// parentMain starts a worker that never ends by itself, says its process ID and
// dies without a word.
func parentMain() {
	o := testOptions("deaf")
	o.Starter = Exec{Argv: []string{os.Args[0]}, Env: append(os.Environ(), workerEnv+"=1")}
	begun := make(chan bool, 1)
	o.Tell = func(m *Message) {
		if m.Begun != nil {
			begun <- true
		}
	}
	w, err := Start(context.Background(), o)
	if err != nil {
		os.Exit(9)
	}
	<-begun
	fmt.Println(w.result.PID)
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func TestDiesWithItsParent(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), workerEnv+"=parent")
	out, _ := c.Output()
	var pid int
	if _, err := fmt.Sscan(string(out), &pid); err != nil {
		t.Fatalf("the parent said %q: %v", out, err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if gone(pid) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("worker %d outlives its parent", pid)
		}
	}
}

// gone reports whether a process is none, or a zombie that nobody reaps.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || len(stat) > 0 && zombie(string(stat))
}
