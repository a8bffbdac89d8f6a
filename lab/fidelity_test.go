package lab_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// turns is how often each program measures, after a first time that is
// dropped.
const turns = 6

// fidelity are perftest's programs that the engine is held against, with the
// messages of one run.
var fidelity = []struct {
	test     string
	flags    string
	messages int
	bar      bool
}{
	{"ib_read_lat", "", 1000, true},
	{"ib_send_lat", "-e", 1000, true},
	{"ib_send_bw", "", 500, true},
	{"ib_write_bw", "", 500, true},
	{"ib_read_bw", "", 500, true},
	// Two ends that poll on one CPU measure the scheduler's slice.
	{"ib_write_lat", "", 100, false},
}

// onePort makes a RoCE port, and a function that runs both ends of a program
// and prints its figure behind a name.
const onePort = `modprobe rdma_rxe && modprobe ib_uverbs || exit 1
ip link add v0 type veth peer name w0
ip link set v0 up mtu 4200; ip link set w0 up mtu 4200; ip link set lo up
ip addr add 192.0.2.1/24 dev v0
rdma link add rxe0 type rxe netdev v0 || exit 1
sleep 3
perftest() {
	"$@" -d rxe0 -x 1 -F > /dev/null 2> /run/far & sleep 0.3
	"$@" -d rxe0 -x 1 -F 127.0.0.1 > /run/out 2> /run/err || { cat /run/far /run/err; exit 1; }
	wait
	# The median of a latency is the fifth column, the average of a bandwidth the fourth.
	case $1 in *_lat) column=5 ;; *) column=4 ;; esac
	echo "perftest $1 $(awk -v c=$column '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9]+$/ && NF >= 4 { print $c }' /run/out)"
}
engine() {
	name=$1; shift
	measure "$@" $name > /dev/null 2> /run/far & sleep 0.3
	measure "$@" $name 127.0.0.1 > /run/out 2> /run/err || { cat /run/far /run/err; exit 1; }
	wait
	echo "engine $name $(cat /run/out)"
}
`

// BenchmarkFidelity measures with perftest and with the engine by turns, both
// ends in one guest whose clock counts instructions. It reports the ratio of
// medians of each test, which make bar holds against its limit.
func BenchmarkFidelity(b *testing.B) {
	k, err := lab.Ready(b.Context(), "6.1")
	if err != nil {
		b.Fatal(err)
	}
	top, err := kernels.Repository()
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(b.TempDir(), "measure")
	if _, err := tool.Run(b.Context(), top, "env", "CGO_ENABLED=1", "go", "build", "-tags", "netgo,osusergo", "-trimpath",
		"-ldflags=-s -w", "-o", program, "./lab/measure"); err != nil {
		b.Fatal(err)
	}
	g, err := lab.Boot(b.Context(), lab.Options{Kernel: k, Tools: []string{program}, Steady: true,
		BootLimit: 10 * time.Minute, HangLimit: 10 * time.Minute})
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	for b.Loop() {
		run := func(script string) string {
			r, err := g.Run(b.Context(), lab.Cmd{Script: script, Timeout: 60 * time.Minute,
				Env: []string{"PATH=/lab/bin:/usr/sbin:/usr/bin:/sbin:/bin"}})
			if err != nil || r.ExitCode != 0 {
				b.Fatalf("exit code %d, %v: %s", r.ExitCode, err, r.Text())
			}
			return string(r.Stdout)
		}
		out := run(onePort + script())
		b.Log(out)
		for _, f := range fidelity {
			compare(b, f.test, f.bar, figures(b, out, "perftest", f.test), figures(b, out, "engine", f.test))
		}
	}
}

func script() string {
	var s strings.Builder
	for _, f := range fidelity {
		turn := fmt.Sprintf("perftest %s %s -n %d; engine %s %s -n %d\n", f.test, f.flags, f.messages, f.test, f.flags, f.messages)
		s.WriteString(strings.Repeat(turn, turns+1))
	}
	return s.String()
}

// figures reads what a program printed, without the first.
func figures(b *testing.B, out, who, test string) []float64 {
	b.Helper()
	var all []float64
	for line := range strings.Lines(out) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == who && w[1] == test {
			if v, err := strconv.ParseFloat(w[2], 64); err == nil && v > 0 {
				all = append(all, v)
			}
		}
	}
	if len(all) != turns+1 {
		b.Fatalf("%d figures of %s %s, want %d", len(all), who, test, turns+1)
	}
	return all[1:]
}

// compare prints one line, and reports the ratio where it counts and is not
// void: perftest against itself may differ by 2 %, and no median may be near a
// multiple of a scheduler tick of 4 ms.
func compare(b *testing.B, test string, bar bool, theirs, ours []float64) {
	half := turns / 2
	spread := median(theirs[:half]) / median(theirs[half:])
	ratio := median(ours) / median(theirs)
	void := ""
	if spread < 0.98 || spread > 1.02 {
		void = "void: perftest's halves differ"
	}
	if strings.HasSuffix(test, "_lat") && median(theirs) > 3800 {
		void = "void: a scheduler tick"
	}
	if !bar {
		void = "no bar"
	}
	fmt.Printf("%-12s perftest %9.2f  engine %9.2f  ratio %.3f  halves %.3f  %s\n", test, median(theirs), median(ours), ratio, spread, void)
	if void == "" {
		b.ReportMetric(ratio, test+"-ratio")
	}
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
