package kmod

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rdmadoctor/rdmadoctor/lab"
	"github.com/rdmadoctor/rdmadoctor/lab/kernels"
	"github.com/rdmadoctor/rdmadoctor/lab/tool"
)

// guestCase is a script for a guest and what it must print, line by line,
// with the indentation removed. It runs on all kernels, or on the one of the
// series only.
type guestCase struct{ name, only, script, want string }

// apptrustTool builds testdata/apptrust.
func apptrustTool(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "apptrust")
	_, err := tool.Run(t.Context(), "", "env", "CGO_ENABLED=0", "go", "build", "-o",
		name, "./testdata/apptrust")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// prelude is what the scripts share. $M is the folder of the modules. Counters
// grow by a clock: grows prints whether one did within 0.3 s.
const prelude = `set -e
load() {
	name=$1; shift
	needs=$(modinfo -F depends $M/$name.ko | tr , ' ')
	[ -z "$needs" ] || modprobe -a $needs
	insmod $M/$name.ko "$@"
}
clean() {
	for n in $(ip netns list | cut -d ' ' -f 1); do ip netns del $n; done
	exec 5>&-
	for d in rxe0 siw0; do rdma link del $d 2> /dev/null || true; done
	# A network namespace ends later than its name.
	for try in 1 2 3 4 5 6 7 8 9 10; do
		[ -e /sys/class/net/labnic0 -o ! -e /sys/module/labnic ] && break
		sleep 0.1
	done
	for m in siw netdevsim labhca labnic labpci labcpu; do
		[ ! -e /sys/module/$m ] || rmmod $m
	done
}
up() { for dev; do ip link set $dev up; done; }
stat() { ethtool -S $1 | sed -n "s/^ *$2: //p"; }
grows() {
	# To start a program takes a tenth of a second in a guest.
	read -r before < $1; sleep 0.3; read -r after < $1
	if [ $after -gt $before ]; then echo grows; else echo stands; fi
}
N=/sys/kernel/debug/labnic
H=/sys/kernel/debug/labhca
`

// TestInGuest loads every module into a guest of each kernel and looks at it
// with the tools that a person would use. Each case ends with all modules
// unloaded, and at the end the guest must be as it was at boot.
func TestInGuest(t *testing.T) {
	needLab(t)
	eachKernel(t, func(t *testing.T, cache string, k kernels.Kernel) {
		t.Parallel()
		// The scenarios load the modules on both kernels in every run.
		if series := kernels.Series(); os.Getenv("RDMADOCTOR_LAB_ALL") == "" && k.Series != series[len(series)-1] {
			t.Skip("on this kernel with RDMADOCTOR_LAB_ALL=1 only, as make bar has it")
		}
		if _, err := lab.Ready(t.Context(), k.Series); err != nil {
			if lab.Required() {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		if _, err := Ensure(t.Context(), cache, k); err != nil {
			t.Fatal(err)
		}
		g, err := lab.Boot(t.Context(), lab.Options{Kernel: k,
			Tools: []string{apptrustTool(t)}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		// The cache's place need not be visible in the guest.
		folder := "/run"
		for _, m := range Modules() {
			ko, err := os.ReadFile(Path(cache, k, m.Name))
			if err != nil {
				t.Fatal(err)
			}
			if err := g.Put(t.Context(), folder+"/"+m.Name+".ko", 0o644, ko); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range slices.Concat(labnicCases, labhcaCases, labpciCases) {
			if c.only != "" && c.only != k.Series {
				continue
			}
			t.Run(c.name, func(t *testing.T) { runCase(t, g, folder, c) })
		}
		if err := g.Reset(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func runCase(t *testing.T, g *lab.Guest, folder string, c guestCase) {
	r, err := g.Run(t.Context(), lab.Cmd{
		Script:  "M=" + folder + "\n" + prelude + c.script + "clean\n",
		Timeout: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	got, want := lines(string(r.Stdout)), lines(c.want)
	if r.ExitCode != 0 || got != want {
		t.Errorf("exit code %d\n%s\nstdout:\n%s\nwant:\n%s", r.ExitCode, r.Stderr, got,
			want)
		// Without clean the next case would meet what this one left.
		if err := g.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// lines removes indentation, trailing blanks and empty lines.
func lines(s string) string {
	var kept []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}
