package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/internal/fixture"
)

// What one passive examination of the tree of eight adapters may cost.
const (
	mostCPU    = 30 * time.Millisecond
	mostMemory = 40 << 20 // bytes, resident
	runs       = 21
)

// TestCostOfExamination measures the program itself on the constructed host of
// eight adapters, laid out as files: its processor time, process start
// included, and the most memory. Of several runs the cheapest counts, since what
// else runs on the machine only adds. It is no part of the ordinary tests, since it measures; make bar
// runs it.
func TestCostOfExamination(t *testing.T) {
	if os.Getenv("RDMADOCTOR_REQUIRE") != "cost" {
		t.Skip("RDMADOCTOR_REQUIRE=cost runs it")
	}
	dir := t.TempDir()
	layOut(t, dir, "mlx5-roce-8x400g")
	bin := filepath.Join(t.TempDir(), "rdmadoctor")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	var cpu []time.Duration
	var memory int64
	for range runs {
		c := exec.Command(bin, "check", "--from", dir, "--json")
		out, _ := c.Output() // A tree without netlink answers is not all judged.
		if !strings.Contains(string(out), "mlx5_7") {
			t.Fatalf("the eighth adapter is not in the report: %.300s", out)
		}
		usage := c.ProcessState.SysUsage().(*syscall.Rusage)
		cpu = append(cpu, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
		memory = max(memory, usage.Maxrss<<10)
	}
	slices.Sort(cpu)
	fmt.Printf("examination of 8 adapters: %v of processor time (median %v), %d MB resident (limits %v, %d MB)\n",
		cpu[0].Round(100*time.Microsecond), cpu[len(cpu)/2].Round(100*time.Microsecond), memory>>20, mostCPU, mostMemory>>20)
	if cpu[0] > mostCPU || memory > mostMemory {
		t.Errorf("the examination costs %v and %d MB, want at most %v and %d MB", cpu[0], memory>>20, mostCPU, mostMemory>>20)
	}
}

// layOut writes a constructed host's files to a folder.
func layOut(t *testing.T, dir, host string) {
	t.Helper()
	l, err := fixture.Layer(host, func(name string) (string, error) {
		b, err := os.ReadFile(filepath.Join("../../internal/doctor/testdata/hosts", name+".txtar"))
		return string(b), err
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Archive().WriteTree(dir); err != nil {
		t.Fatal(err)
	}
}
